"""The rows of `distributions` are the samples, counted, and give the quantiles again."""

from __future__ import annotations

from collections import defaultdict
from math import ceil
from typing import Any

import pytest

import mptcplab
from oracles.conftest import Case

Row = dict[str, Any]
Key = tuple[int, int | None, str]  # connection, subflow, direction

QUANTILES = {"median": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
# Quantiles stand for the middle of a bin of whole nanoseconds, which for 0 is 0.
NANOSECOND_MS = 1e-6


@pytest.fixture(scope="module")
def analysis(case: Case) -> mptcplab.Analysis:
    return mptcplab.analyze(case.capture)


def _bins(analysis: mptcplab.Analysis, quantity: str) -> dict[Key, list[Row]]:
    found: dict[Key, list[Row]] = defaultdict(list)
    for row in analysis.distributions.filter(quantity=quantity).iter_rows(named=True):
        found[row["connection"], row["subflow"], row["direction"]].append(row)
    return found


def _samples(analysis: mptcplab.Analysis, table: str, column: str) -> dict[Key, list[float]]:
    """Of each subflow, and of all together."""
    found: dict[Key, list[float]] = defaultdict(list)
    for row in getattr(analysis, table).iter_rows(named=True):
        for subflow in (row["subflow"], None):
            found[row["connection"], subflow, row["direction"]].append(row[column])
    return found


def test_every_sample_is_counted_in_its_bin(analysis: mptcplab.Analysis) -> None:
    rtts = _samples(analysis, "rtt", "rtt_ms")
    delays = _samples(analysis, "reordering", "out_of_order_delay_ms")
    together = {key: values for key, values in delays.items() if key[1] is None}
    for quantity, samples in (("rtt", rtts), ("out_of_order_delay", together)):
        bins = _bins(analysis, quantity)
        assert bins.keys() == samples.keys()
        for key, rows in bins.items():
            for row in rows:
                low, high = row["from_ms"], row["to_ms"]
                inside = sum(low <= value < high for value in samples[key])
                assert (key, low, row["count"]) == (key, low, inside)
                assert high - low <= max(low / 128 * (1 + 1e-9), 1.001 * NANOSECOND_MS)
            assert sum(row["count"] for row in rows) == len(samples[key])


def test_subflows_add_up_to_all_together(analysis: mptcplab.Analysis) -> None:
    bins = _bins(analysis, "rtt")
    total: dict[tuple[int, str, float], int] = defaultdict(int)
    for (connection, subflow, direction), rows in bins.items():
        for row in rows:
            sign = -1 if subflow is None else 1
            total[connection, direction, row["from_ms"]] += sign * row["count"]
    assert not any(total.values())


def test_figures_follow_from_the_bins(analysis: mptcplab.Analysis) -> None:
    rtts, delays = _bins(analysis, "rtt"), _bins(analysis, "out_of_order_delay")
    for row in analysis.flows.iter_rows(named=True):
        key = (row["connection"], row["subflow"], row["direction"])
        _agree(rtts.get(key, []), row, "rtt_samples", "rtt_ms")
    for row in analysis.transfers.iter_rows(named=True):
        whole = (row["connection"], None, row["direction"])
        _agree(rtts.get(whole, []), row, "rtt_samples", "rtt_ms")
        _agree(delays.get(whole, []), row, "reordering_segments", "out_of_order_delay_ms")


def _agree(bins: list[Row], figures: Row, samples: str, name: str) -> None:
    count = sum(row["count"] for row in bins)
    assert count == (figures[samples] or 0)
    for quantile, part in QUANTILES.items():
        column = f"{name}_{quantile}"
        if count and column in figures:
            own = _quantile(bins, part)
            assert figures[column] == pytest.approx(own, rel=0.005, abs=NANOSECOND_MS)


def _quantile(bins: list[Row], part: float) -> float:
    """The middle of the bin that holds the sample of that rank."""
    rank = max(1, ceil(part * sum(row["count"] for row in bins)))
    for row in sorted(bins, key=lambda row: row["from_ms"]):
        rank -= row["count"]
        if rank <= 0:
            return float(row["from_ms"] + row["to_ms"]) / 2
    raise AssertionError("the bins hold fewer samples than they count")
