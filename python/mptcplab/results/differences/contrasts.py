"""Figures over several seeds side by side, with paired differences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import stdev

from mptcplab.results.differences.repeated import FIGURES
from mptcplab.results.statistics import Estimate, Gain, Paired, adjust, gain, interval, paired
from mptcplab.results.statistics.estimate import known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from mptcplab.results.differences.repeated import Repeated, Values

    Progress = Callable[[int, int], None]

CORRECTION = "benjamini-hochberg"


@dataclass(frozen=True)
class Contrast:
    """A figure of one run of one configuration, on both sides."""

    configuration: str
    run: str
    figure: str
    #: Means.
    a: Estimate
    b: Estimate
    #: Standard deviations, with n − 1.
    sigma_a: float | None
    sigma_b: float | None
    #: B over A, by seeds that both have.
    paired: Paired
    #: Its p-value, corrected over all contrasts of the document.
    p_value_corrected: float | None = None


@dataclass(frozen=True)
class Gains:
    """The gain over the best single path on both sides."""

    configuration: str
    a: Gain | None
    b: Gain | None


def contrasts(
    a: Repeated, b: Repeated, *, level: float, progress: Progress | None = None
) -> list[Contrast]:
    """Compare what both have; ``progress`` is told how many figures are done, and of how many."""
    shared = [
        (key, figure)
        for key in a.runs
        if key in b.runs
        for figure in FIGURES
        if any(_known(side.runs[key][figure]) for side in (a, b))
    ]
    found = []
    # What has the same values on both sides in several configurations, such as plain TCP over a
    # path that nothing touches, is tested once.
    tests: dict[Hashable, float | None] = {}
    for key, figure in shared:
        sides = a.runs[key][figure], b.runs[key][figure]
        test = (key[1], figure, *(tuple(sorted(side.items())) for side in sides))
        one = _contrast(key, figure, *sides, level)
        tests[test] = one.paired.p_value
        found.append((one, test))
        if progress is not None:
            progress(len(found), len(shared))
    corrected = dict(zip(tests, adjust(list(tests.values()), CORRECTION), strict=True))
    return [replace(one, p_value_corrected=corrected[test]) for one, test in found]


def gains(a: Repeated, b: Repeated, *, level: float) -> list[Gains]:
    """Give the gains of configurations that both have."""
    shared = [own for own, run in a.runs if run == "mptcp" and (own, run) in b.runs]
    found = [Gains(own, _gain(a, own, level), _gain(b, own, level)) for own in shared]
    return [one for one in found if one.a or one.b]


def _contrast(key: tuple[str, str], figure: str, a: Values, b: Values, level: float) -> Contrast:
    seeds = sorted(a.keys() & b.keys())
    return Contrast(
        *key,
        figure,
        a=interval(a.values(), level=level),
        b=interval(b.values(), level=level),
        sigma_a=_sigma(a),
        sigma_b=_sigma(b),
        paired=paired([b[one] for one in seeds], [a[one] for one in seeds], level=level),
    )


def _gain(repeated: Repeated, configuration: str, level: float) -> Gain | None:
    single_paths = repeated.single_paths.get(configuration)
    if not single_paths:
        return None
    multipath = repeated.runs[configuration, "mptcp"]["throughput_mbps"]
    return gain(dict(sorted(multipath.items())), single_paths, level=level)


def _known(values: Values) -> bool:
    return any(value is not None for value in values.values())


def _sigma(values: Values) -> float | None:
    found, _ = known(values.values())
    return stdev(found) if len(found) > 1 else None
