"""What several paths give over the best of them alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mptcplab.results.statistics.estimate import LEVEL, Estimate, known
from mptcplab.results.statistics.pairs import Paired, paired

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    #: Throughput by pair; None if the run did not finish. A run that was not made is not there.
    Values = Mapping[Any, float | None]

UNFINISHED = "not every run finished: the pairs that are left would be the luckier ones"


@dataclass(frozen=True)
class Finished:
    """How many of the runs finished."""

    finished: int
    runs: int

    @property
    def all(self) -> bool:
        """Whether every run did."""
        return self.finished == self.runs

    @property
    def part(self) -> float:
        """Which part of the runs did; 0 without runs."""
        return self.finished / self.runs if self.runs else 0.0


@dataclass(frozen=True)
class Gain:
    """Multipath against the best single path."""

    #: None if no single path finished a run.
    best_path: str | None
    #: Over pairs in which both finished. ``paired.relative`` is the gain, empty where not every
    #: run of both finished.
    paired: Paired
    multipath: Finished
    #: Of the best path, or of one of those that never finished.
    single_path: Finished

    @property
    def all_finished(self) -> bool:
        """Whether every run of both finished."""
        return self.multipath.all and self.single_path.all


def gain(
    multipath: Values,
    single_paths: Mapping[str, Values],
    *,
    level: float = LEVEL,
) -> Gain:
    """Compare throughputs with those over the best path, pair by pair.

    Best is, of the paths of which most runs finished, that with the highest mean. It is the same
    for all pairs: the best of each pair would be the larger of noisy figures, which is more than
    any path gives.
    """
    finished = {path: _finished(values) for path, values in single_paths.items()}
    best = max(
        finished, key=lambda path: (finished[path].part, _mean(single_paths[path])), default=None
    )
    single_path = Finished(0, 0) if best is None else finished[best]
    against = {} if best is None else dict(single_paths[best])
    found = Gain(
        best if single_path.finished else None,
        paired(
            list(multipath.values()),
            [against.get(pair) for pair in multipath],
            level=level,
        ),
        _finished(multipath),
        single_path,
    )
    return found if found.all_finished else replace(found, paired=_without_gain(found.paired))


def _finished(values: Values) -> Finished:
    return Finished(len(known(values.values())[0]), len(values))


def _mean(values: Values) -> float:
    found, _ = known(values.values())
    return sum(found) / len(found) if found else 0.0


def _without_gain(found: Paired) -> Paired:
    one = found.relative
    return replace(
        found,
        relative=Estimate(None, None, None, one.level, one.n, one.missing, one.method, UNFINISHED),
    )
