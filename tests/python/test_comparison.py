"""What the comparison of simulation and kernel says of values outside their bands."""

from __future__ import annotations

import pytest

from experiments.engines.table import Cell, Column, markdown

SPEED = Column("throughput_mbps", "Mbit/s", 1.1)


@pytest.mark.parametrize(
    ("ours", "theirs", "low", "high"),
    [
        # Of 252 ways to part ten values two are as far apart.
        ([1.0, 1.1, 1.2, 1.3, 1.4], [2.0, 2.1, 2.2, 2.3, 2.4], 1 / 252, 3 / 252),
        # One of six is the largest: whichever engine has it, means differ as much.
        ([1.0, 1.0, 1.0], [1.0, 1.0, 4.0], 1.0, 1.0),
        ([1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 4.0], 0.2, 0.3),
    ],
)
def test_chance_is_how_often_exchanged_runs_differ_as_much(
    ours: list[float], theirs: list[float], low: float, high: float
) -> None:
    cell = Cell(SPEED, ours, theirs)
    assert low <= cell.chance <= high
    assert cell.is_chance == (cell.is_open and high >= 0.05)


def test_at_most_three_of_sixty_scenarios_are_outside_without_a_cause() -> None:
    text = markdown()
    tables, outside = text.split("### Outside their bands")
    scenarios = sum(line.count(" | ") > 4 for line in tables.splitlines()) - tables.count("###")
    assert scenarios >= 60
    assert outside.count("not explained") <= 3 * scenarios / 60
