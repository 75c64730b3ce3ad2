"""What quantities of runs are, by runs that are written out."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from mptcplab.study import quantities


class Written:
    """Runs whose tables are given."""

    def __init__(self, **tables: Any) -> None:
        self.tables = tables
        self.runs = pl.DataFrame({"run": ["a", "b"]})

    def bins(self, path: str) -> pl.DataFrame:
        assert path == "wimax"
        return pl.DataFrame(self.tables["bins"], schema=["run", "at_s", "bytes"], orient="row")

    def rtt_samples(self, path: str, number: int) -> dict[str, list[tuple[float, float]]]:
        assert (path, number) == ("path", 1)
        times: dict[str, list[tuple[float, float]]] = self.tables["rtt"]
        return times

    def retransmissions(self, path: str, number: int) -> dict[str, list[float]]:
        assert (path, number) == ("path", 1)
        times: dict[str, list[float]] = self.tables["lost"]
        return times


def test_a_ramp_ends_with_the_first_second_that_has_the_later_mean() -> None:
    # Nothing in the first two seconds, then half, then all; of the other run nothing is known.
    rates = [0, 0, 50, 100, 100, 100, 100, 100]
    sample: Any = Written(bins=[("a", float(at), rate) for at, rate in enumerate(rates)])
    assert quantities.ramp(sample, "wimax", 0, 4, 8) == [4, None]
    assert quantities.ramp(sample, "wimax", 2, 4, 8) == [2, None]
    # Who never carries anything reaches no level.
    idle: Any = Written(bins=[("a", 0.0, 0)])
    assert quantities.ramp(idle, "wimax", 0, 4, 8) == [None, None]


@pytest.mark.parametrize(("lost", "grown"), [([10, 19], 3), ([10, 19, 23], 3), ([10, 14], None)])
def test_round_trips_rise_between_losses(lost: list[float], grown: float | None) -> None:
    """From 100 ms in the first third of nine seconds to 300 in the last; shorter times are none."""
    times = [(10.5, 100.0), (12.5, 100.0), (14.0, 5000.0), (16.5, 300.0), (18.5, 300.0)]
    sample: Any = Written(rtt={"a": times, "b": times}, lost={"a": lost})
    (found, none) = quantities.rise(sample, "path", 1)
    assert none is None
    assert found == (None if grown is None else pytest.approx(grown))


def test_round_trips_that_fall_at_each_loss_and_grow_again_have_one_rise() -> None:
    tooth = [(start + at, 100.0 + 10 * at) for start in (0, 10, 20) for at in range(10)]
    sample: Any = Written(rtt={"a": tooth}, lost={"a": [0.0, 10.0, 20.0, 30.0]})
    assert quantities.rise(sample, "path", 1)[0] == pytest.approx(
        (170 + 180 + 190) / (3 * 110), rel=0.05
    )
