"""What a schedule will take, reckoned without sending anything."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from mptcplab.campaign.budget import periods, worst
from mptcplab.campaign.calendar import Visit
from mptcplab.campaign.definition import Definition
from mptcplab.campaign.matrix import Matrix
from mptcplab.results.ledger import Entry, Ledger
from mptcplab.schedule.budgets import Budgets
from mptcplab.schedule.schedule import planned

# Version of the document.
SCHEMA = 1


@dataclass(frozen=True)
class PathForecast:
    """What a path will carry."""

    path: str
    #: In a visit at most, as interfaces count; ``None``: its runs have no size and no budget.
    visit_bytes: int | None
    #: In all visits that are to come.
    left_bytes: int | None
    #: Bytes that it may carry, by the name of the period: ``day``, ``month``, ``whole schedule``.
    budgets: dict[str, int]
    #: How much of them is left now.
    budgets_left: dict[str, int]
    #: How many visits each of them has room for at least.
    room: dict[str, int]


@dataclass(frozen=True)
class Forecast:
    """A schedule as it was begun, or would be now."""

    matrix: Matrix
    to_come: list[Visit]
    #: By the name of the state or the reason: ``done``, ``budget``.
    past: dict[str, int]
    most_in_a_day: int
    runs_of_visit: int
    #: How long a visit takes at most, and how long those took that are done.
    most_visit_s: float
    mean_visit_s: float | None
    paths: list[PathForecast]

    def document(self) -> dict[str, Any]:
        """Give it for scripts."""
        visits = self.matrix.visits
        return {
            "schema": SCHEMA,
            "campaign": self.matrix.definition.name,
            "title": self.matrix.definition.campaign.title,
            "time_zone": self.matrix.definition.zone.key,
            "visits": len(visits),
            "visits_to_come": len(self.to_come),
            "visits_past": self.past,
            "visits_in_a_day": self.most_in_a_day,
            "first": visits[0].due.isoformat(),
            "last": visits[-1].due.isoformat(),
            "runs_of_visit": self.runs_of_visit,
            "most_visit_s": self.most_visit_s,
            "mean_visit_s": self.mean_visit_s,
            "paths": [vars(one) for one in self.paths],
        }


def forecast(definition: Definition, out: Path, now: datetime) -> Forecast:
    """Reckon it for a schedule that goes on in ``out``, or begins there now."""
    matrix, ledger = planned(definition, out, now)
    budgets = Budgets(matrix)
    known = ledger.visits
    over = {number for number, entry in known.items() if entry.final}
    to_come = [one for one in matrix.visits if one.number not in over]
    tasks = matrix.of_visit(matrix.visits[0].number)
    reserved, most = budgets.reserve(tasks), worst(tasks)
    days = Counter(one.due.astimezone(definition.zone).date() for one in matrix.visits)
    return Forecast(
        matrix=matrix,
        to_come=to_come,
        past=dict(Counter(_state(one) for one in known.values() if one.final)),
        most_in_a_day=max(days.values()),
        runs_of_visit=len(tasks),
        most_visit_s=sum(one.subject.limit_s or 0.0 for one in tasks),
        mean_visit_s=_mean_s(ledger),
        paths=[
            _path(
                definition,
                path,
                reserved.get(path, most[path]),
                len(to_come),
                budgets.left(path, now, ledger),
            )
            for path in most
        ],
    )


def _path(
    definition: Definition, path: str, visit_bytes: int | None, to_come: int, left: dict[str, int]
) -> PathForecast:
    budget = definition.budgets.get(path)
    known = {} if budget is None else {one.name: one.most_bytes for one in periods(budget)}
    return PathForecast(
        path,
        visit_bytes,
        None if visit_bytes is None else visit_bytes * to_come,
        known,
        left,
        {name: most // visit_bytes for name, most in known.items() if visit_bytes},
    )


def _state(entry: Entry) -> str:
    return "done" if entry.done else str(entry.reason)


def _mean_s(ledger: Ledger) -> float | None:
    taken = [
        (one.attempts[0].ended_ns - one.attempts[0].at_ns) / 1e9
        for one in ledger.visits.values()
        if one.done and len(one.attempts) == 1 and one.attempts[0].ended_ns is not None
    ]
    return sum(taken) / len(taken) if taken else None
