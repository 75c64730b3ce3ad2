"""The tables of a run: of its captures, and of what the agents wrote down."""

from __future__ import annotations

import json
from pathlib import Path

from mptcplab import _core
from mptcplab.engines import remarks
from mptcplab.engines.kernel.agent.numbers import Numbers, counters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from mptcplab.engines.kernel.network import Job


# A link that is later one time of a hundred is another one than was asked for.
LATE_NS = 1_000_000
# What Linux counts there (mptcp_data_queue_ofo in net/mptcp/protocol.c).
BEYOND_WINDOW = "MPTcpExtNoDSSInWindow"
# Of fewer, the latest would be that one.
ENOUGH_WAKE_UPS = 100


def tables(job: Job, ended: dict[str, Any]) -> dict[str, _core.Table]:
    """Measure a run, all of whose files are there; ``ended`` is what the lab said at the end."""
    captures = [Path(job.client_capture), Path(job.server_capture)]
    names = [capture.name for capture in captures]
    captured = _core.analyze(names, directory=captures[0].parent, one_clock=True)
    numbers = Numbers(captured, _private(job.plan))
    return {name: captured.table(name) for name in captured.NAMES} | {
        "state": numbers.state(_files(job, "samples")),
        "signals": numbers.signals(_files(job, "events")),
        "counters": counters(_files(job, "counters")),
        "diagnostics": _diagnostics(job, captured, ended),
    }


def _diagnostics(job: Job, captured: _core.Tables, ended: dict[str, Any]) -> _core.Table:
    """Give the remarks of the analysis and on the way, and whether the emulator was in time."""
    rows = [*captured.rows("diagnostics"), *remarks.remarks(job.plan, captured)]
    links, ports = ended["emulator"]["links"], ended["emulator"]["ports"].values()
    late = {
        name: link["lateness"]["p99_ns"]
        for name, link in links.items()
        if link["lateness"]["count"] >= ENOUGH_WAKE_UPS and link["lateness"]["p99_ns"] > LATE_NS
    }
    if late:
        name = max(late, key=lambda name: late[name])
        message = (
            f"link {name} woke up {late[name] / 1e6:.1f} ms late or more one time of a hundred: "
            "this machine was busy, and delays came out longer"
        )
        rows.append({"diagnostic": "emulator_late", "message": message})
    lost = sum(ended["dropped"].values()) + sum(port["missed"] or 0 for port in ports)
    if lost:
        message = (
            f"{lost} packets were lost between the hosts and the links, and look like loss on the "
            "way: this machine was busy"
        )
        rows.append({"diagnostic": "emulator_drops", "count": lost, "message": message})
    rows += beyond_window(_files(job, "counters"))
    return _core.rows("diagnostics", json.dumps(rows))


def beyond_window(files: Iterable[Path]) -> list[dict[str, Any]]:
    """Say at which host Linux threw data away that lay beyond the connection's window."""
    return [
        {
            "diagnostic": "beyond_window",
            "count": after - before,
            "message": (
                f"Linux at the {host} threw {after - before} segments away that lay beyond the "
                f"connection's window ({BEYOND_WINDOW}) after their subflow had acknowledged them: "
                "they came again only by the connection's timer, and the transfer may have stood "
                "still until then"
            ),
        }
        for host, counter, before, after in _counted(files)
        if counter == BEYOND_WINDOW and after > before
    ]


def _counted(files: Iterable[Path]) -> Iterator[tuple[str, str, int, int]]:
    for file in files:
        for line in file.read_text("utf-8").splitlines():
            row = json.loads(line)
            yield row["host"], row["counter"], row["before"], row["after"]


def _files(job: Job, key: str) -> list[Path]:
    return [Path(job.agents[end].job[key]) for end in ("client", "server") if end in job.agents]


def _private(plan: _core.Plan) -> dict[str, str]:
    """Give the client's own address for each by which the server may know it."""
    planned = plan.table()
    paths = {path["name"]: path for path in planned["paths"]}
    rebound = [event for event in planned["timeline"] if event["verb"] == "rebind"]
    return {
        event["address"]: paths[event["path"]]["address6" if ":" in event["address"] else "address"]
        for event in rebound
    }
