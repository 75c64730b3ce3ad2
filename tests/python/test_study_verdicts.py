"""Verdicts on the papers' findings, in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mptcplab.results.statistics import interval
from mptcplab.study import judging, outcome

WITHIN = [3.0, 4.0, 5.0, 6.0, 5.5, 4.2]
LESS = [1.0, 2.0, 3.1, 4.0, 3.2, 2.5]


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        (judging.more(WITHIN, LESS, "x"), judging.HOLDS),
        (judging.more(LESS, WITHIN, "x"), judging.FAILS),
        (judging.more([1, 5, 2, 6], [2, 4, 3, 5], "x"), judging.OPEN),
        # All the same: six say something, as their signs do, and three nothing.
        (judging.more([3] * 6, [1] * 6, "x"), judging.HOLDS),
        (judging.more([3] * 3, [1] * 3, "x"), judging.OPEN),
        (judging.more([3, 4, None], [1, 1, 1], "x"), judging.OPEN),
        (judging.more([None], [None], "x"), judging.OPEN),
        (judging.above([2, 2.1, 2.2], 1, "x"), judging.HOLDS),
        (judging.above([2, 2.1, 2.2], 3, "x"), judging.FAILS),
        (judging.above([0] * 6, 0, "x"), judging.FAILS),
        (judging.below([0] * 6, 0.1, "x"), judging.HOLDS),
        (judging.below([2, 2.1, 2.2], 1, "x"), judging.FAILS),
        (judging.above([2], 1, "x"), judging.OPEN),
        (judging.above(judging.Ratio(WITHIN, LESS), 1.2, "x"), judging.HOLDS),
        (judging.below(judging.Ratio(WITHIN, LESS), 1.2, "x"), judging.FAILS),
        (judging.above(judging.Ratio([None], [1]), 1.2, "x"), judging.OPEN),
        # 5 of 5 have p = 0.0625, 20 of 30 have 0.099, 21 of 30 have 0.043.
        (judging.in_most([True] * 5, "x"), judging.OPEN),
        (judging.in_most([True] * 6, "x"), judging.HOLDS),
        (judging.in_most([True] * 16 + [False] * 14, "x"), judging.OPEN),
        (judging.in_most([True] * 20 + [False] * 10, "x"), judging.OPEN),
        (judging.in_most([True] * 21 + [False] * 9, "x"), judging.HOLDS),
        (judging.in_most([True] * 9 + [False] * 21, "x"), judging.FAILS),
        (judging.in_most([None], "x"), judging.OPEN),
    ],
)
def test_verdicts_follow_the_tests(verdict: judging.Verdict, status: str) -> None:
    assert verdict.status == status


@pytest.mark.parametrize("bound", [0.9, 1.4, 1.62, 2.2])
@pytest.mark.parametrize("of", [WITHIN, judging.Ratio(WITHIN, LESS)])
def test_a_side_is_decided_where_the_interval_lies_on_it(of: Any, bound: float) -> None:
    """Tests and intervals are of one kind: what is printed says what is decided."""
    found = of.estimate if isinstance(of, judging.Ratio) else interval(of)
    assert found.low is not None
    assert found.high is not None
    sides = {
        judging.HOLDS: found.low > bound,
        judging.FAILS: found.high < bound,
        judging.OPEN: found.low <= bound <= found.high,
    }
    assert [status for status, so in sides.items() if so] == [judging.above(of, bound, "x").status]


def test_runs_by_chance_decide_seldom() -> None:
    """Of two that are the same in the mean few verdicts say more, and few less."""
    chance = np.random.default_rng(5)
    for n in (4, 6, 15, 30):
        statuses = [
            judging.more(
                chance.lognormal(sigma=0.3, size=n).tolist(),
                chance.lognormal(sigma=0.3, size=n).tolist(),
                "x",
            ).status
            for _ in range(300)
        ]
        for side in (judging.HOLDS, judging.FAILS):
            # 7.5 are to be expected: with more than 19 the binomial law has p < 0.0002.
            assert statuses.count(side) <= 19, n


def test_of_several_questions_the_weakest_answer_counts() -> None:
    holds, unsure, fails = (
        judging.Verdict(*p_values, "") for p_values in ((0.01, 1.0), (0.2, 1.0), (1.0, 0.01))
    )
    assert judging.both(holds, holds).status == judging.HOLDS
    assert judging.both(holds, unsure).status == judging.OPEN
    assert judging.both(unsure, fails, holds).status == judging.FAILS
    assert judging.both(holds, holds, unsure).holds == 0.2
    # One of several that fails is one of as many comparisons.
    assert judging.both(unsure, fails, holds).fails == pytest.approx(0.03)


def test_a_size_is_reproduced_where_the_whole_interval_is_within_a_tenth() -> None:
    more = judging.more(WITHIN, LESS, "x")
    near, wide = [1.49, 1.5, 1.51], [1.3, 1.5, 1.7]
    assert judging.sized(more, near, 1.5 / 1.05, "it").status == judging.HOLDS
    # The same mean: that it is near is not shown by runs that differ so.
    assert judging.sized(more, wide, 1.5 / 1.05, "it").status == judging.DIRECTION
    far = judging.sized(more, near, 1.07, "it")
    assert far.status == judging.DIRECTION
    assert far.because.endswith("it 1.50 (95 % CI 1.48 to 1.52), printed 1.07: ×1.40")
    less = judging.more(LESS, WITHIN, "x")
    assert judging.sized(less, near, 1.5, "it").status == judging.FAILS
    assert judging.both(more, far).status == judging.DIRECTION
    assert judging.sized(more, [None], 1.5, "it") == more


def test_verdicts_are_corrected_together() -> None:
    clear, slight = judging.Verdict(1e-5, 1.0, "a"), judging.Verdict(0.03, 1.0, "b", 0.001)
    against = judging.Verdict(1.0, 0.04, "c")
    assert [one.status for one in judging.corrected([clear])] == [judging.HOLDS]
    assert [one.status for one in judging.corrected([slight])] == [judging.HOLDS]
    found = judging.corrected([clear, slight, against])
    assert [one.status for one in found] == [judging.HOLDS, judging.OPEN, judging.OPEN]
    # Four claims: three sides and a size.
    assert [min(one.holds, one.fails) for one in found] == pytest.approx([4e-5, 0.06, 0.06])
    assert found[1].sized == pytest.approx(0.003)
    # Of 72 that say nothing hardly any study says something.
    chance = np.random.default_rng(7)
    wrong = 0
    for _ in range(200):
        drawn = chance.normal(size=(72, 30))
        given = [judging.above(values.tolist(), 0, "x") for values in drawn]
        wrong += any(one.status != judging.OPEN for one in judging.corrected(given))
    # 10 are to be expected; the binomial law gives more than 21 with p < 0.001.
    assert wrong <= 21


def test_findings_get_their_verdict_when_all_are_known() -> None:
    def finding(p_holds: float, **other: Any) -> dict[str, Any]:
        row = {"p_holds": p_holds, "p_fails": 1.0, "p_sized": None, "because": ""}
        return {**row, "assumed": [], "unprinted": None, "against": None, "fitted": False, **other}

    findings = [
        finding(1e-6),
        finding(0.03),
        finding(1e-6, assumed=["lte"]),
        finding(1e-6, unprinted="an axis"),
        finding(1e-6, fitted=True),
    ]
    outcome.decide(findings)
    assert [one["status"] for one in findings] == [
        judging.HOLDS,
        judging.HOLDS,
        judging.UNJUDGED,
        judging.UNJUDGED,
        judging.FITTED,
    ]
    assert findings[0]["p_corrected"] == pytest.approx(5e-6)
    findings += [finding(0.5)]
    outcome.decide(findings)
    assert findings[1]["status"] == judging.OPEN


def test_what_is_against_its_own_rows_has_a_verdict_of_its_own_if_it_holds() -> None:
    row: dict[str, Any] = {
        "p_sized": None,
        "because": "",
        "assumed": [],
        "unprinted": None,
        "against": "rows",
    }
    held = {"p_holds": 1e-6, "p_fails": 1.0, "fitted": False}
    findings: list[dict[str, Any]] = [
        {**row, **held},
        # That it fails is not excused, but where it is about the very rows.
        {**row, **held, "p_holds": 1.0, "p_fails": 1e-6},
        {**row, **held, "p_holds": 1.0, "p_fails": 1e-6, "fitted": True},
        {**row, **held, "assumed": ["lte"]},
        {**row, **held, "against": None},
    ]
    outcome.decide(findings)
    assert [one["status"] for one in findings] == [
        judging.CONTRADICTED,
        judging.FAILS,
        judging.CONTRADICTED,
        judging.UNJUDGED,
        judging.HOLDS,
    ]
