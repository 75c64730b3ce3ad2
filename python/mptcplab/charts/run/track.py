"""Where the client was, without a map: its positions in metres, and what happened there."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from itertools import pairwise

import polars as pl

from mptcplab.charts.columns import definitions, numbers
from mptcplab.charts.run.radio import chosen, during
from mptcplab.charts.run.subject import Subject
from mptcplab.charts.shape import Series, Track

# Mean radius of the earth (IUGG): a plane that touches it is right to a few parts in a thousand
# over what a transfer's time takes to cross.
RADIUS_M = 6_371_008.8
# A sample of a radio is not taken for what was there for longer than this.
NEAR_SECONDS = 5.0
# Bounds between the classes of signals, the best first.
CLASSES = {"rsrp_dbm": (-80, -90, -100, -110), "rssi_dbm": (-50, -60, -70, -80)}
NAMES = {"rsrp_dbm": "RSRP", "rssi_dbm": "RSSI"}


def by_path(subject: Subject) -> Track | None:
    """Positions of the client by the path that carried most there."""
    positions = projected(subject)
    if positions is None:
        return None
    most = _most(subject)
    joined = positions.join_asof(most, on="at_s", strategy="backward")
    series = [
        _points(name, joined.filter(subflow=number), subflow=number)
        for number, name in subject.names.items()
    ]
    for one in series:
        one.look = subject.looks[one.subflow or 0]
    series.append(_points("nothing", joined.filter(pl.col("subflow").is_null())))
    return Track(
        "Track by path",
        "A point per position of the client, in metres east and north of the first one, in the "
        "colour of the subflow over which most new bytes came in the bin of throughput that it "
        "falls into. The line joins the positions in the order of time.",
        definitions("positions", "source", "at_s", "latitude_deg", "longitude_deg")
        + definitions("throughput", "at_s", "subflow", "bytes"),
        line=_line(positions),
        series=[one for one in series if len(one.x)],
        graded=False,
    )


def by_signal(subject: Subject) -> Track | None:
    """Positions of the client by the signal of a path's radio there."""
    positions = projected(subject)
    found = None if positions is None else _signal(subject)
    if positions is None or found is None:
        return None
    path, column, samples = found
    joined = positions.join_asof(samples, on="at_s", strategy="nearest", tolerance=NEAR_SECONDS)
    bounds = CLASSES[column]
    edges = [math.inf, *bounds, -math.inf]
    series = []
    for number, (upper, lower) in enumerate(pairwise(edges)):
        name = f"below {bounds[-1]} dBm" if lower == -math.inf else f"from {lower} dBm"
        inside = (pl.col("signal") >= lower) & (pl.col("signal") < upper)
        series.append(_points(name, joined.filter(inside), subflow=number))
    series.append(_points("unknown", joined.filter(pl.col("signal").is_null())))
    return Track(
        f"Track by signal of {path}",
        f"A point per position of the client, in metres east and north of the first one, in the "
        f"shade of the {NAMES[column]} that was sampled nearest to its time, at most "
        f"{NEAR_SECONDS:g} s from it; the path is the one with most samples. The line joins the "
        "positions in the order of time.",
        definitions("positions", "source", "at_s", "latitude_deg", "longitude_deg")
        + definitions("radio", "path", "at_s", column),
        line=_line(positions),
        series=[one for one in series if len(one.x)],
        graded=True,
    )


#: By their names on the page and as figures.
TRACKS: dict[str, Callable[[Subject], Track | None]] = {
    "track": by_path,
    "track-signal": by_signal,
}


def tracks(subject: Subject) -> list[Track]:
    """Describe all of them."""
    described = []
    for name, describe in TRACKS.items():
        if (track := describe(subject)) is not None:
            track.id = name
            described.append(track)
    return described


def projected(subject: Subject) -> pl.DataFrame | None:
    """Give ``at_s``, ``east_m`` and ``north_m`` of the positions; none where there are none."""
    positions = during(subject, "positions")
    if positions.is_empty():
        return None
    latitude, longitude = (
        positions.row(0, named=True)["latitude_deg"],
        positions["longitude_deg"][0],
    )
    # Across the 180th meridian the shorter way round.
    east = (pl.col("longitude_deg") - longitude + 180).mod(360) - 180
    north = pl.col("latitude_deg") - latitude
    return positions.select(
        pl.col("at_s").set_sorted(),
        east_m=east * (math.pi / 180 * RADIUS_M * math.cos(math.radians(latitude))),
        north_m=north * (math.pi / 180 * RADIUS_M),
    )


def _most(subject: Subject) -> pl.DataFrame:
    """Give the subflow with most bytes of each bin; none where nothing came."""
    bins = subject.table("throughput")
    bare = bins.filter(pl.col("subflow").is_null()).select("at_s", bytes=pl.lit(0, pl.UInt64))
    own = bins.drop_nulls("subflow").select("at_s", "bytes", "subflow")
    together = pl.concat([own.filter(pl.col("bytes") > 0), bare], how="diagonal")
    return (
        together.sort("bytes", descending=True, maintain_order=True)
        .group_by("at_s", maintain_order=True)
        .first()
        .select("at_s", "subflow")
        .sort("at_s")
    )


def _signal(subject: Subject) -> tuple[str, str, pl.DataFrame] | None:
    """Give the path with most samples, the column that is shown of it, and the samples."""
    radio = during(subject, "radio")
    best: tuple[str, str, pl.DataFrame] | None = None
    for (path,), own in radio.group_by("path", maintain_order=True):
        column = chosen(own, tuple(CLASSES))
        if column is None:
            continue
        samples = own.drop_nulls(column).select("at_s", signal=pl.col(column)).sort("at_s")
        if best is None or samples.height > best[2].height:
            best = str(path), column, samples
    return best


def _points(name: str, positions: pl.DataFrame, subflow: int | None = None) -> Series:
    x, y = _metres(positions)
    return Series(name, "points", x, y, subflow=subflow)


def _line(positions: pl.DataFrame) -> Series:
    x, y = _metres(positions)
    return Series("track", "line", x, y, role="limit")


def _metres(positions: pl.DataFrame) -> tuple[array[float], array[float]]:
    return numbers(positions["east_m"]), numbers(positions["north_m"])
