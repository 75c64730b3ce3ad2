"""Statistics of samples, in the columns that tables have for them."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt

QUANTILES = {"median": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}


def spread(name: str, samples: Sequence[float], *statistics: str) -> dict[str, float]:
    """Give columns such as ``rtt_ms_mean``: the statistics asked for, by their endings."""
    if not samples:
        return {}
    ordered = sorted(samples)
    mean = sum(ordered) / len(ordered)
    known = {
        "mean": mean,
        "sigma": sqrt(sum((one - mean) ** 2 for one in ordered) / len(ordered)),
        "min": ordered[0],
        "max": ordered[-1],
        **{key: ordered[ceil(part * len(ordered)) - 1] for key, part in QUANTILES.items()},
    }
    return {f"{name}_{one}": known[one] for one in statistics}
