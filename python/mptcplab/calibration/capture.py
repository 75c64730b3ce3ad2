"""A capture of plain TCP as what is calibrated."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from mptcplab import _core
from mptcplab._core import Error
from mptcplab.calibration import losses
from mptcplab.calibration.measure import DATA_DIRECTIONS, of_tables
from mptcplab.calibration.subject import Subject
from mptcplab.calibration.target import FIGURES, Target
from mptcplab.labels.connections import is_mptcp
from mptcplab.labels.text import size
from mptcplab.scenario.endpoint import DEFAULT_ERA

DIRECTIONS = {data: direction for direction, data in DATA_DIRECTIONS.items()}
CONTROLLER = "cubic-linux"
# Shorter ones tell of slow start, hardly of the link.
LEAST_BYTES = 100_000
# Of n packets none was lost: with a confidence of 95 % less than 3 of n are (the rule of three).
NONE_OF = 3


def subject(
    captures: str | PathLike[str] | Iterable[str | PathLike[str]],
    *,
    controller: str | None = None,
    era: str | None = None,
) -> Subject:
    """Give what the largest transfer in captures shows."""
    if isinstance(captures, str | PathLike):
        captures = [captures]
    files = [fspath(one) for one in captures]
    tables = _core.analyze(files)
    transfer = _largest(tables, files)
    from mptcplab.results import run_metrics

    shown = of_tables(tables.only(transfer["connection"]), transfer["direction"])
    (flow,) = run_metrics.of_transfer(tables.rows("flows"), transfer)
    targets = _targets(shown, flow["data_packets"], files)
    lost = losses.apart(tables, flow)
    direction = DIRECTIONS[transfer["direction"]]
    beside = _beside(files, transfer["direction"])
    era = era or beside["era"] or DEFAULT_ERA
    usual = "reno" if era == "2012" else CONTROLLER
    return Subject(
        name=Path(files[0]).stem,
        title=f"as plain TCP met it in {Path(files[0]).name}: {direction}s",
        origin={"kind": "calibrated", "row": ", ".join(Path(file).name for file in files)},
        technology="",
        direction=direction,
        targets=targets,
        taken=f"connection {transfer['connection']}, a {direction} of {size(transfer['bytes'])}",
        diagnostics=_diagnostics(tables, transfer["connection"]),
        transfers=({"direction": direction, "size": f"{transfer['bytes']} B"},),
        mptcp={"era": era},
        loss_percent=lost.percent,
        burst_packets=lost.burst_packets,
        base_rtt_ms=flow["rtt_ms_min"],
        tcp={"congestion_control": controller or beside["congestion_control"] or usual},
        sender_known=controller is None and beside["congestion_control"] is not None,
    )


def _beside(files: list[str], direction: str) -> dict[str, str | None]:
    """Give what the sender had, if the captures lie in a run directory, and simulations have it."""
    from mptcplab.results import policies
    from mptcplab.results.run import ABOUT, open_run
    from mptcplab.scenario import policy

    unknown: dict[str, str | None] = {"congestion_control": None, "era": None}
    directory, *others = {Path(file).parent for file in files}
    if others or not (directory / ABOUT).exists():
        return unknown
    sender = policies.of_sender(open_run(directory), direction)
    known = sender["congestion_control"] in policy.known("congestion_control")
    return sender if known else unknown


def _largest(tables: _core.Tables, files: list[str]) -> dict[str, Any]:
    named = ", ".join(files)
    connections = list(tables.rows("connections"))
    plain = {row["connection"] for row in connections if row["protocol"] == "tcp"}
    rows = [row for row in tables.rows("transfers") if row["connection"] in plain]
    largest = max(rows, key=lambda row: row["bytes"] or 0, default=None)
    if largest is None or (largest["bytes"] or 0) < LEAST_BYTES:
        raise Error(_nothing(named, mptcp=any(map(is_mptcp, connections))))
    return largest


def _nothing(named: str, *, mptcp: bool) -> str:
    least = f"transfer over plain TCP of {LEAST_BYTES // 1000} kB or more"
    if mptcp:
        return (
            f"{named}: holds MPTCP, and no {least}: what a subflow carries is the scheduler's and "
            "the other subflows' doing as much as the path's; record plain TCP over one path, the "
            "longer the better"
        )
    return (
        f"{named}: holds no {least}, which calibration needs: record one (without MPTCP), the "
        "longer the better"
    )


def _targets(shown: dict[str, float | None], packets: int, files: list[str]) -> tuple[Target, ...]:
    if shown["rtt"] is None or shown["loss"] is None:
        raise Error(
            f"{', '.join(files)}: has no round-trip times and no losses: they belong to the end "
            "that sends the data; capture there, or at both ends"
        )
    if shown["throughput"] is None:
        raise Error(f"{', '.join(files)}: the transfer took no time that could be measured")
    targets = {figure: Target(figure, value) for figure in FIGURES if (value := shown[figure])}
    if "loss" not in targets:
        targets["loss"] = Target("loss", 100 * NONE_OF / packets, below=True)
    return tuple(targets.values())


def _diagnostics(tables: _core.Tables, connection: int) -> tuple[dict[str, Any], ...]:
    rows = tables.rows("diagnostics")
    return tuple(row for row in rows if row["connection"] in (None, connection))
