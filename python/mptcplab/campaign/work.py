"""What a worker is given, what it does with it, and the shard that comes back."""

from __future__ import annotations

import errno
import io
import math
import os
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from mptcplab import _core
from mptcplab._core import Error
from mptcplab.engines.engine import Trial
from mptcplab.labels import text
from mptcplab.results import record, run_metrics
from mptcplab.results.record import build
from mptcplab.scenario.resolved import drawn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import polars as pl

    from mptcplab.analysis import Measured
    from mptcplab.engines.engine import Engine, Progress
    from mptcplab.scenario.scenario import Scenario

    Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Subject:
    """A scenario with MPTCP, or with plain TCP over one path: what is run with several seeds."""

    #: Digest of all that makes its runs what they are, but for the seed.
    identity: str
    name: str
    engine: Engine
    #: Whether nothing but tables is kept, and the engine needs no directory for them.
    in_memory: bool
    path: str | None
    direction: str
    scenario: Scenario
    captures: str
    tables: tuple[str, ...]
    limit_s: float | None


@dataclass(frozen=True)
class Allowance:
    """What a run over real networks may take."""

    #: By path, as its interface counts them.
    carried_bytes: dict[str, int]
    #: Where the transfer has no size of its own.
    payload_bytes: int | None


@dataclass(frozen=True, eq=False)
class Task:
    """A run: its key, its seed, and of what."""

    run: str
    seed: int
    subject: Subject
    #: What it may take of a budget; ``None``: there is none.
    allowance: Allowance | None = None


@dataclass(frozen=True, eq=False)
class Batch:
    """Runs for one worker, which hands back what it has done after so many seconds."""

    tasks: tuple[Task, ...]
    seconds: float
    #: The build of mptcplab that the keys are of.
    build: str
    #: Where run directories are made; ``None``: wherever the worker likes.
    directory: str | None
    #: Whether they stay.
    keep: bool


@dataclass
class Shard:
    """The results of the first runs of a batch."""

    #: The seconds that each took.
    done: dict[str, float] = field(default_factory=dict)
    #: Why each failed.
    failed: dict[str, str] = field(default_factory=dict)
    #: Parquet, by the table's name; ``runs`` is one of them.
    tables: dict[str, bytes] = field(default_factory=dict)


FULL = os.strerror(errno.ENOSPC)


def perform(batch: Batch) -> Shard:
    """Run a batch, or as much of it as its time allows; one that fails does not stop the rest."""
    if batch.build != build():
        raise Error("a worker has another build of mptcplab: install the same one everywhere")
    shard = Shard()
    rows: dict[str, list[Row]] = {}
    ends = time.monotonic() + batch.seconds
    for task in batch.tasks:
        begun = time.monotonic()
        try:
            tables = measure(task, batch.directory, keep=batch.keep)
        except Exception as error:  # Whatever it is, it is the run's.
            message = " ".join((str(error) if isinstance(error, Error) else repr(error)).split())
            if FULL in message:
                # The next one would not fare better.
                raise Error(message) from error
            shard.failed[task.run] = message
        else:
            for table, table_rows in tables.items():
                rows.setdefault(table, []).extend({"run": task.run, **row} for row in table_rows)
            cost = {"run": task.run, "seconds": time.monotonic() - begun}
            rows.setdefault("costs", []).append(cost)
        if time.monotonic() >= ends:
            break
    shard.done = {cost["run"]: cost["seconds"] for cost in rows.get("costs", ())}
    shard.tables = {table: _parquet(table, table_rows) for table, table_rows in rows.items()}
    return shard


def measure(task: Task, directory: str | None, *, keep: bool) -> dict[str, list[Row]]:
    """Run it, and give the rows of its tables and its own row in ``runs``."""
    subject = task.subject
    progress = _limited(task)
    if subject.in_memory:
        tables = in_memory(task, samples="rtt" in subject.tables, progress=progress)
        return _rows(task, tables, tables.outcome() or {})
    if directory is not None:
        target = Path(directory) / task.run
        rows = _into(target, task, progress)
        if not keep:
            shutil.rmtree(target)
        return rows
    with tempfile.TemporaryDirectory(prefix="mptcplab-") as elsewhere:
        return _into(Path(elsewhere) / task.run, task, progress)


def in_memory(task: Task, *, samples: bool, progress: Progress | None = None) -> _core.Tables:
    """Run it, and keep nothing but its tables."""
    subject = task.subject
    trial = Trial(drawn(subject.scenario, task.seed), task.seed, subject.path)
    return subject.engine.tables(trial, samples=samples, progress=progress)


def _into(target: Path, task: Task, progress: Progress | None) -> dict[str, list[Row]]:
    """Run it into a run directory."""
    subject = task.subject
    run, _ = record.run(
        subject.engine,
        subject.scenario,
        target,
        name=subject.name,
        seed=task.seed,
        baseline=subject.path,
        captures=subject.captures,
        progress=progress,
        most_bytes=None if task.allowance is None else task.allowance.payload_bytes,
    )
    return _rows(task, run.tables, run.outcome)


def _rows(task: Task, tables: Measured, outcome: Row) -> dict[str, list[Row]]:
    rows = {name: list(tables.rows(name)) for name in task.subject.tables}
    connections, transfers, flows = (rows[name] for name in run_metrics.TABLES)
    own = run_metrics.metrics(connections, transfers, flows, task.subject.direction)
    run = {"finished": outcome["finished"], "reason": outcome["reason"], **own}
    beside = {run_metrics.NEIGHBOURS: those} if (those := run_metrics.neighbours(outcome)) else {}
    return {"runs": [run], **rows, **beside}


def _limited(task: Task) -> Progress | None:
    """Give what ends a run that takes longer than it may, or more of a budget."""
    subject, allowance = task.subject, task.allowance
    if subject.limit_s is None and allowance is None:
        return None
    ends = math.inf if subject.limit_s is None else time.monotonic() + subject.limit_s
    most = {} if allowance is None else allowance.carried_bytes
    start = subject.engine.carried(subject.scenario) if most else {}

    def check(_at_ns: int, _amount: int) -> None:
        if time.monotonic() > ends:
            limit = text.seconds(subject.limit_s or 0.0)
            raise Error(f"took longer than {limit}, the campaign's limit")
        now = subject.engine.carried(subject.scenario) if most else {}
        for path, count in most.items():
            if path in start and path in now:
                before, after = start[path], now[path]
                if after.since == before.since and after.count_bytes - before.count_bytes > count:
                    raise Error(f"{path} carried all {text.size(count)} that its budget allows")

    return check


def _parquet(table: str, rows: list[Row]) -> bytes:
    import polars as pl

    buffer = io.BytesIO()
    pl.DataFrame(rows, schema=_schema(table)).write_parquet(buffer)
    return buffer.getvalue()


def _schema(table: str) -> dict[str, pl.DataType | type[pl.DataType]]:
    import polars as pl

    if table == "costs":
        return {"run": pl.String, "seconds": pl.Float64}
    if table == "runs":
        return {
            "run": pl.String,
            "finished": pl.Boolean,
            "reason": pl.String,
            **run_metrics.schema(),
        }
    if table == run_metrics.NEIGHBOURS:
        return {"run": pl.String, **run_metrics.neighbours_schema()}
    return {"run": pl.String, **pl.DataFrame(_core.rows(table, "[]")).schema}
