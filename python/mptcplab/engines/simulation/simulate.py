"""The simulator: a scenario in virtual time, into a run directory."""

from __future__ import annotations

import json
from pathlib import Path

from mptcplab import _core
from mptcplab.engines import remarks as way
from mptcplab.results import place
from mptcplab.results.record import Record
from mptcplab.results.run import Run
from mptcplab.scenario.draw import drawn
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import Scenario

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ENGINE = "simulation"


def simulate(
    scenario: Scenario,
    target: Path,
    *,
    name: str,
    seed: int = 1,
    baseline: str | None = None,
    captures: str = "headers",
    force: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Run, bool]:
    """Run a scenario, or plain TCP over its path ``baseline``, into the directory ``target``.

    Gives the run, and whether it was there already. ``captures`` is ``"none"``, ``"headers"`` or
    ``"full"``; ``progress`` is told the virtual time in nanoseconds and the packets so far.
    """
    scenario = drawn(scenario, seed)
    record = Record(scenario, ENGINE, name, seed, baseline, captures)
    if record.is_there(target, force=force):
        return Run(target), True
    with place.written(target) as new:
        record.begin(new)
        client, server = (
            None if captures == "none" else new / f"{end}.pcapng" for end in ("client", "server")
        )
        planned = plan(scenario, seed, baseline)
        tables = _core.simulate(
            planned,
            client_capture=client,
            server_capture=server,
            full_payload=captures == "full",
            progress=progress,
        )
        made = {each: tables.table(each) for each in tables.NAMES}
        if remarks := way.remarks(planned, tables):
            rows = [*tables.rows("diagnostics"), *remarks]
            made["diagnostics"] = _core.rows("diagnostics", json.dumps(rows))
        outcome = tables.outcome() or {}
        if record.mptcp and scenario.mptcp.receive_buffer == "per-subflow":
            outcome = _explained(outcome)
        record.complete(new, made, outcome)
    return Run(target), False


def _explained(outcome: dict[str, Any]) -> dict[str, Any]:
    """Say of what did not finish that buffers of subflows may be why."""
    if outcome.get("finished", True):
        return outcome
    why = 'with receive_buffer = "per-subflow" a transfer may stand still for good'
    return outcome | {"reason": f"{outcome['reason']}; {why}"}
