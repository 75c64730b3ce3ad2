"""Statistics: beside published examples, exact enumeration, and what theory says of coverage."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import asdict
from functools import partial
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
)
from mptcplab.results.statistics.bootstrap import RESAMPLES, bootstrapped, values_needed

STATISTICS: dict[str, Any] = {"mean": np.mean, "sigma": partial(np.std, ddof=1)}

# Two-sided: a right test fails once in a thousand times by the drawing of its resamples; seeds are
# fixed, so that it does not come and go.
SURE = 0.999

# Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, table 14.1: spatial test data, A.
# fmt: off
SPATIAL = [48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6, 0, 33, 28, 34, 4, 32, 24, 47, 41, 24,
           26, 30, 41]
# fmt: on
# 90 % BCa interval of the variance (divided by n) from 2000 resamples: table 14.2 there, and
# Martinez and Martinez, "Computational Statistics Handbook with MATLAB", example 7.8.
SPATIAL_BCA, SPATIAL_RESAMPLES = [(115.8, 259.6), (115.97, 258.54)], 2000

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


@pytest.mark.parametrize("published", SPATIAL_BCA)
def test_bca_gives_the_published_interval(published: tuple[float, float]) -> None:
    found = bootstrapped((list(map(float, SPATIAL)),), np.var, missing=0, level=0.9, seed=0)
    assert found.estimate == pytest.approx(171.5, abs=0.05)
    many = np.random.default_rng(1).choice(SPATIAL, (200_000, len(SPATIAL))).var(axis=1)
    for ours, theirs in zip((found.low, found.high), published, strict=True):
        at, other = (float(np.mean(many <= end)) for end in (ours, theirs))
        assert abs(other - at) <= ends_vary(at, SPATIAL_RESAMPLES)


@pytest.mark.parametrize("statistic", ["mean", "sigma"])
@pytest.mark.parametrize("values", [[3.0, 5.5, 1.0, 9.0, 4.2, 4.0], [0.1, 0.2, 0.4, 3.2, 0.8, 1.6]])
def test_bca_agrees_with_all_resamples_that_there_are(statistic: str, values: list[float]) -> None:
    every = np.array(list(itertools.product(values, repeat=len(values))))
    drawn = STATISTICS[statistic](every, axis=-1)
    levels = exact_levels(np.array(values), drawn, STATISTICS[statistic])
    found = interval(values, statistic)
    assert found.low is not None
    assert found.high is not None
    for end, level in zip((found.low, found.high), levels, strict=True):
        below, up_to = np.mean(drawn < end - 1e-9), np.mean(drawn <= end + 1e-9)
        # The correction for bias is drawn, too: its end moves as much again.
        slack = 2 * ends_vary(level, RESAMPLES)
        assert below - slack <= level <= up_to + slack


def exact_levels(values: Any, drawn: Any, function: Any) -> tuple[float, float]:
    """Efron and Tibshirani 1993, eq. (14.10), (14.14) and (14.15)."""
    estimate = function(values, axis=-1)
    below = np.mean(drawn < estimate - 1e-12) + np.mean(np.abs(drawn - estimate) <= 1e-12) / 2
    bias = stats.norm.ppf(below)
    left = np.array([function(np.delete(values, one), axis=-1) for one in range(len(values))])
    off = left.mean() - left
    acceleration = np.sum(off**3) / (6 * np.sum(off**2) ** 1.5)

    def level(z: float) -> float:
        return float(stats.norm.cdf(bias + (bias + z) / (1 - acceleration * (bias + z))))

    return level(stats.norm.ppf(0.025)), level(stats.norm.ppf(0.975))


def ends_vary(level: float, resamples: int) -> float:
    """How far the level of an end that was drawn may be off."""
    deviation = math.sqrt(level * (1 - level) / resamples)
    return float(stats.norm.ppf((1 + SURE) / 2)) * deviation


@pytest.mark.parametrize(("n", "trials"), [(10, 500), (30, 200)])
def test_intervals_of_the_mean_cover_what_theory_says(n: int, trials: int) -> None:
    # Resamples of normal values have the sample's variance with n instead of n - 1, and their mean
    # is nearly normal: the interval is as wide as Student's would be with 1.96 √((n - 1)/n).
    z = stats.norm.ppf(0.975) * math.sqrt((n - 1) / n)
    theory = 1 - 2 * float(stats.t.sf(z, n - 1))
    chance = np.random.default_rng(20 + n)
    found = (interval(chance.normal(size=n)) for _ in range(trials))
    held = sum(
        one.low <= 0 <= one.high for one in found if one.low is not None and one.high is not None
    )
    low, high = stats.binom.interval(SURE, trials, theory)
    assert low <= held <= high, (held / trials, theory)


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


def test_the_same_values_give_the_same_interval() -> None:
    values = list(np.random.default_rng(3).lognormal(size=12))
    assert interval(values) == interval(values)
    assert interval(values) != interval(values, seed=1)
    assert paired(values, values[::-1]) == paired(values, values[::-1])


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
        place = np.searchsorted(found.value, quantile, side="right")
        beyond, part = found.probability[place], 1 - percent / 100
        assert beyond - 1 / found.samples <= part <= found.probability[place - 1]


def test_samples_that_depend_on_each_other_do_not_narrow_the_band() -> None:
    """Every sample four times over is not four times the knowledge."""
    chance = np.random.default_rng(7)
    runs = [chance.exponential(size=20) for _ in range(5)]
    once, often = ccdf(runs), ccdf([np.repeat(run, 4) for run in runs])
    assert often.samples == 4 * once.samples
    at = {value: place for place, value in enumerate(often.value)}
    for place, value in enumerate(once.value):
        assert often.low[at[value]] == pytest.approx(once.low[place])
        assert often.high[at[value]] == pytest.approx(once.high[place])


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
    """Within a tenth of their length of scipy's own bootstrap, and of its exact one of a median."""
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
        assert "normal theory" in found.method
        length = expected.high - expected.low
        assert [found.low, found.high] == pytest.approx(list(expected), abs=length / 10)
    median = interval(list(first), "median")
    exact: Any = stats.quantile_test(first, q=1, p=0.5).confidence_interval()
    length = exact.high - exact.low
    assert [median.low, median.high] == pytest.approx([exact.low, exact.high], abs=length / 10)
