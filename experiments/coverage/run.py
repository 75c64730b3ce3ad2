"""How often do the intervals hold what they estimate? ``python -m experiments.coverage.run``.

Samples are drawn from distributions whose figures are known. The counts go to ``results.json`` beside this file.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from mptcplab.results.statistics import Estimate, ccdf, gain, interval, quotient_of_independent

RESULTS = Path(__file__).parent / "results.json"
LEVEL = 0.95
TRIALS = 2000
SIZES = (3, 5, 10, 30, 100)
Q90 = float(stats.norm.ppf(0.9))

Draw = Callable[[np.random.Generator, int], Any]
Row = dict[str, Any]

# Draws, and what is true of them.
DISTRIBUTIONS: dict[str, tuple[Draw, dict[str | float, float]]] = {
    "normal": (
        lambda chance, n: chance.standard_normal(n),
        {"mean": 0.0, "median": 0.0, 0.9: Q90},
    ),
    "lognormal, σ 0.5": (
        lambda chance, n: chance.lognormal(sigma=0.5, size=n),
        {"mean": math.exp(0.125), "median": 1.0, 0.9: math.exp(0.5 * Q90)},
    ),
    "lognormal, σ 1": (
        lambda chance, n: chance.lognormal(size=n),
        {"mean": math.exp(0.5), "median": 1.0, 0.9: math.exp(Q90)},
    ),
}
# Throughput of a single path, and MPTCP's gain over it, in pairs that share their conditions.
PATH_MBPS, GAIN, SHARED_SIGMA, OWN_SIGMA = 20, 0.3, 0.4, 0.1
# Runs differ from each other by this σ of the logarithm, samples within one by 1.
BETWEEN_RUNS_SIGMA, SAMPLES = 0.5, 200
TAILS = (0.5, 0.1, 0.01)
RUNS = (3, 5, 10, 30)
RESAMPLES = 999


def main() -> None:
    """Draw, count, and write."""
    rows = []
    for row in chain(gains(), unlike(), tails(), figures(), resampled()):
        print(row, file=sys.stderr, flush=True)
        rows.append(row)
    RESULTS.write_text(json.dumps({"level": LEVEL, "rows": rows}, indent=1) + "\n")


def figures() -> Iterator[Row]:
    """Count over figures of a sample."""
    for name, (draw, truths) in DISTRIBUTIONS.items():
        for statistic, truth in truths.items():
            for n in SIZES:
                chance = np.random.default_rng(n)
                found = (interval(draw(chance, n), statistic, level=LEVEL) for _ in range(TRIALS))
                yield from counted(str(statistic), name, n, truth, found)


def resampled() -> Iterator[Row]:
    """Count over means by a bootstrap, BCa's, for comparison: nothing here is estimated so."""
    for n in SIZES[:4]:
        chance = np.random.default_rng(n)
        found = (bootstrap(chance.standard_normal(n), chance) for _ in range(TRIALS))
        yield from counted("BCa", "normal", n, 0.0, found)


def bootstrap(values: Any, chance: np.random.Generator) -> Estimate:
    """Estimate a mean with a bootstrap's interval."""
    ends = stats.bootstrap(
        (values,), np.mean, confidence_level=LEVEL, n_resamples=RESAMPLES, rng=chance
    ).confidence_interval
    n = len(values)
    low, high = float(ends.low), float(ends.high)
    return Estimate(float(np.mean(values)), low, high, LEVEL, n, 0, "BCa")


def gains() -> Iterator[Row]:
    """Count over the gain of pairs."""
    for n in SIZES:
        chance = np.random.default_rng(n)
        found = (gain(*pairs(chance, n), level=LEVEL).paired.relative for _ in range(TRIALS))
        yield from counted("gain", "lognormal pairs", n, GAIN, found)


def unlike() -> Iterator[Row]:
    """Count over ratios of samples that vary unlike: a simulation beside a kernel."""
    for n in SIZES:
        chance = np.random.default_rng(n)
        drawn = ((chance.normal(10, 0.2, n), chance.normal(8, 1, n)) for _ in range(TRIALS))
        found = (
            quotient_of_independent(one.tolist(), other.tolist(), level=LEVEL)
            for one, other in drawn
        )
        yield from counted("ratio", "unlike samples", n, 10 / 8, found)


def pairs(chance: np.random.Generator, n: int) -> tuple[Any, dict[str, Any]]:
    """Draw throughputs that share what the radio does in each pair."""
    radio = PATH_MBPS * chance.lognormal(sigma=SHARED_SIGMA, size=n)
    single, multipath = (chance.lognormal(sigma=OWN_SIGMA, size=n) * radio for _ in range(2))
    by_pair = (dict(enumerate(side.tolist())) for side in (multipath * (1 + GAIN), single))
    return next(by_pair), {"wifi": next(by_pair)}


def tails() -> Iterator[Row]:
    """Count over bands of distributions, beside intervals that take samples to be independent."""
    whole = stats.norm(scale=math.hypot(BETWEEN_RUNS_SIGMA, 1))
    for n in RUNS:
        chance = np.random.default_rng(n)
        bands = dict.fromkeys(TAILS, 0)
        naive = dict.fromkeys(TAILS, 0)
        for _ in range(TRIALS // 2):
            of_run = chance.normal(scale=BETWEEN_RUNS_SIGMA, size=(n, 1))
            runs = np.exp(of_run + chance.standard_normal((n, SAMPLES)))
            band = ccdf(runs, level=LEVEL)
            for tail in TAILS:
                value = math.exp(whole.isf(tail))
                index = min(int(np.searchsorted(band.value, value)), len(band.value) - 1)
                bands[tail] += band.low[index] <= tail <= band.high[index]
                above = int(np.count_nonzero(runs >= value))
                ends = stats.binomtest(above, runs.size).proportion_ci(LEVEL, method="wilson")
                naive[tail] += bool(ends.low <= tail <= ends.high)
        for what, counts in (("band", bands), ("samples", naive)):
            for tail, held in counts.items():
                yield {
                    "statistic": what,
                    "of": str(tail),
                    "n": n,
                    "held": held,
                    "trials": TRIALS // 2,
                }


def counted(
    statistic: str, of: str, n: int, truth: float, found: Iterator[Estimate]
) -> Iterator[Row]:
    """Count the intervals that hold the truth, where there are intervals."""
    ends = [(one.low, one.high) for one in found if one.low is not None and one.high is not None]
    if ends:
        held = sum(low <= truth <= high for low, high in ends)
        yield {"statistic": statistic, "of": of, "n": n, "held": held, "trials": len(ends)}


if __name__ == "__main__":
    main()
