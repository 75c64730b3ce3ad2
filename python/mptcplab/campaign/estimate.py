"""How long a campaign takes, from runs that are done or that are tried."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from mptcplab.campaign.work import Batch, Task, perform
from mptcplab.results import shards
from mptcplab.results.campaign import SHARDS
from mptcplab.results.record import build

TRIAL_SECONDS = 2.0


@dataclass(frozen=True)
class Estimate:
    """What a run takes, on average."""

    seconds: float | None
    #: How many runs it is the average of.
    measured: int
    #: Keys of those that are there already.
    runs: frozenset[str] = frozenset()
    #: Why the first run failed that was tried.
    failure: str | None = None

    @property
    def there(self) -> int:
        """How many runs are there already."""
        return len(self.runs)


def estimate(tasks: list[Task], directory: Path) -> Estimate:
    """Use the runs that are done; try some of emulated networks if there are none.

    Nothing is left of what was tried.
    """
    known = shards.checked(directory / SHARDS, {}).seconds
    done = {task.run: known[task.run] for task in tasks if task.run in known}
    if done:
        return Estimate(sum(done.values()) / len(done), len(done), frozenset(done))
    if not tasks[0].subject.engine.emulates:
        # Real networks carry, and bill, whatever is tried.
        return Estimate(None, 0)
    with tempfile.TemporaryDirectory(prefix="mptcplab-") as scratch:
        batch = Batch(tuple(tasks), TRIAL_SECONDS, build(), scratch, keep=False)
        begun = time.monotonic()
        shard = perform(batch)
        taken = time.monotonic() - begun
    tried = len(shard.done)
    failure = next(iter(shard.failed.values()), None)
    return Estimate(taken / tried if tried else None, tried, failure=failure)
