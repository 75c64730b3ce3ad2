"""Plain TCP over each carrier and Wi-Fi, downwards, standing and driving."""

from __future__ import annotations

from mptcplab import measurements
from mptcplab.study import judging, scenes, singles
from mptcplab.study.experiment import Drawing, Experiment, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Comparison, Extent
    from mptcplab.study.judging import Verdict
    from mptcplab.study.measured import Measured

PAPER = "umass-tr"
STATIC, MOVING = ("II",), ("IV",)
NARROW, WIDE = "umass-tr/II/boston-att-lte", "umass-tr/II/boston-att-lte-adjusted"


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """All rows, as many runs as give their spread."""
    return {
        name: singles.campaign(
            rows, extent, extent.repetitions(30, 6), f"downloads over one path, {name}"
        )
        for name, rows in _rows().items()
    }


def compare(measured: Measured) -> Iterator[Comparison]:
    """Every figure of both tables."""
    for name, rows in _rows().items():
        yield from singles.compare(rows, measured, name)


def _rows() -> dict[str, list[measurements.SinglePath]]:
    """Give the rows of each campaign."""
    static = singles.rows(PAPER, STATIC)
    boston = [row for row in static if row.place == "Boston"]
    return {
        "boston": boston,
        "amherst": [row for row in static if row not in boston],
        "driving": singles.rows(PAPER, MOVING),
    }


def _figure(measured: Measured, row: str, name: str) -> list[float | None]:
    there = (of for of, rows in _rows().items() if any(one.id == row for one in rows))
    return measured.sample(next(there), row=row).figure(name)


def _window(measured: Measured) -> Verdict:
    first, second = (_figure(measured, row, "throughput_mbps") for row in (WIDE, NARROW))
    ratio = judging.Ratio(first, second)
    more = judging.above(ratio, 1.23, "adjusted row / other")
    return judging.sized(more, ratio, 1.46, "the ratio")


def _no_slower_on_the_move(measured: Measured) -> Verdict:
    still, moving = (
        _figure(measured, f"umass-tr/{row}", "throughput_mbps")
        for row in ("II/boston-verizon-lte", "IV/boston-verizon-lte-mobile")
    )
    return judging.more(moving, still, "Verizon LTE in Boston, driving against standing", "Mbit/s")


def _lte_against_3g(measured: Measured) -> Verdict:
    fast, slow = (
        _figure(measured, f"umass-tr/II/{row}", "throughput_mbps")
        for row in ("amherst-verizon-lte", "sunderland-verizon-ehrpd")
    )
    return judging.above(judging.Ratio(fast, slow), 3, "Verizon LTE / eHRPD")


def _links(*rows: str) -> tuple[str, ...]:
    return tuple(scenes.profile(f"umass-tr/{row}") for row in rows)


EXPERIMENT = Experiment(
    name="single-downloads",
    title="plain TCP over one path, downwards, standing and driving",
    reproduces="UM-CS-2012-022, tables II and IV, figures 1, 2 and 6",
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            PAPER,
            "§IV-A",
            "AT&T's LTE is held back by a receive window of 100 800 bytes; eight times the buffer "
            "gives 46 % more.",
            "the adjusted row is faster by at least half of that",
            _window,
            _links("II/boston-att-lte", "II/boston-att-lte-adjusted"),
            fitted=True,
        ),
        Finding(
            PAPER,
            "§IV-A",
            "4G gives several times the throughput of 3G.",
            "Verizon's LTE has more than three times eHRPD's",
            _lte_against_3g,
            _links("II/amherst-verizon-lte", "II/sunderland-verizon-ehrpd"),
            fitted=True,
        ),
        Finding(
            PAPER,
            "§IV-B",
            "Driving does not slow single paths down: Verizon in Boston is faster at 30 mph.",
            "the row of driving is faster",
            _no_slower_on_the_move,
            _links("II/boston-verizon-lte", "IV/boston-verizon-lte-mobile"),
            fitted=True,
        ),
    ),
    drawings=(
        *(
            Drawing(f"rtt-{name}", "rtt-ccdf", name, by=("row",))
            for name in ("boston", "amherst", "driving")
        ),
        *(
            Drawing(figure, "throughput", name, where={"row": f"{PAPER}/{row}"}, of_run=True)
            for figure, name, row in (
                ("figure-1-verizon-lte", "amherst", "II/amherst-verizon-lte"),
                ("figure-2-att-lte", "boston", "II/boston-att-lte"),
                ("figure-2-att-hspa", "amherst", "II/amherst-att-hspa"),
                ("figure-6-verizon-lte", "driving", "IV/boston-verizon-lte-mobile"),
                ("figure-6-verizon-ehrpd", "driving", "IV/sunderland-verizon-ehrpd-mobile"),
                ("figure-6-att-lte", "driving", "IV/boston-att-lte-mobile"),
                ("figure-6-att-hspa", "driving", "IV/western-ma-att-hspa-mobile"),
                ("figure-6-sprint-wimax", "driving", "IV/boston-sprint-wimax-mobile"),
                ("figure-6-sprint-evdo", "driving", "IV/amherst-sprint-evdo-mobile"),
            )
        ),
    ),
    remarks=(
        "The links are calibrated on these very rows: an agreement shows that the fit holds, and "
        "predicts nothing.",
    ),
)
