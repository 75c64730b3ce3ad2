"""A sample at a glance."""

from __future__ import annotations

from dataclasses import dataclass

from mptcplab.results.statistics.estimate import LEVEL, Estimate, known
from mptcplab.results.statistics.intervals import interval

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

QUANTILES = (0.05, 0.25, 0.75, 0.95)


@dataclass(frozen=True)
class Description:
    """Where values lie and how far they spread."""

    n: int
    missing: int
    minimum: float | None
    maximum: float | None
    mean: Estimate
    #: Standard deviation, with n − 1.
    sigma: Estimate
    median: Estimate
    #: By the quantile, from 0 to 1.
    quantiles: dict[float, Estimate]


def describe(
    values: Iterable[float | None],
    *,
    quantiles: Sequence[float] = QUANTILES,
    level: float = LEVEL,
) -> Description:
    """Describe values of independent runs, one per run; see :func:`interval`."""
    found, missing = known(values)

    def estimate(statistic: str | float) -> Estimate:
        # What is missing must be counted there, too.
        return interval([*found, *[None] * missing], statistic, level=level)

    return Description(
        n=len(found),
        missing=missing,
        minimum=min(found, default=None),
        maximum=max(found, default=None),
        mean=estimate("mean"),
        sigma=estimate("sigma"),
        median=estimate("median"),
        quantiles={quantile: estimate(quantile) for quantile in quantiles},
    )
