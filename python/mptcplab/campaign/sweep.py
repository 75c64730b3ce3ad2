"""The loop: batches go to workers, shards to the store, until all is done."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from mptcplab._core import Error
from mptcplab.campaign.executor import Executor, Lost
from mptcplab.campaign.store import Store
from mptcplab.campaign.work import Batch, Shard, Task
from mptcplab.results.record import build

# The most that an interruption costs, unless one run takes longer. The first shards are smaller, so
# that there is progress soon.
SHARD_SECONDS = 5.0
FIRST_SECONDS = 0.5
GROWTH = 0.25
# A batch is meant to take somewhat longer, so that its shard is full.
AHEAD = 1.5
MOST_RUNS = 5000
# The longest time between two reports of progress.
STEP_SECONDS = 0.2
# After so many deaths of workers over a batch its runs are tried one by one, and after so many a
# run has failed: something else may have killed a worker.
DEATHS = 2
LAST_DEATH = 4
# After so many before anything was done, something other than a run kills them.
MOST_DEATHS = 30


@dataclass
class Progress:
    """The progress of a campaign."""

    total: int
    #: How many existed already.
    there: int
    done: int = 0
    failed: int = 0
    #: Runs in a second, as long as they have taken so far; 0 while that is unknown.
    rate: float = 0.0

    @property
    def left(self) -> int:
        """How many are still to be run."""
        return self.total - self.there - self.done - self.failed


def run(
    tasks: list[Task],
    store: Store,
    executor: Executor,
    *,
    keep: bool,
    progress: Callable[[Progress], None],
) -> Progress:
    """Run what is not done; ``keep`` says whether run directories are kept."""
    sweep = _Sweep(tasks, store, executor, keep)
    with closing(executor):
        while sweep.has_work():
            sweep.step()
            progress(sweep.progress)
    return sweep.progress


@dataclass
class _Work:
    """Runs that wait, and how many workers died over them."""

    tasks: deque[Task]
    deaths: int


class _Sweep:
    def __init__(self, tasks: list[Task], store: Store, executor: Executor, keep: bool) -> None:
        remaining = [task for task in tasks if task.run not in store.done]
        self.progress = Progress(len(tasks), len(tasks) - len(remaining))
        self._store = store
        self._executor = executor
        self._keep = keep
        self._waiting = deque([_Work(deque(remaining), 0)] if remaining else [])
        self._running: dict[Batch, int] = {}
        self._begun = time.monotonic()
        self._workers = 0
        # How many workers died before any had done something.
        self._early_deaths: int | None = 0
        # Of the runs of this sweep.
        self._seconds = 0.0

    def has_work(self) -> bool:
        return bool(self._waiting or self._running)

    def step(self) -> None:
        free = self._executor.free()
        self._workers = free + len(self._running)
        for _ in range(free):
            if self._waiting:
                batch, deaths = self._next()
                self._running[batch] = deaths
                self._executor.submit(batch)
        for batch, ended in self._executor.wait(STEP_SECONDS):
            deaths = self._running.pop(batch)
            if isinstance(ended, Lost):
                self._lost(batch, deaths, ended.reason)
            else:
                self._take(batch, deaths, ended)

    def _next(self) -> tuple[Batch, int]:
        """Make a batch of waiting runs."""
        work = self._waiting[0]
        grown = GROWTH * (time.monotonic() - self._begun)
        seconds = min(SHARD_SECONDS, max(FIRST_SECONDS, grown))
        count = 1 if work.deaths >= DEATHS else self._count(len(work.tasks), seconds)
        taken = tuple(work.tasks.popleft() for _ in range(count))
        if not work.tasks:
            self._waiting.popleft()
        near = str(self._store.runs) if self._executor.near else None
        return Batch(taken, seconds, build(), near, self._keep), work.deaths

    def _count(self, waiting: int, seconds: float) -> int:
        """Return how many runs fill about one shard; at the end all workers share the rest."""
        if not self.progress.done:
            return 1
        fitting = AHEAD * seconds * self.progress.done / self._seconds
        shared = waiting / self._workers
        return max(1, math.ceil(min(fitting, shared, MOST_RUNS)))

    def _take(self, batch: Batch, deaths: int, shard: Shard) -> None:
        self._early_deaths = None
        if shard.done:
            self._store.add(shard.tables, shard.done)
        if shard.failed:
            self._store.fail(shard.failed)
        self.progress.done += len(shard.done)
        self.progress.failed += len(shard.failed)
        self._seconds += sum(shard.done.values())
        if self.progress.done:
            self.progress.rate = self._workers * self.progress.done / self._seconds
        ended = len(shard.done) + len(shard.failed)
        self._requeue(batch.tasks[ended:], deaths)

    def _lost(self, batch: Batch, deaths: int, reason: str) -> None:
        if self._early_deaths is not None:
            self._early_deaths += 1
            if self._early_deaths >= MOST_DEATHS:
                raise Error(f"workers die before they have done anything: {reason}")
        if deaths + 1 < LAST_DEATH:
            self._requeue(batch.tasks, deaths + 1)
        else:
            self._store.fail({task.run: reason for task in batch.tasks})
            self.progress.failed += len(batch.tasks)

    def _requeue(self, tasks: tuple[Task, ...], deaths: int) -> None:
        if tasks:
            self._waiting.appendleft(_Work(deque(tasks), deaths))
