"""Corrected p-values: many comparisons find something by chance."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

METHODS = ("holm", "benjamini-hochberg")


def adjust(p_values: Sequence[float | None], method: str = "holm") -> list[float | None]:
    """Correct p-values that are looked at together; None stays None and does not count.

    ``"holm"`` holds the chance of even one false finding (Holm, "A simple sequentially rejective
    multiple test procedure", Scandinavian Journal of Statistics 6, 1979): for claims.
    ``"benjamini-hochberg"`` holds the expected part of false ones among the findings (Benjamini and
    Hochberg, JRSS B 57, 1995): for a search through many comparisons.
    """
    if method not in METHODS:
        raise ValueError(f"there is no correction {method!r}; there are {', '.join(METHODS)}")
    given = [value for value in p_values if value is not None]
    corrected = iter(_holm(given) if method == "holm" else _benjamini_hochberg(given))
    return [None if value is None else next(corrected) for value in p_values]


def _holm(p_values: list[float]) -> list[float]:
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, p_values[place] * (len(p_values) - rank)))
        corrected[place] = largest
    return corrected


def _benjamini_hochberg(p_values: list[float]) -> list[float]:
    from scipy import stats

    return [float(value) for value in stats.false_discovery_control(p_values)] if p_values else []
