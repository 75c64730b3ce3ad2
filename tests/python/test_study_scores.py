"""How near the study's numbers are, in closed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mptcplab.measurements import Figure
from mptcplab.study import judging, outcome, scoring


def test_errors_are_logarithms_of_ratios() -> None:
    assert scoring.log_error(2 * math.e, Figure(2)) == pytest.approx(1)
    assert scoring.log_error(1, Figure(2)) == pytest.approx(-math.log(2))
    assert scoring.log_error(0, Figure(2)) is None
    assert scoring.log_error(1, Figure(0.03, below=True)) is None


def test_skill_is_one_where_perfect_zero_where_naive_and_compares_means() -> None:
    assert scoring.skill([0, 0], [1, -1]) == 1
    assert scoring.skill([1, -1], [-1, 1]) == 0
    assert scoring.skill([2, 0.5], [0.5, 4.5]) == pytest.approx(0.5)
    assert scoring.skill([1], [0]) is None
    assert scoring.skill([], []) is None


def test_a_prediction_interval_holds_the_next_run_in_nine_of_ten() -> None:
    chance = np.random.default_rng(1)
    held = 0
    for _ in range(1000):
        *runs, after = chance.lognormal(size=31)
        low, high = scoring.prediction(runs) or (0.0, 0.0)
        held += low <= after <= high
    # The share of 1000 has a standard error of 0.0095.
    assert held / 1000 == pytest.approx(0.9, abs=0.03)
    pairs = judging.Ratio([2.0 * n for n in range(1, 31)], [float(n) for n in range(1, 31)])
    assert scoring.prediction(pairs) == (2, 2)
    assert scoring.prediction([1.0, None] * 5) is None


def test_naive_predictors_say_what_they_are_said_to() -> None:
    assert scoring.aggregate([6, 3, 1]) == {scoring.BEST: 6, scoring.SUM: 10, scoring.EQUAL: 6}
    found = scoring.part({"a": 6, "b": 3, "c": 1}, "b", subflows=2)
    expected = {scoring.BEST: 6 * 3 / 10 / 2, scoring.SUM: 3 / 2, scoring.EQUAL: 6 / 3 / 2}
    assert found == pytest.approx(expected)


def test_parts_of_the_naive_add_up_to_the_whole() -> None:
    alone = {"a": 6.0, "b": 3.0, "c": 1.0}
    whole = scoring.aggregate(list(alone.values()))
    for name, value in whole.items():
        parts = (scoring.part(alone, path, 2)[name] * 2 for path in alone)
        assert sum(parts) == pytest.approx(value)


def test_the_gain_is_a_ratio_of_means() -> None:
    ours, alone = [2.0, 9.0, 4.0], [1.0, 6.0, 2.0]
    found = scoring.score(Figure(1.5), judging.Ratio(ours, alone), {})
    assert found.mean.estimate == pytest.approx(15 / 9)
    assert found.log_error == pytest.approx(math.log(15 / 9 / 1.5))


def _comparison(error: float, naive: float, **other: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "what": "throughput of a-1",
        "fitted": False,
        "scored": True,
        "origin": "calibrated",
    }
    row |= {"inside": abs(error) < 0.2}
    return {**row, "log_error": error, "naive": {scoring.SUM: naive}, **other}


def test_scores_leave_out_what_is_assumed_and_part_what_was_fitted() -> None:
    rows = [
        _comparison(0.1, 0.4),
        _comparison(-0.3, 0.4),
        _comparison(9, 9, scored=False),
        _comparison(0.5, 1, fitted=True),
        _comparison(0.2, 0, what="throughput in 0 to 5 s: a ride"),
    ]
    part, whole, fitted = (
        next(
            one
            for one in outcome.scores([{"comparisons": rows}])
            if (one["use"], one["kind"]) == of
        )
        for of in (
            ("predicted", "throughput of a part"),
            ("predicted", "throughput"),
            ("fitted", "throughput of a part"),
        )
    )
    assert part["n"] == 2
    assert part["mean_absolute_log_error"] == pytest.approx(0.2)
    assert part["mean_log_error"] == pytest.approx(-0.1)
    assert part["skills"] == {scoring.SUM: {"skill": pytest.approx(0.5), "n": 2}}
    assert (part["within_10_percent"], part["within_factor_1_5"]) == (0, 2)
    assert (part["inside"], part["intervals"]) == (1, 2)
    assert (whole["n"], fitted["n"]) == (1, 1)
    assert fitted["skills"] == {}
