"""Runs an artifact again, and says what is reproduced."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import get_context
from os import PathLike
from pathlib import Path
from typing import Any

from mptcplab._core import VERSION, Error
from mptcplab.artifact.artifact import Artifact, Planned, read
from mptcplab.engines import named
from mptcplab.metrics import OF_RUNS
from mptcplab.results import record
from mptcplab.scenario.scenario import checked
from mptcplab.scenario.source import Source

# Version of the document.
SCHEMA = 1
# In real time these are compared; others depend on single events.
HELD = ("throughput_mbps",)

Metrics = dict[str, float | None]


@dataclass(frozen=True)
class Difference:
    """A metric that came out otherwise."""

    run: str
    metric: str
    expected: float | None
    found: float | None


@dataclass(frozen=True)
class Verdict:
    """The result of running an artifact again."""

    artifact: Artifact
    #: Of each run, in the artifact's order.
    found: list[Metrics]

    @cached_property
    def differences(self) -> list[Difference]:
        """Metrics beyond the tolerance."""
        names = HELD if named(self.artifact.engine).real_time else tuple(OF_RUNS)
        return [
            Difference(run.name, name, run.metrics.get(name), metrics[name])
            for run, metrics in zip(self.artifact.runs, self.found, strict=True)
            for name in names
            # A metric that an earlier version did not know is none that can differ.
            if name in run.metrics
            and not _agree(run.metrics[name], metrics[name], self.artifact.tolerance_percent)
        ]

    @property
    def reproduced(self) -> bool:
        """Whether all came out as it was, within the tolerance."""
        return not self.differences

    def document(self) -> dict[str, Any]:
        """Give everything as one document."""
        return {
            "schema": SCHEMA,
            "title": self.artifact.title,
            "engine": self.artifact.engine,
            "made_by": {"mptcplab": self.artifact.version, "build": self.artifact.build},
            "verified_by": {"mptcplab": VERSION, "build": record.build()},
            "tolerance_percent": self.artifact.tolerance_percent,
            "runs": len(self.artifact.runs),
            "reproduced": self.reproduced,
            "differences": [vars(one) for one in self.differences],
        }


def verify(
    file: str | PathLike[str],
    *,
    jobs: int | None = None,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Verdict:
    """Run an artifact again, as :func:`mptcplab.verify` says."""
    artifact = read(Path(file))
    engine = named(artifact.engine)
    if jobs is not None and jobs < 1:
        raise Error(f"jobs is {jobs}; it must be above 0")
    workers = jobs or (1 if engine.real_time else len(os.sched_getaffinity(0)))
    found: list[Metrics] = [{} for _ in artifact.runs]
    pool = ProcessPoolExecutor(min(workers, len(artifact.runs)), get_context("spawn"))
    try:
        pending = {
            pool.submit(again, run, artifact.scenarios[run.scenario], artifact.engine): number
            for number, run in enumerate(artifact.runs)
        }
        for done, future in enumerate(as_completed(pending), 1):
            found[pending[future]] = future.result()
            progress(done, len(artifact.runs))
    finally:
        pool.shutdown(cancel_futures=True)
    return Verdict(artifact, found)


def again(planned: Planned, text: str, engine: str) -> Metrics:
    """Run one of its runs, and give its metrics."""
    scenario = checked(Source.of_text(text, planned.scenario))
    with tempfile.TemporaryDirectory(prefix="mptcplab-") as directory:
        run, _ = record.run(
            named(engine),
            scenario,
            Path(directory) / "run",
            name="artifact",
            seed=planned.seed,
            baseline=planned.path,
            captures="none",
        )
        return dict(run.metrics)


def _agree(expected: float | None, found: float | None, tolerance_percent: float) -> bool:
    if expected is None or found is None:
        return expected is found
    # Sums in another order end in another digit.
    return math.isclose(expected, found, rel_tol=max(tolerance_percent / 100, 1e-9), abs_tol=1e-12)
