"""Whether a visit may begin, and what its runs may take, by the budgets of the paths."""

from __future__ import annotations

from dataclasses import replace

from mptcplab.campaign.budget import (
    BESIDE,
    MARGIN_BYTES,
    RUN_BYTES,
    most_bytes,
    paths_of,
    payload_bytes,
    periods,
    worst,
)
from mptcplab.campaign.work import Allowance
from mptcplab.labels import text
from mptcplab.scenario.fault import ScenarioError
from mptcplab.schedule.clock import moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from mptcplab.campaign.budget import BudgetSection, Period
    from mptcplab.campaign.matrix import Matrix
    from mptcplab.campaign.work import Task
    from mptcplab.results.ledger import Ledger


class Budgets:
    """What the paths of a campaign may carry."""

    def __init__(self, matrix: Matrix) -> None:
        self._budgets: dict[str, BudgetSection] = matrix.definition.budgets
        self._zone: ZoneInfo = matrix.definition.zone
        if self._budgets and matrix.visits:
            self._check(matrix)

    def reserve(self, tasks: list[Task]) -> dict[str, int]:
        """Give the most that runs of a visit take of each path that has a budget."""
        most = worst(tasks)
        found = {}
        for path, budget in self._budgets.items():
            one = most[path] if budget.per_visit is None else budget.per_visit
            assert one is not None  # noqa: S101 - it was checked
            found[path] = one
        return found

    def lacking(self, reserved: dict[str, int], at: datetime, ledger: Ledger) -> str | None:
        """Say which budget has not enough left for a visit that begins then."""
        for path, wanted in reserved.items():
            for period in periods(self._budgets[path]):
                spent = self.spent(path, period, at, ledger)
                if spent + wanted > period.most_bytes:
                    left = text.size(max(period.most_bytes - spent, 0))
                    return (
                        f"{path} has {left} left of the {text.size(period.most_bytes)} of its "
                        f"{period.name}, and a visit may take {text.size(wanted)}"
                    )
        return None

    def left(self, path: str, at: datetime, ledger: Ledger) -> dict[str, int]:
        """Count what is left of each budget of a path, by the name of its period."""
        known = periods(self._budgets[path]) if path in self._budgets else []
        return {
            one.name: max(one.most_bytes - self.spent(path, one, at, ledger), 0) for one in known
        }

    def spent(self, path: str, period: Period, at: datetime, ledger: Ledger) -> int:
        """Count what visits of the same period took of a path, and what is reserved for one."""
        own = at.astimezone(self._zone).strftime(period.key)
        total = 0
        for visit in ledger.visits.values():
            for attempt in visit.attempts:
                begun = moment(attempt.at_ns).astimezone(self._zone)
                if begun.strftime(period.key) == own:
                    used = attempt.used_bytes.get(path)
                    total += attempt.reserved_bytes.get(path, 0) if used is None else used
        return total

    def allowed(self, tasks: list[Task], reserved: dict[str, int]) -> list[Task]:
        """Share what is reserved out to the runs, by what each takes at most."""
        return [replace(task, allowance=_allowance(task, tasks, reserved)) for task in tasks]

    def _check(self, matrix: Matrix) -> None:
        """Refuse what no visit can keep to."""
        tasks = matrix.of_visit(matrix.visits[0].number)
        most = worst(tasks)
        for path, budget in self._budgets.items():
            where = f"{matrix.definition.name}: [budget.{path}]"
            if any(one.subject.scenario.paths[path].interface is None for one in tasks):
                raise ScenarioError(f"{where}: the path has no interface that counts its bytes")
            if most[path] is None and budget.per_visit is None:
                raise ScenarioError(
                    f"{where}: needs per_visit, since the transfer has a duration and no size"
                )
            wanted, known = self.reserve(tasks)[path], most[path] or least(tasks)
            if wanted < known:
                raise ScenarioError(
                    f"{where}: per_visit is {text.size(wanted)}, and the runs of a visit may take "
                    f"{text.size(known)}"
                )
            for period in periods(budget):
                if wanted > period.most_bytes:
                    raise ScenarioError(
                        f"{where}: a visit may take {text.size(wanted)}, more than the "
                        f"{text.size(period.most_bytes)} of the {period.name}"
                    )


def least(tasks: list[Task]) -> int:
    """Say below what no run has anything to transfer."""
    return MARGIN_BYTES + 2 * RUN_BYTES * len(tasks)


def _allowance(task: Task, tasks: list[Task], reserved: dict[str, int]) -> Allowance | None:
    carried = {path: _share(task, tasks, path, count) for path, count in reserved.items()}
    own = [count for path, count in carried.items() if path in paths_of(task)]
    if not carried:
        return None
    if payload_bytes(task.subject.scenario.transfer) is not None or not own:
        return Allowance(carried, None)
    return Allowance(carried, int((min(own) - RUN_BYTES) / (1 + BESIDE)))


def _share(task: Task, tasks: list[Task], path: str, reserved: int) -> int:
    """Give the part of a run in what all of a visit may take of a path."""
    known = [most_bytes(one, path) for one in tasks]
    own, total = most_bytes(task, path), sum(one or 0 for one in known)
    if own is None or None in known:
        return (reserved - MARGIN_BYTES) // len(tasks)
    return (reserved - MARGIN_BYTES) * own // total
