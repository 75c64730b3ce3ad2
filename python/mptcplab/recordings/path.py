"""The recordings of a path → the elements of its link, and the files with their traces."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from mptcplab import quantity
from mptcplab._core import Error
from mptcplab.recordings import timeline
from mptcplab.recordings.recording import DIRECTIONS, NONE, Figure, Source
from mptcplab.recordings.timeline import Series, Window

Row = tuple[float, ...]

LINKS = {"down": "downlink", "up": "uplink"}
MOST_SPREAD = 3.0
HEADS = {"rate": "ms,mbps", "delay": "ms,delay_ms,loss_percent"}


@dataclass(frozen=True)
class Assumed:
    """Replacements for what was not measured, as a scenario has them."""

    rate: str
    delay: str
    queue: str


@dataclass
class ImportedLink:
    """A link made of recordings."""

    name: str
    sources: Sequence[Source]
    elements: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    draw: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: The text of each file beside the link's.
    traces: dict[str, str] = field(default_factory=dict)
    #: Notes on what was measured, assumed and odd; a line each.
    measured: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)


def make(
    name: str, sources: Sequence[Source], window: Window, least_ns: int, assumed: Assumed
) -> ImportedLink:
    """Make a link.

    Raises:
        Error: Two files have the same figures of it, or none has any within the window.
    """
    link = ImportedLink(name, sources)
    link.odd += [f"{one.path.name}: {note}" for one in sources for note in one.recording.notes]
    link.odd += [
        f"{one.path.name}: its times are of no clock: it begins with the others"
        for one in sources
        if window.aligned and one.recording.samples and one.recording.clock == NONE
    ]
    maker = _Maker(link, window, least_ns, assumed)
    for direction in DIRECTIONS:
        link.elements[LINKS[direction]] = [maker.capacity(direction), *maker.delay(direction)]
    if not link.measured:
        raise Error(
            f"{', '.join(str(one.path) for one in sources)}: has neither rate nor "
            f"delay of path {name} within "
            f"the {window.label}"
        )
    link.odd = list(dict.fromkeys(link.odd))
    return link


class _Maker:
    def __init__(self, link: ImportedLink, window: Window, least_ns: int, assumed: Assumed) -> None:
        self.link = link
        self.window = window
        self.least_ns = least_ns
        self.assumed = assumed

    def capacity(self, direction: str) -> dict[str, Any]:
        """Give the element through which a direction's packets leave."""
        queue = {"queue": "drop-tail", "delay": self.assumed.queue}
        which = f"{direction}_mbps"
        name = f"{self.link.name}-{direction}"
        if source := self._one(
            lambda one: direction in one.recording.opportunities, "opportunities"
        ):
            times = self._cut(source.recording.opportunities[direction])
            self.link.traces[f"{name}.trace"] = "".join(f"{ms}\n" for ms in times)
            self.link.measured.append(
                f"{direction}: {len(times)} opportunities of 1500 bytes, "
                f"{len(times) * 12 / times[-1]:.3g} Mbit/s in the mean"
            )
            return {"element": "trace", "trace": f"{name}.trace", "queue": queue}
        if found := self._series(which):
            source, series = found
            self._write(f"{name}-rate.csv", "rate", series.rows)
            self.link.measured.append(
                f"{direction}: {self._range(series, 'Mbit/s')}; {source.recording.rates}"
            )
            return {
                "element": "rate-trace",
                "trace": f"{name}-rate.csv",
                "period": self._period(),
                "queue": queue,
            }
        if figured := self._figure(which):
            source, figure = figured
            self._drawn(direction, 0, "rate", figure)
            self.link.measured.append(
                f"{direction}: {_described(figure, 'Mbit/s')}; {source.recording.rates}"
            )
            rate = quantity.RATE.show(round(figure.mean * 1e6))
            return {"element": "rate", "rate": rate, "queue": queue}
        self._assume(f"{direction} {self.assumed.rate} (--rate)")
        return {"element": "rate", "rate": self.assumed.rate, "queue": queue}

    def delay(self, direction: str) -> list[dict[str, Any]]:
        """Give the elements that delay and lose a direction's packets."""
        delays, source = self._delays(direction)
        losses = self._losses(direction)
        if delays or losses:
            rows = _together(delays, losses, self._assumed_delay_ms())
            name = f"{self.link.name}-{direction}-delay.csv"
            self._write(name, "delay", rows)
            lost = f"{_mean(rows, 2):.3g} % lost"
            if delays:
                self.link.measured.append(
                    f"{direction}: {_mean(rows, 1):.4g} ms of delay in the mean{source}, {lost}"
                )
            else:
                self._assume(f"delay {self.assumed.delay} each way (--delay)")
                self.link.measured.append(f"{direction}: {lost}")
            return [{"element": "delay-trace", "trace": name, "period": self._period()}]
        if figured := self._figure("rtt_ms"):
            figure = figured[1]
            self._drawn(direction, 1, "delay", figure)
            self.link.measured.append(
                f"{direction}: half of {_described(figure, 'ms')}, the round trip"
            )
            delay = quantity.DURATION.show(round(figure.mean / 2 * 1e6))
            return [{"element": "delay", "delay": delay}, *self._loss()]
        self._assume(f"delay {self.assumed.delay} each way (--delay)")
        return [{"element": "delay", "delay": self.assumed.delay}, *self._loss()]

    def _delays(self, direction: str) -> tuple[list[tuple[float, float]], str]:
        if found := self._series(f"delay_{direction}_ms"):
            return found[1].rows, ""
        if found := self._series("rtt_ms"):
            return [(ms, rtt / 2) for ms, rtt in found[1].rows], ", half of the round trip"
        return [], ""

    def _losses(self, direction: str) -> list[tuple[float, float]]:
        """Give the percentages lost; a loss of a round trip is shared by both directions."""
        one_way = self._series(f"lost_{direction}")
        both = self._series("lost")
        rows = dict(one_way[1].rows) if one_way else {}
        for ms, ratio in both[1].rows if both else ():
            rows[ms] = 1 - (1 - rows.get(ms, 0.0)) * math.sqrt(max(1 - ratio, 0.0))
        return [(ms, 100 * min(ratio, 1.0)) for ms, ratio in sorted(rows.items())]

    def _loss(self) -> list[dict[str, Any]]:
        found = self._figure("lost")
        if not found or not found[1].mean:
            return []
        ratio = 1 - math.sqrt(max(1 - found[1].mean, 0.0))
        return [{"element": "loss", "ratio": f"{100 * ratio:.4g} %"}]

    def _assumed_delay_ms(self) -> float:
        return float(quantity.DURATION.exact(self.assumed.delay)) / 1e6

    def _series(self, which: str) -> tuple[Source, Series] | None:
        source = self._one(
            lambda one: any(which in sample.values for sample in one.recording.samples),
            which,
        )
        found = source and timeline.series(source.recording, which, self.window, self.least_ns)
        if source is None or not found:
            return None
        # Where a probe was lost, its round trip is not missing.
        probes = which == "rtt_ms" and any("lost" in one.values for one in source.recording.samples)
        self.link.odd += [
            f"{source.path.name}: {which}: {note}" for note in found.notes if not probes
        ]
        return source, found

    def _figure(self, which: str) -> tuple[Source, Figure] | None:
        source = self._one(lambda one: which in one.recording.figures, which)
        return None if source is None else (source, source.recording.figures[which])

    def _one(self, has: Callable[[Source], bool], what: str) -> Source | None:
        """Give the source that has something; refuse two."""
        found = [one for one in self.link.sources if has(one)]
        if len(found) > 1:
            raise Error(
                f"{found[0].path} and {found[1].path} both say {what} of path "
                f"{self.link.name}: name one of them "
                f"otherwise (other={found[1].path}), or its direction ({self.link.name}/up=…)"
            )
        return found[0] if found else None

    def _cut(self, times: list[int]) -> list[int]:
        """Give the opportunities within the window, from its start."""
        start, length = self.window.skipped_ns, self.window.length_ns
        first, last = start // timeline.MILLISECOND, (start + length) // timeline.MILLISECOND
        cut = [ms - first for ms in times if first <= ms <= last]
        if not cut or cut[-1] == 0:
            raise Error(f"path {self.link.name} has no opportunity within the {self.window.label}")
        return cut

    def _write(self, name: str, what: str, rows: Sequence[Row]) -> None:
        lines = (",".join(f"{cell:.9g}" for cell in row) for row in rows)
        self.link.traces[name] = "\n".join([HEADS[what], *lines]) + "\n"

    def _period(self) -> str:
        return quantity.DURATION.show(self.window.length_ns)

    def _range(self, series: Series, unit: str) -> str:
        values = [value for _, value in series.rows]
        return (
            f"{timeline.count(len(values), 'row')}, {min(values):.4g} to {max(values):.4g} {unit}, "
            f"{_mean([*series.rows, (self.window.length_ns / 1e6, 0.0)], 1, ends=True):.4g} "
            "in the mean"
        )

    def _assume(self, line: str) -> None:
        if line not in self.link.assumed:
            self.link.assumed.append(line)

    def _drawn(self, direction: str, index: int, parameter: str, figure: Figure) -> None:
        """Have a parameter drawn for each run, with the spread of the measurements."""
        if figure.spread:
            spread = round(min(figure.spread, MOST_SPREAD), 4)
            # Both directions share what was measured of the round trip.
            name = parameter if parameter == "delay" else f"{direction}-{parameter}"
            draw = self.link.draw.setdefault(name, {"of": [], "spread": spread})
            draw["of"].append(f"{LINKS[direction]}.{index}.{parameter}")


def _together(
    delays: list[tuple[float, float]], losses: list[tuple[float, float]], delay: float
) -> list[Row]:
    """Give rows of both, each with its last value."""
    delay_at, loss_at = dict(delays), dict(losses)
    loss = 0.0
    rows: list[Row] = []
    for ms in sorted({0.0, *delay_at, *loss_at}):
        delay, loss = delay_at.get(ms, delay), loss_at.get(ms, loss)
        rows.append((ms, delay, loss))
    return rows


def _mean(rows: Sequence[Row], column: int, *, ends: bool = False) -> float:
    """Give the mean of a column over its rows; weighted by time where the last one is an end."""
    if not ends:
        return math.fsum(row[column] for row in rows) / len(rows)
    weights = [b[0] - a[0] for a, b in pairwise(rows)]
    total = math.fsum(weights)
    return (
        math.fsum(row[column] * weight for row, weight in zip(rows, weights, strict=False)) / total
    )


def _described(figure: Figure, unit: str) -> str:
    spread = f" ± {figure.mean * figure.spread:.3g}" if figure.spread else ""
    many = f" of {figure.count} tests" if figure.count > 1 else ""
    return f"{figure.mean:.4g}{spread} {unit} in the mean{many}"
