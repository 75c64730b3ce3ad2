"""A schedule: visits that are due are run, those that cannot be are recorded with the reason."""

from __future__ import annotations

import hashlib
import json
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import islice
from operator import gt
from pathlib import Path

from mptcplab._core import Error
from mptcplab.campaign import calendar, record, store
from mptcplab.campaign.executor.local import Local
from mptcplab.campaign.matrix import Matrix, greet, need
from mptcplab.results import ledger
from mptcplab.results.campaign import Campaign
from mptcplab.scenario.fault import ScenarioError
from mptcplab.schedule.budgets import Budgets
from mptcplab.schedule.clock import WallClock, moment, nanoseconds
from mptcplab.schedule.ledger import Writer
from mptcplab.schedule.probing import PATH_BYTES, Probing
from mptcplab.schedule.visiting import Visiting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import Any

    from mptcplab.campaign.calendar import Visit
    from mptcplab.campaign.definition import Definition
    from mptcplab.campaign.executor import Executor
    from mptcplab.results.ledger import Entry
    from mptcplab.schedule.clock import Clock

# The longest sleep: a machine may be suspended meanwhile, and its clock be set.
STEP_SECONDS = 30.0
# Between checks whether a path is back.
RETRY_SECONDS = 30.0


@dataclass(frozen=True)
class VisitOutcome:
    """The outcome of a visit, and the progress of the schedule."""

    directory: Path
    visit: Visit
    state: Entry
    #: How many there are to be.
    visits: int
    following: Visit | None
    #: Runs of the visit, and why each failed that did.
    runs: int
    failed: list[str]


def run(
    definition: Definition,
    out: Path,
    *,
    clock: Clock | None = None,
    executor: Callable[[], Executor] = lambda: Local(1),
    begin: Callable[[Matrix], None] = lambda _: None,
    report: Callable[[VisitOutcome], None] = lambda _: None,
    warn: Callable[[str], None] = lambda _: None,
) -> Campaign:
    """Run a campaign by its calendar into ``out``, from where it was left, until it is over.

    Raises:
        Error: Something cannot be written, another schedule writes there, or the server is another
            one or refuses before the first visit.
        KeyboardInterrupt: Ctrl-C; the same again goes on from there.
    """
    clock = clock or WallClock()
    _check(definition)
    need(definition)
    # What is refused leaves nothing behind.
    Budgets(planned(definition, out, clock.now())[0])
    if not (ledger.read(out) or ledger.Ledger()).visits:
        # Later an absent server is waited for: another host may answer meanwhile.
        greet(definition)
    with store.opened(out, definition.name) as campaign_store, closing(Writer(out)) as writer:
        matrix = _matrix(definition, writer, clock.now())
        budgets = Budgets(matrix)
        about = _describe(matrix, campaign_store, writer.ledger)
        if writer.ledger.failed:
            campaign_store.fail(writer.ledger.failed)
        begin(matrix)
        for lacking in definition.campaign.engine.lacks(matrix.configurations[0].mptcp.scenario):
            warn(lacking)
        keep = definition.campaign.keep != "tables"
        visiting = Visiting(campaign_store, writer, clock, executor, keep=keep)
        probing = Probing(matrix, out, warn)
        schedule = _Schedule(
            matrix, budgets, campaign_store, writer, clock, visiting, probing, warn
        )
        schedule.resume()
        for index, visit in enumerate(matrix.visits):
            if not writer.ledger.visits.get(visit.number, ledger.Entry()).final:
                schedule.attend(visit)
                following = next(islice(matrix.visits, index + 1, None), None)
                state = writer.ledger.visits[visit.number]
                if _as_begun(visit, definition, state) != visit:
                    late = Matrix(definition, _visits(definition, writer.ledger, clock.now()))
                    about = _describe(late, campaign_store, writer.ledger)
                runs = [task.run for task in matrix.of_visit(visit.number)]
                failed = [reason for run, reason in writer.ledger.failed.items() if run in runs]
                report(
                    VisitOutcome(
                        out, visit, state, len(matrix.visits), following, len(runs), failed
                    )
                )
        campaign_store.describe(record.ended(about))
    return Campaign(out)


