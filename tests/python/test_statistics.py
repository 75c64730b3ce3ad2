"""Statistics: beside published examples, exact enumeration, and what intervals cover."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import asdict
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import mptcplab as package
from mptcplab.results.statistics import (
    adjust,
    ccdf,
    ccdf_of_bins,
    describe,
    gain,
    interval,
    paired,
    pairs_needed,
    quotient,
    quotient_of_independent,
)
from mptcplab.results.statistics.intervals import values_needed
from mptcplab.results.statistics.tests import of_count, of_mean

# Two-sided: a right test fails once in a thousand times by what it draws; seeds are fixed, so that
# it does not come and go.
SURE = 0.999

# Hollander and Wolfe, "Nonparametric Statistical Methods", 1973, p. 29: depression before and
# after; the example of R's wilcox.test: V = 40, p = 0.01953 one-sided.
BEFORE = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
AFTER = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
# Student, "The probable error of a mean", Biometrika 6, 1908: hours of sleep gained; one has none.
SLEEP = (
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
)
# Benjamini and Hochberg, 1995, section 3.2: at 0.05 their procedure rejects four hypotheses,
# Bonferroni's three.
HEART = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262]
HEART += [0.5719, 0.6528, 0.7590, 1.0000]


# What of the 95 % intervals is to hold the truth. Of normal values 95 %; of skewed ones Student's t
# promises less, and no interval of a mean holds it of every distribution (Bahadur and Savage,
# Annals of Mathematical Statistics 27, 1956). σ is of the logarithm: runs differ by 0.5 at most.
NORMAL, SKEWED, VERY_SKEWED = (0.95, 0.95), (0.905, 0.97), (0.8, 0.95)
TRIALS = 2000
SIZES = (3, 5, 10, 30)


def held(truth: float, estimates: Any) -> tuple[int, int]:
    """Count the intervals that there are, and those that hold the truth."""
    ends = [(one.low, one.high) for one in estimates if one.low is not None]
    return sum(low <= truth <= high for low, high in ends), len(ends)


def check(counted: tuple[int, int], promised: tuple[float, float]) -> None:
    """Ask whether so many may be held by the binomial law."""
    count, trials = counted
    low, high = (
        stats.binom.interval(SURE, trials, part)[side] for side, part in enumerate(promised)
    )
    assert low <= count <= high, (count / trials, promised)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("sigma", "promised"), [(None, NORMAL), (0.5, SKEWED), (1.0, VERY_SKEWED)])
def test_intervals_of_means_cover(
    n: int, sigma: float | None, promised: tuple[float, float]
) -> None:
    chance = np.random.default_rng(n)
    drawn, truth = chance.normal(size=(TRIALS, n)), 0.0
    if sigma is not None:
        drawn, truth = np.exp(sigma * drawn), math.exp(sigma**2 / 2)
    found = held(truth, (interval(values) for values in drawn))
    assert found[1] == TRIALS
    check(found, promised)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("skewed", [False, True])
def test_intervals_of_gains_cover(n: int, skewed: bool) -> None:
    """Pairs that share what the radio does; normal ones are Fieller's own case."""
    chance = np.random.default_rng(40 + n)
    radio, *own = (chance.normal(size=(TRIALS, n)) for _ in range(3))
    if skewed:
        first, second = (np.exp(0.4 * radio + 0.1 * one) for one in own)
    else:
        first, second = (10 + radio + one for one in own)
    found = (quotient(1.3 * a, b) for a, b in zip(first, second, strict=True))
    check(held(1.3, found), (0.93, 0.965) if skewed else NORMAL)


@pytest.mark.parametrize("n", SIZES)
def test_intervals_of_ratios_of_unlike_samples_cover(n: int) -> None:
    """A simulation that hardly varies beside a kernel that does: Welch's case."""
    chance = np.random.default_rng(80 + n)
    first, second = chance.normal(10, 0.2, (TRIALS, n)), chance.normal(8, 1, (TRIALS, n))
    pairs = zip(first, second, strict=True)
    check(held(1.25, (quotient_of_independent(*pair) for pair in pairs)), (0.94, 0.96))


