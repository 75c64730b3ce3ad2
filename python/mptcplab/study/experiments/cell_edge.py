"""Uploads at the edge of a WiMAX cell, alone and together with Wi-Fi."""

from __future__ import annotations

import math

from mptcplab import measurements
from mptcplab.measurements import Figure
from mptcplab.study import comparing, judging, scenes, singles
from mptcplab.study.experiment import Comparison, Drawing, Experiment, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Extent
    from mptcplab.study.judging import Verdict
    from mptcplab.study.measured import Measured, Sample

PAPER = "naist"
LINKS = {
    "a": {"wimax": scenes.profile("naist/A/wimax"), "wifi": "wifi-edge-weak"},
    "b": {"wimax": scenes.profile("naist/B/wimax"), "wifi": "wifi-edge-strong"},
}
ROWS = {"a": "naist/A/wimax-wifi", "b": "naist/B/wimax-wifi"}
DURATION_S = 300


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """WiMAX alone at both places, and both together."""
    alone = singles.rows(PAPER, (None,))
    together = {
        place: scenes.campaign(
            scenes.scenario(links, "upload", duration=f"{DURATION_S} s"),
            extent,
            extent.repetitions(30, 5),
            title=f"WiMAX and Wi-Fi at location {place.upper()}",
            tables=["throughput"],
        )
        for place, links in LINKS.items()
    }
    single = singles.campaign(alone, extent, extent.repetitions(30, 5), "WiMAX alone")
    return {"alone": single | {"tables": ["throughput"]}, **together}


def compare(measured: Measured) -> Iterator[Comparison]:
    """WiMAX alone, and what the figures say of both together."""
    data = measurements.load()
    for row in singles.rows(PAPER, (None,)):
        for one in singles.compare([row], measured, "alone"):
            if one.what == "CV":
                yield _varying(row, measured.sample("alone", row=row.id))
            else:
                yield one
    for place, name in ROWS.items():
        yield from _together(data.multipath[name], measured, place)


def _together(row: measurements.Multipath, measured: Measured, place: str) -> Iterator[Comparison]:
    sample, today = comparing.samples(measured, place)

    def one(what: str, unit: str, printed: float, figures: Any) -> Comparison:
        now = figures(today) if today else ()
        return Comparison(row.id, what, unit, Figure(printed), figures(sample), now)

    assert row.aggregate is not None and row.rtt is not None  # noqa: S101, PT018 - it prints them
    yield one("throughput", "Mbit/s", row.aggregate, lambda of: of.figure("throughput_mbps"))
    yield one("RTT", "ms", row.rtt, lambda of: of.figure("rtt_ms_mean"))
    wimax = row.wimax["throughput"]
    yield one("throughput of wimax", "Mbit/s", wimax, lambda of: of.path("wimax"))
    variation = row.wimax["throughput_cv"]
    assert row.wifi_rtt is not None  # noqa: S101 - it prints it
    wifi = row.wifi_rtt
    yield one("RTT of wifi alone", "ms", wifi, lambda of: of.alone("wifi", "rtt_ms_mean"))
    yield one("CV of wimax", "", variation, lambda of: variations(of, "wimax"))
    above, below = row.share_above_diagonal_percent, row.share_below_diagonal_percent
    if above is not None:
        yield one("samples with more over wimax", "%", above, lambda of: ahead(of, "wimax", "wifi"))
    if below is not None:
        yield one("samples with more over wifi", "%", below, lambda of: ahead(of, "wifi", "wimax"))


def _varying(row: measurements.SinglePath, sample: Sample) -> Comparison:
    assert row.throughput_cv is not None  # noqa: S101 - it prints it
    ours = variations(sample, singles.PATH)
    link = (scenes.profile(row.id),)
    return Comparison(row.id, "CV", "", row.throughput_cv, ours, profiles=link, fitted=True)


def variations(sample: Sample, path: str) -> list[float | None]:
    """Give the coefficient of variation of each run's throughput, of bins of 1 s as they are."""
    found = {}
    for (run,), bins in sample.bins(path).group_by("run"):
        carried = dict(zip(bins["at_s"].round(0).to_list(), bins["bytes"].to_list(), strict=True))
        series = [carried.get(float(second), 0) for second in range(DURATION_S)]
        mean = sum(series) / len(series)
        square = sum((one - mean) ** 2 for one in series) / (len(series) - 1)
        found[run] = math.sqrt(square) / mean if mean else None
    return [found.get(run) for run in sample.runs["run"]]


