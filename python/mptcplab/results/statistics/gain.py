"""What several paths give over the best of them alone."""

from __future__ import annotations

from dataclasses import dataclass

from mptcplab.results.statistics.estimate import LEVEL, SEED, known
from mptcplab.results.statistics.pairs import Paired, paired

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Gain:
    """Multipath against the best single path; ``paired.relative`` is the gain."""

    #: None if no single path has a value.
    best_path: str | None
    paired: Paired


def gain(
    multipath: Sequence[float | None],
    single_paths: Mapping[str, Sequence[float | None]],
    *,
    level: float = LEVEL,
    seed: int = SEED,
) -> Gain:
    """Compare throughputs with those over the path that has the highest mean, pair by pair.

    The path is the same for all pairs: the best of each pair would be the larger of noisy figures,
    which is more than any path gives.
    """
    means = {}
    for path, values in single_paths.items():
        found, _ = known(values)
        if found:
            means[path] = sum(found) / len(found)
    best = max(means, key=lambda path: means[path], default=None)
    against = [None] * len(multipath) if best is None else single_paths[best]
    return Gain(best, paired(multipath, against, level=level, seed=seed))
