"""Rows of single paths as one campaign: plain TCP over each link that was calibrated on one."""

from __future__ import annotations

from mptcplab import measurements
from mptcplab.calibration import rows as calibrated
from mptcplab.study import comparing, scenes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from mptcplab.measurements import SinglePath
    from mptcplab.study.experiment import Comparison, Extent
    from mptcplab.study.measured import Measured

PATH = "path"
#: Plain TCP over the only path.
PLAIN = {"mptcp.enabled": False}


def rows(paper: str, tables: Sequence[str | None]) -> list[SinglePath]:
    """Give the rows of tables of a paper."""
    there = measurements.load().single_path.values()
    return [row for row in there if row.paper == paper and row.table in tables]


def campaign(
    of: Sequence[SinglePath], extent: Extent, repetitions: int, title: str
) -> dict[str, Any]:
    """Run each row: its link, its amount, its window."""
    points = {row.id: _point(row) for row in of}
    scene = scenes.scenario({PATH: scenes.profile(of[0].id)}, of[0].direction, size="1 MB")
    return scenes.campaign(
        scene,
        extent,
        repetitions,
        title=title,
        both=PLAIN,
        baselines=False,
        axes={"row": {"points": points}},
    )


def compare(
    of: Sequence[SinglePath], measured: Measured, campaign: str = "main"
) -> Iterator[Comparison]:
    """Compare each figure of each row."""
    for row in of:
        sample, today = comparing.samples(measured, campaign, row=row.id)
        yield from comparing.single(row, sample, today, PATH)


def settings(row: SinglePath) -> dict[str, Any]:
    """Give what the row says of the ends: its receive window, its largest segment."""
    tcp = calibrated.subject(row.id).tcp
    # Stacks have it already.
    return {f"tcp.{key}": value for key, value in tcp.items() if key != "congestion_control"}


def _point(row: SinglePath) -> dict[str, Any]:
    amount = {"transfer.duration": row.duration} if row.duration else {"transfer.size": row.size}
    return {f"link.{PATH}.profile": scenes.profile(row.id), **amount, **settings(row)}