def planned(definition: Definition, out: Path, now: datetime) -> tuple[Matrix, ledger.Ledger]:
    """Give the matrix and ledger of a schedule begun in ``out``, or begun now; writes nothing."""
    _check(definition)
    read = ledger.read(out) or ledger.Ledger()
    return Matrix(definition, _visits(definition, read, now)), read


def _matrix(definition: Definition, writer: Writer, now: datetime) -> Matrix:
    """Begin a schedule, or check that it is the one that was begun."""
    calendars = writer.ledger.calendars
    begun = _begun(writer.ledger, now)
    visits = _visits(definition, writer.ledger, now)
    matrix = Matrix(definition, visits)
    measured = _measured(matrix)
    if calendars:
        last = calendars[-1]
        zone = definition.zone.key
        if (measured, zone) != (last["measured"], last["time_zone"]):
            what = "its time zone" if measured == last["measured"] else "what it runs"
            raise _other(definition, what)
        known = (visit for visit in visits if visit.number <= last["visits"])
        if calendar.digest(known) != last["dues"]:
            raise _other(definition, "its calendar")
        if len(visits) == last["visits"]:
            return matrix
    writer.add(
        "calendar",
        began_ns=nanoseconds(begun),
        time_zone=definition.zone.key,
        measured=measured,
        visits=len(visits),
        lasts_s=[one.lasts.total_seconds() for one in definition.calendars],
        dues=calendar.digest(visits),
    )
    return matrix


def _other(definition: Definition, what: str) -> Error:
    return Error(
        f"{definition.name}: {what} has changed since the schedule was begun: go on with the "
        "earlier file, or choose another place (--out)"
    )


def _check(definition: Definition) -> None:
    if not definition.calendars:
        raise ScenarioError(f"{definition.name}: has no [[calendar]]: mptcplab sweep runs it")


def _describe(matrix: Matrix, campaign_store: store.Store, known: ledger.Ledger) -> dict[str, Any]:
    """Write what the campaign is; gives its description."""
    about = record.about(matrix)
    about["started"] = moment(known.calendars[0]["began_ns"]).isoformat()
    scenarios = {one.number: one.text for one in matrix.configurations}
    campaign_store.begin(about, record.plan(matrix), scenarios)
    return about


def _begun(known: ledger.Ledger, now: datetime) -> datetime:
    """Give when the schedule was begun: now, if it was not."""
    if known.calendars:
        return moment(known.calendars[0]["began_ns"])
    return now.replace(microsecond=0)


def _as_begun(visit: Visit, definition: Definition, entry: Entry | None) -> Visit:
    """Give a visit with the hour of the day at which it began, if it did."""
    if entry is None or not entry.attempts:
        return visit
    at = moment(entry.attempts[0].at_ns)
    return replace(visit, hour=calendar.hour(at, definition.zone, definition.campaign.hour_bin))


def _visits(definition: Definition, known: ledger.Ledger, now: datetime) -> list[Visit]:
    """Give all that is due; what was due before keeps its number."""
    calendars, begun = known.calendars, _begun(known, now)
    # Older versions, which could extend only schedules of one calendar, did not record it.
    earlier = [
        [timedelta(seconds=seconds) for seconds in one["lasts_s"]]
        for one in calendars
        if "lasts_s" in one
    ]
    lasts = [one.lasts for one in definition.calendars]
    for before in earlier:
        if len(before) != len(lasts) or any(map(gt, before, lasts)):
            raise _other(definition, "its calendar")
    found = calendar.visits(
        definition.calendars,
        begun,
        definition.zone,
        definition.campaign.seed,
        definition.campaign.hour_bin,
        earlier,
    )
    if not found:
        raise ScenarioError(f"{definition.name}: no visit is due on these days of its [[calendar]]")
    return [_as_begun(one, definition, known.visits.get(one.number)) for one in found]


