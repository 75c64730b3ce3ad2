"""Printed numbers beside ours: rows of measurements, and the quantities of runs that they are of.

An experiment lists what it compares; the first key of each says how (``KINDS``).
"""

from __future__ import annotations

from dataclasses import replace

from mptcplab import measurements
from mptcplab.measurements import Figure
from mptcplab.study import scoring
from mptcplab.study.campaigns import PATH, inherited, rows
from mptcplab.study.experiment import TODAY, Comparison
from mptcplab.study.links import is_row, profile
from mptcplab.study.quantities import Scope, unit, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from mptcplab.measurements import Multipath, SinglePath
    from mptcplab.study.judging import Ratio
    from mptcplab.study.measured import Measured

    Table = dict[str, Any]

#: Of each figure that a row of a single path, or a subflow, may have: our column.
COLUMNS = {
    "throughput": "throughput_mbps",
    "rtt": "rtt_ms_mean",
    "loss": "loss_rate_percent",
    "throughput_cv": "coefficient_of_variation",
    "handshake_rtt": "handshake_rtt_ms",
}
#: Figures as people name them.
NAMES = {"rtt": "RTT", "handshake_rtt": "handshake RTT", "throughput_cv": "CV"}


def compare(
    measured: Measured, listed: Sequence[Table], campaigns: dict[str, Table]
) -> Iterator[Comparison]:
    """Compare all that an experiment lists."""
    for table in listed:
        kind = next(iter(table))
        yield from KINDS[kind](measured, table, inherited(campaigns))


def _singles(measured: Measured, table: Table, campaigns: dict[str, Table]) -> Iterator[Comparison]:
    """Compare each figure of each row of a campaign over single paths."""
    campaign = table["singles"]
    for row in rows(campaigns[campaign]["rows"]):
        scope = Scope(campaign, {"row": row.id})
        for one in _of_single(measured, row, scope):
            other = table.get("instead", {}).get(one.what)
            yield replace(one, ours=values(measured, other, scope), today=()) if other else one


def _single(measured: Measured, table: Table, _: dict[str, Table]) -> Iterator[Comparison]:
    """Compare a row over the link of another row.

    The naive prediction is that nothing is other than there.
    """
    data = measurements.load().single_path
    other = data[table["over"]]
    attributes = {_name(what): what for what in COLUMNS}
    for one in _of_single(measured, data[table["single"]], Scope().narrowed(table)):
        naive = _as_alone(other, attributes[one.what])
        yield replace(one, naive=naive, links=(profile(other.id),), fitted=False)


def _of_single(measured: Measured, row: SinglePath, scope: Scope) -> Iterator[Comparison]:
    """Compare plain TCP over one path, of which the link was calibrated on the very row."""
    for what, column in COLUMNS.items():
        if (printed := getattr(row, what)) is None:
            continue
        of_handshake = what == "handshake_rtt"
        quantity = {"subflow": [PATH, 1, column]} if of_handshake else {"figure": column}
        found = _compared(measured, row.id, _name(what), printed, quantity, scope)
        yield replace(found, links=(profile(row.id),), fitted=True)


def _by_size(measured: Measured, table: Table, _: dict[str, Table]) -> Iterator[Comparison]:
    """Compare plain TCP over a path, by the size of the download."""
    row = measurements.load().single_path[table["by_size"]]
    for number, size in enumerate(row.sizes):
        scope = Scope().narrowed(table).narrowed({"with": {"size": size}})
        for what, printed in (("loss", row.loss_by_size), ("rtt", row.rtt_by_size)):
            quantity = {"alone": [table["path"], COLUMNS[what]]}
            name = f"{_name(what)} of {size}"
            found = _compared(measured, row.id, name, printed[number], quantity, scope)
            yield replace(found, links=(profile(row.id),), fitted=True)