@pytest.mark.parametrize("n", [6, 10, 30])
@pytest.mark.parametrize("skewed", [False, True])
def test_intervals_of_medians_cover_what_the_binomial_law_says(n: int, skewed: bool) -> None:
    chance = np.random.default_rng(120 + n)
    drawn = chance.normal(size=(TRIALS, n))
    drawn, truth = (np.exp(drawn), 1.0) if skewed else (drawn, 0.0)
    fewest = int(stats.binom.ppf(0.025, n, 0.5))
    exact = 1 - 2 * float(stats.binom.cdf(fewest - 1, n, 0.5))
    assert exact >= 0.95
    check(held(truth, (interval(values, "median") for values in drawn)), (exact, exact))


@pytest.mark.parametrize("n", SIZES)
def test_bands_of_distributions_cover(n: int) -> None:
    """Runs of 100 samples that differ from each other, at what a half and a tenth reach."""
    chance = np.random.default_rng(160 + n)
    whole = stats.norm(scale=math.hypot(0.5, 1))
    trials = 600
    counts = dict.fromkeys((0.5, 0.1), 0)
    for _ in range(trials):
        runs = chance.normal(scale=0.5, size=(n, 1)) + chance.normal(size=(n, 100))
        edges = [-99.0, *(float(whole.isf(part)) for part in counts), 99.0]
        bins = [
            [
                (low, high, int(((run >= low) & (run < high)).sum()))
                for low, high in itertools.pairwise(edges)
            ]
            for run in runs
        ]
        band = ccdf_of_bins(bins)
        ends = {
            value: (low, high)
            for value, low, high in zip(band.value, band.low, band.high, strict=True)
        }
        for part in counts:
            low, high = ends.get(float(whole.isf(part)), (0.0, 0.0))
            counts[part] += low <= part <= high
    for count in counts.values():
        check((count, trials), (0.93, 0.97))


@pytest.mark.parametrize("n", SIZES)
def test_tests_of_means_reject_as_often_as_they_say(n: int) -> None:
    """Under the null, on each side."""
    chance = np.random.default_rng(200 + n)
    drawn = chance.normal(size=(TRIALS, n))
    positive = [values.mean() > 0 for values in drawn if of_mean(values) < 0.05]
    for side in (True, False):
        check((positive.count(side), TRIALS), (0.025, 0.025))


def test_intervals_agree_with_published_examples() -> None:
    # Student, 1908: the gain of the first drug over the second is 1.58 h, and R's t.test of its
    # data gives 0.70 to 2.46.
    found = interval([one - other for one, other in zip(*SLEEP, strict=True)])
    assert (found.low, found.high) == pytest.approx((0.7001142, 2.4598858), abs=1e-6)
    # A ratio is where the mean of first - ratio second is not told from 0, at either end.
    first, second = [4.0, 7.0, 5.5, 9.0, 6.1], [2.0, 3.0, 3.1, 4.4, 2.7]
    ratio = quotient(first, second)
    for end in (ratio.low, ratio.high):
        assert end is not None
        at_end = [a - end * b for a, b in zip(first, second, strict=True)]
        assert stats.ttest_1samp(at_end, 0).pvalue == pytest.approx(0.05)
    # 36 %, to 8 digits the same: no digit is lost by cancelling.
    many = [1 + 1e-8 * one for one in (1, 2, 3, 4, 5)]
    near = quotient([1.36] * 5, many)
    assert near.low is not None
    assert near.high is not None
    assert 1e-8 < near.high - near.low < 1e-7


def test_tests_agree_with_scipy() -> None:
    values = [0.3, 1.9, -0.4, 2.2, 0.8]
    assert of_mean(values) == pytest.approx(float(stats.ttest_1samp(values, 0).pvalue))
    # All the same: by their signs.
    assert of_mean([2.0] * 6) == pytest.approx(2 / 2**6)
    assert (of_mean([]), of_mean([1, 2]), of_mean([0, 0, 0])) == (1, 1, 1)
    for so in range(11):
        exact = float(stats.binomtest(so, 10, 0.5).pvalue)
        assert of_count(so, 10, 0.5) == pytest.approx(exact)
    assert of_count(0, 0, 0.5) == 1


def test_it_takes_six_pairs_to_tell_a_difference() -> None:
    assert pairs_needed() == 6
    for comparisons in (1, 2, 12, 72, 1000):
        needed = pairs_needed(comparisons=comparisons)
        for n, significant in ((needed, True), (needed - 1, False)):
            least = paired([2.0 + one / 8 for one in range(n)], [1.0] * n).p_value
            assert least == pytest.approx(2 / 2**n)
            alone = adjust([least] + [1.0] * (comparisons - 1), "benjamini-hochberg")[0]
            assert alone is not None
            assert (alone < 0.05) == significant
    together = adjust([2 / 2**6] * 12, "benjamini-hochberg")
    assert max(one for one in together if one is not None) < 0.05


