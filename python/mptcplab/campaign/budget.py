"""``[budget.PATH]``: how many bytes a path may carry, and how many a visit can take at most.

A byte is one that the kernel counts at the path's interface, in either direction, whoever sent it:
headers, retransmissions, control and what other programs transfer meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mptcplab.campaign.work import Task
from mptcplab.scenario.fault import Faults
from mptcplab.scenario.plan import planned_transfer
from mptcplab.scenario.section import Bytes, Section, read
from mptcplab.scenario.source import Source
from mptcplab.scenario.transfer import Transfer

#: Beyond the payload of a run, as a part of it: what the server hands over of its captures, by
#: whichever path the system's routes choose; headers, acknowledgements and retransmissions.
BESIDE = 0.25
#: Of a run: handshakes, echoes, and what is said with the server.
RUN_BYTES = 1_000_000
#: Of a visit, for what passes until a run that has taken all is ended.
MARGIN_BYTES = 2_000_000


class BudgetSection(Section):
    """Data budget of a path. A visit is missed if less is left than it needs."""

    per_visit: Bytes | None = None
    """Bytes per visit. Runs stop when it is used up. If left out, as much as the runs can use."""
    per_day: Bytes | None = None
    """Bytes per day, in the campaign's ``time_zone``."""
    per_month: Bytes | None = None
    """Bytes per month."""
    total: Bytes | None = None
    """Bytes in all."""


@dataclass(frozen=True)
class Period:
    """A time in which a path may carry so many bytes."""

    name: str
    #: What days have in common that are in one period.
    key: str
    most_bytes: int


def read_budgets(value: Any, source: Source) -> dict[str, BudgetSection]:
    """Read them, by path."""
    budgets = {}
    faults = Faults()
    for name, one in value.items():
        with faults.collected():
            budgets[name] = read(BudgetSection, one, ("budget", name), source)
    faults.raise_found()
    return budgets


def periods(budget: BudgetSection) -> list[Period]:
    """Give the periods that a budget is kept for; a day has a key such as ``%Y-%m-%d``."""
    given = (
        ("day", "%Y-%m-%d", budget.per_day),
        ("month", "%Y-%m", budget.per_month),
        ("whole schedule", "", budget.total),
    )
    return [Period(name, key, most) for name, key, most in given if most is not None]


def payload_bytes(transfer: Transfer) -> int | None:
    """Say how many bytes of payload a transfer has; ``None`` where only its duration is known."""
    known = planned_transfer(transfer)
    if known.get("size_bytes") is not None:
        return int(known["size_bytes"])
    if "requests" in known:
        return int(known["requests"] * (known["request_bytes"] + known["response_bytes"]))
    if "lowest_bitrate_bits_per_second" in known:
        # Of the highest bitrate, if the paths allow it.
        highest = known["lowest_bitrate_bits_per_second"] << (known["bitrates"] - 1)
        return int(highest * known["duration_ns"] // (8 * 10**9))
    if "rate_bits_per_second" in known:
        return int(known["rate_bits_per_second"] * known["duration_ns"] // (8 * 10**9))
    return None


def paths_of(task: Task) -> list[str]:
    """Name the paths that a run may use."""
    subject = task.subject
    return list(subject.scenario.paths) if subject.path is None else [subject.path]


def most_bytes(task: Task, path: str) -> int | None:
    """Say what a run takes of a path at most; ``None`` where its transfer has no size."""
    payload = payload_bytes(task.subject.scenario.transfer)
    if payload is None:
        return None
    part = 1 + BESIDE if path in paths_of(task) else BESIDE
    return int(payload * part) + RUN_BYTES


def worst(tasks: Iterable[Task]) -> dict[str, int | None]:
    """Say what the runs of a visit take at most, by path, be all of it carried there."""
    found: dict[str, int | None] = {}
    for task in tasks:
        for path in task.subject.scenario.paths:
            before, one = found.get(path, MARGIN_BYTES), most_bytes(task, path)
            found[path] = None if before is None or one is None else before + one
    return found