def _multipath(
    measured: Measured, table: Table, campaigns: dict[str, Table]
) -> Iterator[Comparison]:
    """Compare a multipath row: the connection, its paths, and their subflows."""
    row = measurements.load().multipath[table["multipath"]]
    scope = Scope().narrowed(table)
    paths = campaigns[scope.campaign]["paths"]
    for one in _of_multipath(measured, row, _alone(paths), scope):
        yield replace(one, links=tuple(map(profile, paths.values())))


def _of_multipath(
    measured: Measured, row: Multipath, alone: dict[str, SinglePath], scope: Scope
) -> Iterator[Comparison]:
    rates = _rates(alone)
    paths = {name.rpartition("-")[0] for name in row.subflows} or set(rates)
    complete = paths <= set(rates)
    if row.aggregate is not None:
        naive = scoring.aggregate(list(rates.values())) if complete else {}
        if row.best_single_path is not None and naive:
            naive |= scoring.best(row.best_single_path.throughput)
        yield _whole(measured, row.id, row.aggregate, scope, naive)
    if row.gain is not None:
        yield _of_gain(measured, row.id, row.gain, scope, rates)
    for path, value in row.carrier_aggregates.items():
        naive = scoring.part(rates, path) if complete else {}
        what = f"throughput of {path}"
        yield _compared(measured, row.id, what, Figure(value), {"path": path}, scope, naive)
    for name, subflow in row.subflows.items():
        path, _, number = name.rpartition("-")
        for figure, column in COLUMNS.items():
            printed = getattr(subflow, figure, None)
            if printed is None:
                continue
            if figure == "throughput":
                naive = scoring.part(rates, path, row.subflows_per_path) if complete else {}
            else:
                naive = _as_alone(alone.get(path), figure)
            quantity = {"subflow": [path, int(number), column]}
            what = f"{_name(figure)} of {name}"
            found = _compared(measured, row.id, what, printed, quantity, scope, naive)
            # One of a path's subflows may well carry more than its part.
            yield replace(found, beyond=None)


def _settings(
    measured: Measured, table: Table, campaigns: dict[str, Table]
) -> Iterator[Comparison]:
    """Show the connection and what each path carries, with each setting: that is in no score."""
    row = measurements.load().multipath[table["settings"]]
    campaign = campaigns[table["in"]]
    assert row.aggregate is not None  # noqa: S101 - the row prints it
    figures: dict[str, tuple[float, Table]] = {
        "throughput": (row.aggregate, {"figure": COLUMNS["throughput"]})
    }
    for path, rate in row.carrier_aggregates.items():
        figures[f"throughput of {path}"] = (rate, {"path": path})
    for setting in campaign["axis"]["setting"]["points"]:
        scope = Scope(table["in"], {"setting": setting})
        for what, (printed, quantity) in figures.items():
            name = f"{what}, {setting.replace('-', ' ')}"
            found = _compared(measured, row.id, name, Figure(printed), quantity, scope)
            links = tuple(map(profile, campaign["paths"].values()))
            yield replace(found, links=links, scored=False, today=())


def _drive(measured: Measured, table: Table, campaigns: dict[str, Table]) -> Iterator[Comparison]:
    """Compare the average over a drive, and the gain over the best single path."""
    row = measurements.load().mobile[table["drive"]]
    assert row.aggregate is not None  # noqa: S101 - the row prints it
    rates = _rates(_alone(campaigns["main"]["paths"]))
    if row.gain is None:
        naive = scoring.best(row.best_single_path["throughput"])
        yield _whole(measured, row.id, row.aggregate, Scope(), naive)
    else:
        naive = scoring.aggregate(list(rates.values()))
        yield _whole(measured, row.id, row.aggregate, Scope(), naive)
        yield _of_gain(measured, row.id, row.gain, Scope(), rates)