def test_a_quantile_needs_values_on_both_sides() -> None:
    # Wilks, "Determination of sample sizes for setting tolerance limits", 1941: 59 values for the
    # 95th percentile, 95 % sure on the one side.
    assert values_needed(0.95, 0.90) == 59
    assert values_needed(0.5, 0.95) == 6
    assert interval(range(5), "median").reason == "n = 5; it takes 6"
    assert interval(range(6), "median").low is not None
    assert interval(range(71), 0.95).reason == "n = 71; it takes 72"
    assert interval(range(72), 0.95).high is not None


def test_what_is_missing_is_left_out_and_counted() -> None:
    found = describe([1.0, None, 3.0, math.nan, 8.0, math.inf])
    assert (found.n, found.missing, found.minimum, found.maximum) == (3, 3, 1, 8)
    assert (found.mean.estimate, found.mean.n, found.mean.missing) == (4, 3, 3)
    assert found.sigma.estimate == pytest.approx(math.sqrt(13))
    assert found.median.estimate == 3
    assert (found.sigma.low, found.sigma.reason is None) == (None, False)


def test_there_is_no_interval_where_there_can_be_none() -> None:
    for values, reason in (
        ([], "n = 0; it takes 3"),
        ([1, 2], "n = 2; it takes 3"),
        ([5, 5, 5, 5], "all values are the same"),
    ):
        found = interval(values)
        assert (found.low, found.high, found.reason) == (None, None, reason)
    assert interval([]).estimate is None
    assert interval([7]).estimate == 7
    assert interval([7], "sigma").estimate is None


def test_what_is_no_statistic_is_refused() -> None:
    with pytest.raises(ValueError, match="no statistic 'mode'; there are mean, median, sigma"):
        interval([1, 2, 3], "mode")
    with pytest.raises(ValueError, match="between 0 and 1, not at 95"):
        interval([1, 2, 3], 95.0)
    with pytest.raises(ValueError, match="no correction 'bonferroni'"):
        adjust([0.5], "bonferroni")
    with pytest.raises(ValueError, match="2 values cannot be paired with 1"):
        paired([1, 2], [1])


def test_a_ratio_to_what_may_be_nothing_has_no_interval() -> None:
    found = paired([1.0, 2.0, 3.0], [5.0, -4.0, 0.5]).relative
    assert found.estimate is not None
    assert (found.low, found.high) == (None, None)
    assert found.reason == "what it is divided by cannot be distinguished from 0"
    few = quotient_of_independent([1.0, 2.0], [1.0, 2.0, 3.0])
    assert (few.low, few.reason) == (None, "n = 2; it takes 3")
    nothing = quotient_of_independent([0.0, 0.0, 0.0], [1.0, 2.0, 3.0])
    assert (nothing.estimate, nothing.low) == (0.0, None)
    assert nothing.reason == "all values are the same"


def test_pairs_agree_with_published_examples() -> None:
    found = paired(BEFORE, AFTER)
    assert found.p_value == pytest.approx(2 * 0.01953, abs=2e-5)
    # V = 40 of 45.
    assert found.rank_biserial == pytest.approx((40 - 5) / 45)
    assert found.difference.estimate == pytest.approx(np.mean(BEFORE) - np.mean(AFTER))
    assert found.relative.estimate == pytest.approx(np.mean(BEFORE) / np.mean(AFTER) - 1)
    sleep = paired(*SLEEP)
    # The mean difference is 1.58 h, with σ 1.23 (Student). Nine differ, all one way: 2 of 2⁹.
    assert sleep.difference.estimate == pytest.approx(1.58)
    assert sleep.sigma == pytest.approx(1.23, abs=0.005)
    assert sleep.p_value == pytest.approx(2 / 2**9)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=2, max_size=8).filter(any))
def test_p_values_are_those_of_all_signs(differences: list[int]) -> None:
    """With ties and zeros, too: the ranks' sum over all ways to sign them."""
    ranks = stats.rankdata(np.abs(differences))
    own = abs(np.sum(ranks * np.sign(differences)))
    free = ranks[np.array(differences) != 0]
    sums = [abs(np.dot(signs, free)) for signs in itertools.product((-1, 1), repeat=len(free))]
    found = paired(differences, [0] * len(differences))
    assert found.p_value == pytest.approx(np.mean(np.array(sums) >= own - 1e-9))
    assert found.rank_biserial == pytest.approx(np.dot(np.sign(differences), ranks) / ranks.sum())


