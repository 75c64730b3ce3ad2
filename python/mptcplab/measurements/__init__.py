"""What the papers measured and printed: rows by their id, from ``measurements.toml``.

Throughput in Mbit/s, times in milliseconds, loss in percent, sizes as text with a unit.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, field
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

from mptcplab._core import Error
from mptcplab.measurements import shape
from mptcplab.messages import quoted
from mptcplab.reading import read_text

HERE = Path(__file__).parent / "measurements.toml"


@dataclass(frozen=True)
class Figure:
    """A figure as it was printed."""

    mean: float
    #: Standard deviation; what it is over says ``Measurements.spread``.
    sd: float | None = None
    #: Standard error of the mean.
    se: float | None = None
    #: Whether only a bound was printed: the value is below ``mean``.
    below: bool = False


@dataclass(frozen=True)
class SinglePath:
    """Plain TCP over one path."""

    id: str
    paper: str
    carrier: str
    technology: str
    mobility: str
    direction: str
    table: str | None = None
    place: str | None = None
    controller: str | None = None
    size: str | None = None
    duration: str | None = None
    tool: str | None = None
    receive_window: str | None = None
    max_uplink_mss: int | None = None
    throughput: Figure | None = None
    rtt: Figure | None = None
    loss: Figure | None = None
    handshake_rtt: Figure | None = None
    #: Coefficient of variation of the throughput over time.
    throughput_cv: Figure | None = None
    #: Where figures are printed by the size of the download, in the order of ``sizes``.
    sizes: tuple[str, ...] = ()
    loss_by_size: tuple[Figure, ...] = ()
    rtt_by_size: tuple[Figure, ...] = ()
    radio: dict[str, float] = field(default_factory=dict)
    note: str | None = None


@dataclass(frozen=True)
class Subflow:
    """A subflow of a multipath row."""

    throughput: Figure
    rtt: Figure
    loss: Figure | None = None
    handshake_rtt: Figure | None = None


@dataclass(frozen=True)
class Alone:
    """What a paper compares a multipath row with."""

    path: str
    throughput: float


@dataclass(frozen=True)
class Multipath:
    """A transfer over several paths of which nothing moved."""

    id: str
    paper: str
    direction: str
    table: str | None = None
    place: str | None = None
    controller: str | None = None
    size: str | None = None
    duration: str | None = None
    subflows_per_path: int = 1
    aggregate: float | None = None
    best_single_path: Alone | None = None
    baseline: Alone | None = None
    gain_percent: float | None = None
    carrier_aggregates: dict[str, float] = field(default_factory=dict)
    subflows: dict[str, Subflow] = field(default_factory=dict)
    rtt: float | None = None
    rtt_reduction_percent: float | None = None
    wifi_rtt: float | None = None
    share_above_diagonal_percent: float | None = None
    share_below_diagonal_percent: float | None = None
    wimax: dict[str, float] = field(default_factory=dict)
    disconnect: dict[str, Any] = field(default_factory=dict)

    @property
    def gain(self) -> float | None:
        """Throughput over that of the best single path."""
        return None if self.gain_percent is None else 1 + self.gain_percent / 100

    @property
    def rtt_ratio(self) -> float | None:
        """Round-trip time over that of the path alone."""
        reduction = self.rtt_reduction_percent
        return None if reduction is None else 1 - reduction / 100


@dataclass(frozen=True)
class Phase:
    """A part of a drive, in seconds from its start; the last may have no end (infinite)."""

    start_s: float
    end_s: float
    what: str
    throughput: float
    best_single_path: float | None = None


@dataclass(frozen=True)
class Mobile:
    """A transfer over several paths on the move."""

    id: str
    paper: str
    figures: tuple[str, ...]
    direction: str
    table: str | None = None
    size: str | None = None
    paths: tuple[str, ...] = ()
    phases: tuple[Phase, ...] = ()
    aggregate: float | None = None
    #: Throughput by the path's name, or by what happened (``before``, ``after``).
    best_single_path: dict[str, Any] = field(default_factory=dict)
    gain_percent: float | None = None
    note: str | None = None

    @property
    def gain(self) -> float | None:
        """Throughput over that of the best single path."""
        return None if self.gain_percent is None else 1 + self.gain_percent / 100


@dataclass(frozen=True)
class Paper:
    """A paper, and how it measured."""

    id: str
    title: str
    source: str
    #: What contradicts what in its own numbers.
    inconsistent: tuple[str, ...] = ()
    #: Everything else that is known of its set-up.
    setup: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Measurements:
    """All that was measured."""

    papers: dict[str, Paper]
    #: By paper, what a standard deviation is over: ``runs``, ``samples``, ``unknown``.
    spread: dict[str, str]
    single_path: dict[str, SinglePath]
    multipath: dict[str, Multipath]
    mobile: dict[str, Mobile]
    #: Tables of what is not one number, as in the file.
    findings: dict[str, Any]


@cache
def load(file: str | PathLike[str] = HERE) -> Measurements:
    """Read the measurements.

    Args:
        file: Another file of the same shape; if left out the one that ships.

    Raises:
        Error: It cannot be read, or a row is not as rows are; says which, and what is wrong.
    """
    try:
        data = tomllib.loads(read_text(Path(file)))
    except (OSError, ValueError) as error:
        raise Error(f"{file} cannot be read: {error}") from error
    rows = {
        name: shape.rows(data.pop(name, []), read, f"{Path(file).name}: {name}")
        for name, read in READ.items()
    }
    papers = {name: _paper(name, one) for name, one in data.pop("papers", {}).items()}
    for row in (row for kind in rows.values() for row in kind.values()):
        if row.paper not in papers:
            raise Error(f"{Path(file).name}: {row.id}: there is no paper {row.paper!r}")
    return Measurements(papers, data.pop("spread", {}), **rows, findings=data)


def printed(name: str) -> Any:
    """Give a value by its row or table and the keys in it: ``naist/A/wimax:throughput``."""
    data = load()
    row, *keys = name.split(":")
    value: Any = (data.single_path | data.multipath | data.mobile | data.findings)[row]
    for key in keys:
        if isinstance(value, tuple):
            value = value[int(key)]
        else:
            value = value[key] if isinstance(value, dict) else getattr(value, key)
    return value.mean if isinstance(value, Figure) else value


def _single_path(row: dict[str, Any]) -> SinglePath:
    errors = {name: row.pop(f"{name}_se", []) for name in ("loss", "rtt")}
    for name in ("throughput", "rtt", "loss", "handshake_rtt", "throughput_cv"):
        if name in row:
            row[name] = _figure(name, row[name])
    for name, se in errors.items():
        if (printed := row.get(f"{name}_by_size")) is not None:
            missing = [None] * (len(printed) - len(se))
            row[f"{name}_by_size"] = tuple(map(_printed, printed, [*se, *missing]))
    return shape.build(SinglePath, row)


def _figure(name: str, given: dict[str, Any]) -> Figure:
    figure = shape.build(Figure, given)
    for key, value in given.items():
        if key != "below" and not (isinstance(value, int | float) and 0 <= value < math.inf):
            raise shape.ShapeError(f"{name}: {key}: {quoted(value)} is not such a figure")
    if not figure.mean:
        raise shape.ShapeError(f"{name}: mean: 0 is none that a link could show: leave it out")
    return figure


def _printed(value: float | str, se: float | None) -> Figure:
    text = str(value)
    return Figure(float(text.removeprefix("<")), se=se, below=text.startswith("<"))


def _multipath(row: dict[str, Any]) -> Multipath:
    for name in ("best_single_path", "baseline"):
        if name in row:
            row[name] = shape.build(Alone, row[name])
    row["subflows"] = {name: _subflow(one) for name, one in row.get("subflows", {}).items()}
    return shape.build(Multipath, row)


def _subflow(given: dict[str, Any]) -> Subflow:
    names = [name for name in given if not name.endswith("_sd")]
    figures = {name: Figure(given[name], given.get(f"{name}_sd")) for name in names}
    return shape.build(Subflow, figures)


def _mobile(row: dict[str, Any]) -> Mobile:
    row["phases"] = tuple(_phase(one) for one in row.get("phases", ()))
    return shape.build(Mobile, row)


def _phase(given: dict[str, Any]) -> Phase:
    renamed = {"from": "start_s", "to": "end_s"}
    return shape.build(Phase, {renamed.get(key, key): value for key, value in given.items()})


def _paper(name: str, given: dict[str, Any]) -> Paper:
    own: dict[str, Any] = {
        key: given[key] for key in ("title", "source", "inconsistent") if key in given
    }
    rest = {key: value for key, value in given.items() if key not in own}
    return shape.build(Paper, {"id": name, **own, "setup": rest})


READ = {"single_path": _single_path, "multipath": _multipath, "mobile": _mobile}