def _phases(measured: Measured, table: Table, _: dict[str, Table]) -> Iterator[Comparison]:
    """Compare each phase of a drive.

    ``alone`` has the rows of its paths, one list for each phase; the last may end with the run.
    """
    data = measurements.load()
    row = data.mobile[table["phases"]]
    for phase, names in zip(row.phases, table["alone"], strict=True):
        end_s = min(phase.end_s, table["end_s"])
        rates = _rates({name: data.single_path[name] for name in names})
        naive = scoring.aggregate(list(rates.values())) if rates else {}
        if phase.best_single_path is not None and naive:
            naive |= scoring.best(phase.best_single_path)
        what = f"throughput in {phase.start_s:g} to {end_s:g} s: {phase.what}"
        quantity = {"between": [phase.start_s, end_s]}
        printed = Figure(phase.throughput)
        found = _compared(measured, row.id, what, printed, quantity, Scope(), naive)
        yield replace(found, links=tuple(map(profile, names)))


def _quantity(
    measured: Measured, table: Table, campaigns: dict[str, Table]
) -> Iterator[Comparison]:
    """Compare a quantity with a value that was printed."""
    scope = Scope().narrowed(table)
    printed = table["printed"]
    if isinstance(printed, str):
        printed = measurements.printed(f"{table['row']}:{printed}")
    found = _compared(
        measured, table["row"], table["what"], Figure(printed), table["quantity"], scope
    )
    if "part" in table:
        paths = campaigns[scope.campaign]["paths"]
        links = tuple(map(profile, paths.values()))
        naive = scoring.part(_rates(_alone(paths)), table["part"])
        found = replace(found, naive=naive, links=links)
    yield replace(found, remark=table.get("remark"))


KINDS = {
    "singles": _singles,
    "single": _single,
    "by_size": _by_size,
    "multipath": _multipath,
    "settings": _settings,
    "drive": _drive,
    "phases": _phases,
    "quantity": _quantity,
}


def _whole(
    measured: Measured, row: str, printed: float, scope: Scope, naive: dict[str, float]
) -> Comparison:
    """Compare the throughput of all paths together."""
    quantity = {"figure": COLUMNS["throughput"]}
    return _compared(measured, row, "throughput", Figure(printed), quantity, scope, naive)


def _of_gain(
    measured: Measured, row: str, printed: float, scope: Scope, rates: dict[str, float]
) -> Comparison:
    """Compare a gain over the best single path, as the ratio of the two."""
    quantity = {"ratio": [{"figure": COLUMNS["throughput"]}, {"best_alone": True}]}
    alone = rates.values()
    naive = {scoring.BEST: 1.0, scoring.SUM: sum(alone) / max(alone), scoring.EQUAL: 1.0}
    what = "ratio to the best alone"
    return _compared(measured, row, what, Figure(printed), quantity, scope, naive)


def _compared(
    measured: Measured,
    row: str,
    what: str,
    printed: Figure,
    quantity: Table,
    scope: Scope,
    naive: dict[str, float] | None = None,
) -> Comparison:
    """Compare a quantity, with the papers' stack, and with today's where that was run."""
    ours = values(measured, quantity, scope)
    today: Sequence[float | None] | Ratio = ()
    now = replace(scope, stack=TODAY)
    if any(sample.runs.height for sample in now.samples(measured)):
        today = values(measured, quantity, now)
    together = (naive or {}).get(scoring.SUM)
    beyond = together if together is not None and printed.mean > together else None
    return Comparison(row, what, unit(quantity), printed, ours, today, naive or {}, beyond=beyond)


def _alone(paths: dict[str, str]) -> dict[str, SinglePath]:
    """Give the rows of paths by themselves; of a path that was not measured so there is none."""
    data = measurements.load().single_path
    return {path: data[link] for path, link in paths.items() if is_row(link)}


def _rates(alone: dict[str, SinglePath]) -> dict[str, float]:
    return {path: row.throughput.mean for path, row in alone.items() if row.throughput is not None}


def _as_alone(row: SinglePath | None, what: str) -> dict[str, float]:
    """Predict that a figure is as of plain TCP over the path."""
    printed = getattr(row, what, None)
    return {} if printed is None else {scoring.ALONE: printed.mean}


def _name(what: str) -> str:
    return NAMES.get(what, what)
