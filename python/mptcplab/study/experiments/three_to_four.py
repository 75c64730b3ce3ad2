"""Drives from 3G into 4G: modems that began in 3G stay there."""

from __future__ import annotations

from mptcplab.study import drives, judging, scenes
from mptcplab.study.experiment import Drawing, Experiment, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Comparison, Extent
    from mptcplab.study.judging import Verdict
    from mptcplab.study.measured import Measured

#: By direction, rows of Verizon's 3G and 4G, and of AT&T beside it.
ROWS = {
    "download": (
        "umass-tr/IV/sunderland-verizon-ehrpd-mobile",
        "umass-tr/IV/amherst-verizon-lte-mobile",
        "umass-tr/IV/western-ma-att-hspa-mobile",
    ),
    "upload": (
        "umass-up/1/verizon-ehrpd-mobile",
        "umass-up/1/verizon-lte-mobile",
        "umass-up/1/att-hspa-mobile",
    ),
}
#: No figure is shown of these drives: when it was in 4G, and how long it went on, is a guess.
ENTERS_S, SILENT_S, END_S = 120, 10, 300


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """Verizon from 3G, with a modem that stays there and with one that would switch."""
    return {direction: _campaign(direction, extent) for direction in ROWS}


def _campaign(direction: str, extent: Extent) -> dict[str, Any]:
    slow, fast, other = map(scenes.profile, ROWS[direction])
    switching = drives.held(ENTERS_S, "verizon", SILENT_S, fast)
    return drives.campaign(
        {"verizon": slow, "att": other},
        direction,
        extent,
        [],
        title=f"Verizon from 3G to LTE, {direction}s",
        duration_s=END_S,
        axes={"modem": {"points": {"stays": {}, "switches": {"timeline": switching}}}},
    )


def compare(_: Measured) -> Iterator[Comparison]:
    """Both papers tell of it and print nothing."""
    return iter(())


def _forgone(measured: Measured, direction: str) -> Verdict:
    switches, stays = (
        measured.sample(direction, modem=one).between(ENTERS_S + SILENT_S, END_S)
        for one in ("switches", "stays")
    )
    return judging.more(switches, stays, "in 4G, switching and staying", "Mbit/s")


def _goes_on(measured: Measured, direction: str) -> Verdict:
    before, after = (
        measured.sample(direction, modem="stays").between(*span)
        for span in ((20, ENTERS_S), (ENTERS_S, END_S))
    )
    return judging.above(judging.Ratio(after, before), 0.8, "in 4G / before")


EXPERIMENT = Experiment(
    name="3g-to-4g",
    title="drives out of Verizon's 3G into its LTE with a modem that stays on 3G",
    reproduces="UM-CS-2012-022, §IV-B (b); On Uplink Measurement, §4.3",
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            "umass-tr",
            "§IV-B (b)",
            "A modem that began in 3G stays there for the whole transfer: nothing of 4G is won.",
            "a download goes on as before, while one whose modem switches has more, run by run",
            lambda measured: judging.both(
                _goes_on(measured, "download"), _forgone(measured, "download")
            ),
        ),
        Finding(
            "umass-up",
            "§4.3",
            "Nor is it upwards: Verizon's device stays with 3G until the transfer ends.",
            "an upload goes on as before, while one whose modem switches has more, run by run",
            lambda measured: judging.both(
                _goes_on(measured, "upload"), _forgone(measured, "upload")
            ),
        ),
    ),
    drawings=tuple(
        Drawing(
            f"{direction}-{modem}", "throughput", direction, where={"modem": modem}, of_run=True
        )
        for direction in ROWS
        for modem in ("stays", "switches")
    ),
    remarks=(
        "That modems stay is of the modems, and is what is run; what it costs is found. When the "
        "drive came into 4G is a guess.",
    ),
)
