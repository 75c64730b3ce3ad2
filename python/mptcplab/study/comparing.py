"""Printed rows beside samples: what most experiments compare."""

from __future__ import annotations

from dataclasses import replace

from mptcplab.measurements import Figure
from mptcplab.study import judging, scenes, scoring
from mptcplab.study.experiment import TODAY, Comparison

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from mptcplab.measurements import Multipath, SinglePath
    from mptcplab.study.measured import Measured, Sample

#: Of a row of a single path: our column, and the unit.
SINGLE = {
    "throughput": ("throughput_mbps", "Mbit/s"),
    "rtt": ("rtt_ms_mean", "ms"),
    "loss": ("loss_rate_percent", "%"),
    "throughput_cv": ("coefficient_of_variation", ""),
}
#: Of a subflow.
OF_SUBFLOW = {
    "throughput": ("throughput_mbps", "Mbit/s"),
    "rtt": ("rtt_ms_mean", "ms"),
    "loss": ("loss_rate_percent", "%"),
    "handshake_rtt": ("handshake_rtt_ms", "ms"),
}


def single(
    row: SinglePath, sample: Sample, today: Sample | None, path: str
) -> Iterator[Comparison]:
    """Compare plain TCP over one path, of which the link was calibrated on the very row."""
    link = (scenes.profile(row.id),)
    for what, (column, unit) in SINGLE.items():
        if (printed := getattr(row, what)) is not None:
            ours = sample.figure(column)
            now = today.figure(column) if today else ()
            yield Comparison(row.id, words(what), unit, printed, ours, now, {}, link, fitted=True)
    if row.handshake_rtt is not None:
        ours = sample.subflow(path, 1, "handshake_rtt_ms")
        now = today.subflow(path, 1, "handshake_rtt_ms") if today else ()
        yield Comparison(
            row.id, "handshake RTT", "ms", row.handshake_rtt, ours, now, {}, link, fitted=True
        )


def predicted(one: Comparison, alone: SinglePath, profiles: tuple[str, ...]) -> Comparison:
    """Take a comparison for a prediction by links that were calibrated on another row.

    The naive prediction is that nothing is other than there.
    """
    other = {"handshake RTT": "handshake_rtt", "RTT": "rtt", "CV": "throughput_cv"}
    naive = as_alone(alone, other.get(one.what, one.what))
    return replace(one, naive=naive, profiles=profiles, fitted=False)


def multipath(
    row: Multipath,
    measured: Measured,
    alone: Mapping[str, SinglePath],
    *,
    campaign: str = "main",
    profiles: tuple[str, ...] = (),
    **labels: Any,
) -> Iterator[Comparison]:
    """Compare a multipath row: the connection, its paths, and their subflows.

    ``alone`` has the row of each path by itself, for the naive predictors; a path that was not
    measured so is left out.
    """
    for one in _multipath(row, *samples(measured, campaign, **labels), alone):
        yield replace(one, profiles=profiles)


def whole(
    row: str, printed: float, sample: Sample, today: Sample | None, naive: dict[str, float]
) -> Comparison:
    """Compare the throughput of all paths together."""
    return Comparison(
        row,
        "throughput",
        "Mbit/s",
        Figure(printed),
        sample.figure("throughput_mbps"),
        today.figure("throughput_mbps") if today else (),
        naive,
    )


def _multipath(
    row: Multipath, sample: Sample, today: Sample | None, alone: Mapping[str, SinglePath]
) -> Iterator[Comparison]:
    throughput = {
        path: one.throughput.mean for path, one in alone.items() if one.throughput is not None
    }
    paths = sorted({name.rpartition("-")[0] for name in row.subflows} or throughput)
    complete = set(paths) <= set(throughput)
    if row.aggregate is not None:
        naive = scoring.aggregate(list(throughput.values())) if complete else {}
        if row.best_single_path is not None and naive:
            naive |= dict.fromkeys((scoring.BEST, scoring.EQUAL), row.best_single_path.throughput)
        yield whole(row.id, row.aggregate, sample, today, naive)
    if row.gain_percent is not None:
        best = max(throughput.values())
        yield gain(row.id, row.gain_percent, sample, today, sum(throughput.values()) / best)
    for path, value in row.carrier_aggregates.items():
        naive = scoring.part(throughput, path) if complete else {}
        ours, now = sample.path(path), today.path(path) if today else ()
        yield Comparison(row.id, f"throughput of {path}", "Mbit/s", Figure(value), ours, now, naive)
    for name, subflow in row.subflows.items():
        path, _, number = name.rpartition("-")
        for what, (column, unit) in OF_SUBFLOW.items():
            printed = getattr(subflow, what)
            if printed is None:
                continue
            ours = sample.subflow(path, int(number), column)
            now = today.subflow(path, int(number), column) if today else ()
            if what == "throughput":
                naive = scoring.part(throughput, path, row.subflows_per_path) if complete else {}
            else:
                naive = as_alone(alone.get(path), what)
            yield Comparison(row.id, f"{words(what)} of {name}", unit, printed, ours, now, naive)


def gain(
    row: str, percent: float, sample: Sample, today: Sample | None, sum_of_paths: float
) -> Comparison:
    """Compare a gain over the best single path, as the ratio of the two."""
    ours, now = (
        judging.Ratio(of.figure("throughput_mbps"), of.best_alone()) if of else ()
        for of in (sample, today)
    )
    naive = {scoring.BEST: 1.0, scoring.SUM: sum_of_paths, scoring.EQUAL: 1.0}
    return Comparison(
        row, "ratio to the best alone", "", Figure(1 + percent / 100), ours, now, naive
    )


def samples(
    measured: Measured, campaign: str = "main", **labels: Any
) -> tuple[Sample, Sample | None]:
    """Give the runs with the papers' stack, and those with today's where there are some."""
    sample = measured.sample(campaign, **labels)
    today = measured.sample(campaign, TODAY, **labels)
    return sample, today if today.runs.height else None


def as_alone(row: SinglePath | None, what: str) -> dict[str, float]:
    """Predict that a figure is as of plain TCP over the path."""
    printed = getattr(row, what, None)
    return {} if printed is None else {scoring.ALONE: printed.mean}


def words(what: str) -> str:
    """Name a figure as people do."""
    named = {"rtt": "RTT", "handshake_rtt": "handshake RTT", "throughput_cv": "CV"}
    return named.get(what, what)
