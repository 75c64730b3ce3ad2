"""What the page of laws shows."""

from __future__ import annotations

import pytest

from experiments.laws import padhye
from experiments.laws.families import LAWS
from laws.hold import KEPT


def test_every_case_is_shown_and_holds() -> None:
    assert list(KEPT) == list(LAWS)
    for name, law in LAWS.items():
        assert [tuple(row["of"]) for row in KEPT[name]] == [case.of for case in law.cases]
        for row, case in zip(KEPT[name], law.cases, strict=True):
            ratio = row["measured"] / row["law"]
            assert case.low <= ratio <= case.high, f"{name}: {case.name}"


@pytest.mark.parametrize(
    ("ratio", "rate"), [(1e-4, 1223.9), (1e-3, 384.7), (1e-2, 114.7), (5e-2, 40.1)]
)
def test_padhyes_model_is_near_its_short_form(ratio: float, rate: float) -> None:
    """Eq. (33) at 100 ms and T0 = 300 ms: 1 / (R √(2p/3) + T0 min(1, 3 √(3p/8)) p (1 + 32p²))."""
    assert padhye.rate(0.1, ratio, 0.3) == pytest.approx(rate, rel=0.03)