def test_pairs_that_do_not_differ_say_nothing() -> None:
    found = paired([1, 2, 3], [1, 2, 3])
    assert (found.n, found.rank_biserial, found.p_value) == (3, 0, None)
    assert found.difference.reason == "all values are the same"
    none = paired([None, 1], [1, None])
    assert (none.n, none.missing, none.difference.estimate, none.p_value) == (0, 2, None, None)
    assert "division by 0" in str(paired([1, 2, 3], [0, 0, 0]).relative.reason)


def test_corrections_agree_with_published_examples() -> None:
    hochberg = adjust(HEART, "benjamini-hochberg")
    assert sum(value is not None and value <= 0.05 for value in hochberg) == 4
    assert sum(value is not None and value <= 0.05 for value in adjust(HEART)) == 3
    # R's p.adjust, by the documentation of stdlib's padjust.
    assert adjust([0.319, 0.201, 0.4, 0.374, 0.113]) == pytest.approx(
        [0.957, 0.804, 0.957, 0.957, 0.565]
    )
    assert adjust([0.008, 0.03, 0.123, 0.6, 0.2], "benjamini-hochberg") == pytest.approx(
        [0.04, 0.075, 0.205, 0.6, 0.25]
    )
    assert adjust([None, 0.01, 0.04]) == [None, 0.02, 0.04]
    assert adjust([None], "benjamini-hochberg") == [None]


def test_the_gain_is_over_the_path_with_the_highest_mean() -> None:
    multipath = {1: 30.0, 2: 33.0, 3: 27.0, 4: 30.0}
    # The last run over wifi was not made yet.
    singles = {"wifi": {1: 20.0, 2: 30.0, 3: 10.0}, "lte": dict.fromkeys(multipath, 19.0)}
    found = gain(multipath, singles)
    assert found.best_path == "wifi"
    assert (found.paired.n, found.paired.missing) == (3, 1)
    assert found.paired.relative.estimate == pytest.approx(30 / 20 - 1)
    assert gain({1: 1.0, 2: 2.0}, {}).best_path is None


def test_a_path_that_finishes_less_often_is_not_the_best() -> None:
    multipath = {1: 30.0, 2: 33.0, 3: 27.0}
    singles: dict[str, dict[int, float | None]] = {
        "wifi": {1: None, 2: 40.0, 3: None},
        "lte": {1: 20.0, 2: 20.0, 3: 20.0},
    }
    found = gain(multipath, singles)
    assert (found.best_path, found.all_finished) == ("lte", True)
    assert found.paired.relative.estimate == pytest.approx(30 / 20 - 1)


@pytest.mark.parametrize(
    ("multipath", "lte", "finished"),
    [
        ([30.0, None, 27.0], [20.0, 20.0, 20.0], (2, 3)),
        ([None, None, None], [20.0, 20.0, 20.0], (0, 3)),
        ([30.0, 33.0, 27.0], [20.0, None, 20.0], (3, 2)),
        ([30.0, 33.0, 27.0], [None, None, None], (3, 0)),
    ],
)
def test_there_is_no_gain_where_not_every_run_finished(
    multipath: list[float | None], lte: list[float | None], finished: tuple[int, int]
) -> None:
    found = gain(dict(enumerate(multipath)), {"lte": dict(enumerate(lte))})
    assert (found.multipath.finished, found.single_path.finished) == finished
    assert (found.multipath.runs, found.single_path.runs) == (3, 3)
    assert found.best_path == ("lte" if finished[1] else None)
    assert (found.paired.relative.estimate, found.paired.relative.low) == (None, None)
    assert "not every run finished" in (found.paired.relative.reason or "")


def test_a_ccdf_is_the_part_at_or_above() -> None:
    chance = np.random.default_rng(5)
    runs = [chance.lognormal(sigma=2, size=size) for size in (300, 10, 4000, 1)]
    found = ccdf([*runs, []])
    pooled = np.concatenate(runs)
    assert (found.n, found.missing, found.samples) == (4, 1, 4311)
    for value, probability, low, high in zip(
        found.value, found.probability, found.low, found.high, strict=True
    ):
        assert probability == np.mean(pooled >= value)
        assert 0 <= low <= high <= 1
    # The tail is there in full.
    assert list(found.value[-3:]) == sorted(pooled)[-3:]
    assert found.probability[0] == 1


