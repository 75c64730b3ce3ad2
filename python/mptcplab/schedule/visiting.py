"""One visit: its runs, one after the other, and the bytes that they carried."""

from __future__ import annotations

from contextlib import closing

from mptcplab.campaign.executor import Lost
from mptcplab.campaign.work import Batch
from mptcplab.results.record import build
from mptcplab.schedule.clock import nanoseconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mptcplab.campaign.executor import Executor
    from mptcplab.campaign.store import Store
    from mptcplab.campaign.work import Task
    from mptcplab.engines.engine import Engine
    from mptcplab.results.ledger import Attempt
    from mptcplab.scenario.scenario import Scenario
    from mptcplab.schedule.clock import Clock
    from mptcplab.schedule.ledger import Writer

# The longest time between two checks of a worker.
STEP_SECONDS = 0.5


class Visiting:
    """Runs visits on this machine."""

    def __init__(
        self,
        store: Store,
        writer: Writer,
        clock: Clock,
        executor: Callable[[], Executor],
        *,
        keep: bool,
    ) -> None:
        self._store = store
        self._writer = writer
        self._clock = clock
        self._executor = executor
        self._keep = keep

    def visit(
        self,
        number: int,
        tasks: list[Task],
        reserved: dict[str, int],
        every: list[Task],
        afterwards: Callable[[], None],
    ) -> None:
        """Run the remaining ``tasks`` of a visit, whose tasks are ``every``.

        What is done ``afterwards`` counts, too.
        """
        subject = tasks[0].subject
        before = subject.engine.carried(subject.scenario)
        carried = {
            path: {"bytes": one.count_bytes, "since": one.since} for path, one in before.items()
        }
        at_ns = nanoseconds(self._clock.now())
        self._writer.add("reserve", visit=number, at_ns=at_ns, bytes=reserved, carried=carried)
        failed: dict[str, str] = {}
        try:
            self._run(tasks, failed)
            afterwards()
        finally:
            # Interrupted after its last run a visit is over, too.
            ended = all(task.run in self._store.done.keys() | failed.keys() for task in tasks)
            self.settle(number, every, ended=ended, failed=failed, later=False)

    def resume(self, number: int, every: list[Task]) -> None:
        """Settle a visit during which the schedule was killed; how long ago is not known."""
        ended = all(task.run in self._store.done for task in every)
        self.settle(number, every, ended=ended, failed={}, later=True)

    def settle(
        self, number: int, every: list[Task], *, ended: bool, failed: dict[str, str], later: bool
    ) -> None:
        """Record what the last attempt of a visit carried."""
        attempt = self._writer.ledger.visits[number].open
        assert attempt is not None  # noqa: S101 - it was reserved
        subject = every[0].subject
        self._writer.add(
            "settle",
            visit=number,
            at_ns=nanoseconds(self._clock.now()),
            bytes=used(attempt, subject.engine, subject.scenario, later=later),
            ended=ended,
            failed=failed,
        )

    def _run(self, tasks: list[Task], failed: dict[str, str]) -> None:
        """Run them, and record why some failed."""
        with closing(self._executor()) as worker:
            near = str(self._store.runs) if worker.near else None
            for task in tasks:
                worker.submit(Batch((task,), 0.0, build(), near, self._keep))
                while not (ended := worker.wait(STEP_SECONDS)):
                    pass
                ((_, result),) = ended
                # A run that killed its process is not tried again: what it carried is not known.
                lost = {task.run: result.reason} if isinstance(result, Lost) else result.failed
                if not isinstance(result, Lost) and result.done:
                    self._store.add(result.tables, result.done)
                if lost:
                    failed |= lost
                    self._store.fail(lost)


def used(
    attempt: Attempt, engine: Engine, scenario: Scenario, *, later: bool
) -> dict[str, int | None]:
    """Give what an attempt carried by path, as its interfaces count; ``None``: not known.

    ``later``: others may have used them since, so that it is no more than was reserved. Where they
    count anew since, or less than before, it is all of that.
    """
    now = engine.carried(scenario)
    found: dict[str, int | None] = {}
    for path in dict.fromkeys((*attempt.carried, *attempt.reserved_bytes)):
        before, current = attempt.carried.get(path), now.get(path)
        reserved = attempt.reserved_bytes.get(path)
        if (
            before is None
            or current is None
            or current.since != before["since"]
            or current.count_bytes < before["bytes"]
        ):
            found[path] = reserved
        elif later:
            found[path] = (
                None if reserved is None else min(reserved, current.count_bytes - before["bytes"])
            )
        else:
            found[path] = current.count_bytes - before["bytes"]
    return found