def _measured(matrix: Matrix) -> str:
    """Give the digest of what a schedule runs, whatever its times."""
    subjects = {
        one.identity for each in matrix.configurations for one in (each.mptcp, *each.baselines)
    }
    known = json.dumps([sorted(subjects), matrix.definition.campaign.seed])
    return hashlib.sha256(known.encode()).hexdigest()


class _Schedule:
    def __init__(
        self,
        matrix: Matrix,
        budgets: Budgets,
        campaign_store: store.Store,
        writer: Writer,
        clock: Clock,
        visiting: Visiting,
        probing: Probing,
        warn: Callable[[str], None],
    ) -> None:
        self._matrix = matrix
        self._budgets = budgets
        self._store = campaign_store
        self._writer = writer
        self._clock = clock
        self._visiting = visiting
        self._probing = probing
        self._warn = warn
        self._started = clock.now()
        self._busy_until = self._started

    def resume(self) -> None:
        """Settle the visit during which the schedule was killed."""
        for number, entry in list(self._writer.ledger.visits.items()):
            if entry.open is not None:
                self._visiting.resume(number, self._matrix.of_visit(number))

    def attend(self, visit: Visit) -> None:
        """Wait for a visit, and run it or say why not."""
        while (now := self._clock.now()) < visit.due:
            self._clock.sleep(min((visit.due - now).total_seconds(), STEP_SECONDS))
        all_tasks = self._matrix.of_visit(visit.number)
        ended = self._store.done.keys() | self._writer.ledger.failed.keys()
        tasks = [task for task in all_tasks if task.run not in ended]
        subject = all_tasks[0].subject
        reported = ""
        while True:
            now = self._clock.now()
            if now > visit.until and not reported:
                self._late(visit)
                return
            reserved = self._budgets.reserve(tasks)
            shortage = self._budgets.lacking(reserved, now, self._writer.ledger)
            if shortage is not None:
                self._miss(visit, "budget", shortage)
                return
            away = subject.engine.away(subject.scenario)
            if not away:
                break
            reason = "; ".join(f"{one}: {failure}" for one, failure in away.items())
            left = (visit.until - now).total_seconds()
            if left <= 0:
                self._miss(visit, "away", reason)
                return
            if reason != reported:
                until = visit.until.astimezone(self._matrix.definition.zone)
                self._warn(f"visit {visit.number} waits, until {until:%H:%M} at most: {reason}")
                reported = reason
            self._clock.sleep(min(RETRY_SECONDS, left))
        allowed = self._budgets.allowed(tasks, reserved)
        afterwards: Callable[[], None] = lambda: None  # noqa: E731
        if self._probing.is_due(visit.number):
            more = {path: count + PATH_BYTES for path, count in reserved.items()}
            if self._budgets.lacking(more, now, self._writer.ledger) is None:
                reserved, afterwards = more, partial(self._probing.probe, visit.number)
        self._visiting.visit(visit.number, allowed, reserved, all_tasks, afterwards)
        self._busy_until = self._clock.now()

    def _late(self, visit: Visit) -> None:
        """Say why a visit's time is over."""
        entry = self._writer.ledger.visits.get(visit.number, ledger.Entry())
        if entry.attempts:
            runs = [task.run for task in self._matrix.of_visit(visit.number)]
            done = sum(run in self._store.done for run in runs)
            self._miss(visit, "interrupted", f"{done} of its {len(runs)} runs are there")
        elif self._started <= visit.due <= self._busy_until:
            self._miss(visit, "busy", "the visit before it was not over")
        else:
            self._miss(visit, "off", "the machine was off, or mptcplab schedule did not run")

    def _miss(self, visit: Visit, reason: str, explanation: str) -> None:
        at_ns = nanoseconds(self._clock.now())
        self._writer.add("missed", visit=visit.number, at_ns=at_ns, reason=reason, why=explanation)