def test_a_ccdf_of_bins_is_that_of_the_samples_at_their_edges() -> None:
    chance = np.random.default_rng(6)
    runs = [np.floor(chance.exponential(5, size=200)) for _ in range(6)]
    bins = [[(v, v + 1, int(np.sum(run == v))) for v in range(60)] for run in runs]
    samples, histograms = ccdf(runs), ccdf_of_bins(bins)
    assert histograms.value == samples.value
    assert histograms.probability == pytest.approx(samples.probability)
    assert histograms.low == pytest.approx(samples.low)
    assert histograms.samples == samples.samples


@pytest.mark.parametrize("quantity", ["rtt", "out_of_order_delay"])
def test_the_bins_of_an_analysis_give_its_quantiles(download: list[str], quantity: str) -> None:
    analysis = package.analyze(download, samples=False)
    bins = analysis.distributions.filter(
        pl.col("subflow").is_null(), quantity=quantity, direction="down"
    )
    found = ccdf_of_bins([bins.select("from_ms", "to_ms", "count").rows()])
    (transfer,) = analysis.transfers.filter(direction="down").iter_rows(named=True)
    samples = "rtt_samples" if quantity == "rtt" else "reordering_segments"
    assert found.samples == transfer[samples]
    for percent in (95, 99):
        # Between them lies the bin that the percentile is in.
        quantile = transfer[f"{quantity}_ms_p{percent}"]
        index = np.searchsorted(found.value, quantile, side="right")
        beyond, part = found.probability[index], 1 - percent / 100
        assert beyond - 1 / found.samples <= part <= found.probability[index - 1]


def test_samples_that_depend_on_each_other_do_not_narrow_the_band() -> None:
    """Every sample four times over is not four times the knowledge."""
    chance = np.random.default_rng(7)
    runs = [chance.exponential(size=20) for _ in range(5)]
    once, often = ccdf(runs), ccdf([np.repeat(run, 4) for run in runs])
    assert often.samples == 4 * once.samples
    at = {value: index for index, value in enumerate(often.value)}
    for index, value in enumerate(once.value):
        assert often.low[at[value]] == pytest.approx(once.low[index])
        assert often.high[at[value]] == pytest.approx(once.high[index])


def test_a_band_needs_runs() -> None:
    found = ccdf([[1, 2, 3], [2, 3]])
    assert (found.low, found.high, found.reason) == ((), (), "n = 2 runs; it takes 3")
    assert found.probability == pytest.approx([1, 0.8, 0.4])
    assert ccdf([]).value == ()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.none() | st.floats(-1e9, 1e9), max_size=12))
def test_nothing_crashes_and_all_of_it_can_be_written(values: list[float | None]) -> None:
    described = describe(values)
    assert described.n + described.missing == len(values)
    for one in (described.mean, described.sigma, described.median, *described.quantiles.values()):
        assert (one.low is None) == (one.high is None) == (one.reason is not None)
        assert one.low is None or one.high is None or one.low <= one.high
    both = asdict(described) | asdict(paired(values, values[::-1]))
    json.dumps(both, allow_nan=False)


def test_many_values_have_the_intervals_that_resampling_gives() -> None:
    """Within a tenth of their length of scipy's bootstrap, and its exact one of a median."""
    random = np.random.default_rng(12)
    first = random.lognormal(size=2000)
    second = first * random.lognormal(1, 0.3, size=2000)

    def ratio(one: Any, other: Any, axis: int) -> Any:
        return one.mean(axis=axis) / other.mean(axis=axis) - 1

    compared = paired(list(first), list(second))
    for samples, statistic, found in (
        ((first,), np.mean, interval(list(first))),
        ((first - second,), np.mean, compared.difference),
        ((first, second), ratio, compared.relative),
    ):
        expected = stats.bootstrap(
            samples,
            statistic,
            paired=len(samples) > 1,
            n_resamples=4000,
            batch=500,
            rng=np.random.default_rng(1),
        ).confidence_interval
        length = expected.high - expected.low
        assert [found.low, found.high] == pytest.approx(list(expected), abs=length / 10)
    median = interval(list(first), "median")
    exact: Any = stats.quantile_test(first, q=1, p=0.5).confidence_interval()
    length = exact.high - exact.low
    assert [median.low, median.high] == pytest.approx([exact.low, exact.high], abs=length / 10)
