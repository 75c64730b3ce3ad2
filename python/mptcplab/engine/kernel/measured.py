"""The tables of a run: of its captures, and of what the agents wrote down."""

from __future__ import annotations

import json
from pathlib import Path

from mptcplab import _core
from mptcplab.engine.kernel.agent.numbers import Numbers, counters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.engine.kernel.network import Job


def tables(job: Job) -> dict[str, _core.Table]:
    """Measure a run, all of whose files are there."""
    captures = [Path(job.client_capture), Path(job.server_capture)]
    names = [capture.name for capture in captures]
    captured = _core.analyze(names, directory=captures[0].parent, one_clock=True)
    numbers = Numbers(captured, _private(job.plan))
    return {name: captured.table(name) for name in captured.NAMES} | {
        "state": numbers.state(_files(job, "samples")),
        "signals": numbers.signals(_files(job, "events")),
        "counters": counters(_files(job, "counters")),
    }


def _files(job: Job, key: str) -> list[Path]:
    return [Path(job.agents[end].job[key]) for end in ("client", "server")]


def _private(plan: str) -> dict[str, str]:
    """Give the client's own address for each by which the server may know it."""
    planned = json.loads(plan)
    paths = {path["name"]: path for path in planned["paths"]}
    rebound = [event for event in planned["timeline"] if event["verb"] == "rebind"]
    return {
        event["address"]: paths[event["path"]]["address6" if ":" in event["address"] else "address"]
        for event in rebound
    }