def ahead(sample: Sample, first: str, second: str) -> list[float | None]:
    """Give the percentage of seconds in which a path carries more than another, of each run."""
    one, other = (sample.bins(path) for path in (first, second))
    both = one.join(other, on=["run", "at_s"], how="full", coalesce=True, suffix="_other")
    filled = both.fill_null(0)
    found = {
        run: 100 * int((bins["bytes"] > bins["bytes_other"]).sum()) / bins.height
        for (run,), bins in filled.group_by("run")
    }
    return [found.get(run) for run in sample.runs["run"]]


def _more(measured: Measured, place: str) -> Verdict:
    sample = measured.sample(place)
    ours = sample.figure("throughput_mbps")
    printed = measurements.load().multipath[ROWS[place]].aggregate
    assert printed is not None  # noqa: S101 - the row prints it
    more = judging.more(ours, sample.alone("wimax"), "MPTCP, WiMAX alone", "Mbit/s")
    return judging.sized(more, ours, printed, "it has", "Mbit/s")


def _shorter(measured: Measured, place: str) -> Verdict:
    sample = measured.sample(place)
    ours, alone = sample.figure("rtt_ms_mean"), sample.alone("wimax", "rtt_ms_mean")
    percent = measurements.load().multipath[ROWS[place]].rtt_reduction_percent
    assert percent is not None  # noqa: S101 - the row prints it
    shorter = judging.more(alone, ours, f"at {place.upper()}, WiMAX alone, MPTCP", "ms")
    return judging.sized(shorter, judging.Ratio(ours, alone), 1 - percent / 100, "the ratio")


def _as_much(measured: Measured) -> Verdict:
    sample = measured.sample("a")
    ratio = judging.Ratio(sample.path("wimax"), sample.alone("wimax"))
    return judging.above(ratio, 0.9, "WiMAX within MPTCP / alone at A")


def _sporadic(measured: Measured) -> Verdict:
    strong, weak = (variations(measured.sample(place), "wimax") for place in ("b", "a"))
    return judging.more(strong, weak, "CV of WiMAX at B, at A")


EXPERIMENT = Experiment(
    name="cell-edge",
    title="uploads at the edge of a WiMAX cell, alone and with Wi-Fi, weak (A) and strong (B)",
    reproduces="Uplink Throughput Improvement at Cell Edge, figures 2 to 6",
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            PAPER,
            "§V-B, figure 4",
            "At A, with Wi-Fi near its cut-off, MPTCP has more than WiMAX: 1.6 against 1.1 Mbit/s.",
            "MPTCP is faster, run by run",
            lambda measured: _more(measured, "a"),
            tuple(LINKS["a"].values()),
        ),
        Finding(
            PAPER,
            "§V-B, figure 4",
            "At B, with strong Wi-Fi, it has many times as much: 6.1 against 0.18 Mbit/s.",
            "MPTCP is faster, run by run",
            lambda measured: _more(measured, "b"),
            tuple(LINKS["b"].values()),
        ),
        Finding(
            PAPER,
            "§V-D, figure 6",
            "Round trips of the connection are shorter than WiMAX's: by 23 % at A, 70 % at B.",
            "the mean over all subflows is below that of plain TCP over WiMAX, at both",
            lambda measured: judging.both(*(_shorter(measured, place) for place in LINKS)),
        ),
        Finding(
            PAPER,
            "§V-A",
            "WiMAX carries as much within MPTCP as alone.",
            "at A it carries more than 90 % of that",
            _as_much,
            tuple(LINKS["a"].values()),
        ),
        Finding(
            PAPER,
            "§V-A, figure 3",
            "Beside strong Wi-Fi WiMAX carries something only now and then: it varies most at B.",
            "the coefficient of variation at B is above that at A",
            _sporadic,
        ),
    ),
    drawings=(
        Drawing("figure-2", "bars", "alone", by=("row",), value="throughput_mbps"),
        Drawing("figure-3", "bars", "alone", by=("row",)),
        *(
            Drawing(f"figure-{figure}-{place}", "bars", place, value=value)
            for figure, value in ((4, "throughput_mbps"), (6, "rtt_ms_mean"))
            for place in LINKS
        ),
        *(Drawing(f"figure-5-{place}", "path-scatter", place, of_run=True) for place in LINKS),
        Drawing("rtt-a", "rtt-ccdf", "a"),
        Drawing("rtt-b", "rtt-ccdf", "b"),
    ),
)
