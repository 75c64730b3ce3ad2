"""Holds the cases of laws to their bands, and the documentation to what is measured."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from experiments.laws.families import LAWS
from experiments.laws.law import Case
from experiments.laws.run import RESULTS

KEPT = json.loads(RESULTS.read_text())


def every_case_of(*names: str) -> Callable[[str, Case], None]:
    """Test every case of these laws, but for those that take long."""
    short = [(name, case) for name in names for case in LAWS[name].cases if not case.is_long]

    @pytest.mark.parametrize(
        ("law", "case"), short, ids=[f"{name}: {case.name}" for name, case in short]
    )
    def holds(law: str, case: Case) -> None:
        reading = case.read()
        assert case.holds(reading), f"{reading.measured} measured, {reading.law} by the law"
        (kept,) = (row for row in KEPT[law] if row["of"] == list(case.of))
        shown = kept["law"], kept["measured"]
        stale = f"python -m experiments.laws.run --only {law} && make docs"
        assert (reading.law, reading.measured) == pytest.approx(shown, rel=1e-9), stale

    return holds
