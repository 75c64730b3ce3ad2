"""Recordings on one clock: the span that they have in common, and rows over it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from mptcplab._core import Error
from mptcplab.recordings.recording import NONE, STATED, SUPPOSED, Recording, Sample, Source

SECOND = 10**9
MILLISECOND = 10**6
# More steps than this without a value are a gap.
GAP = 1.5
# Steps of at least this part of the requested step are left as they are.
NEAR = 0.9


@dataclass(frozen=True)
class Window:
    """The span that is imported."""

    #: Unix time of its start; 0 where there is no clock.
    start_ns: int
    #: The time that is skipped before it.
    skipped_ns: int
    length_ns: int
    #: Whether recordings with a clock keep their times.
    aligned: bool

    def origin_ns(self, recording: Recording) -> int:
        """Give the time at which the window starts by the clock of a recording."""
        if self.aligned and recording.clock != NONE:
            return self.start_ns
        return min(one.at_ns for one in recording.samples) + self.skipped_ns

    @property
    def label(self) -> str:
        """Describe it."""
        length = f"{self.length_ns / SECOND:g} s"
        if not self.aligned:
            return f"{length} from the start of each recording"
        return (
            f"{length} from {moment(self.start_ns)} to {moment(self.start_ns + self.length_ns)} UTC"
        )


@dataclass(frozen=True)
class Series:
    """Values over a window: each holds from its milliseconds on until the next."""

    rows: list[tuple[float, float]]
    notes: list[str]


def moment(at_ns: int) -> str:
    """Write a time as people read it."""
    return f"{datetime.fromtimestamp(at_ns // SECOND, UTC):%Y-%m-%d %H:%M:%S}"


def window(
    paths: Mapping[str, Sequence[Source]], *, unaligned: bool, start_s: float, end_s: float | None
) -> Window:
    """Give the span that all have in common, or a part of it.

    Args:
        paths: The recordings of each path.
        unaligned: Whether each is to begin at its own start, whatever its clock.
        start_s: Seconds of it that are left out.
        end_s: Seconds from its start at which it ends, where that is earlier.

    Raises:
        Error: They have no time in common, or some say by which zone they are and others do not.
    """
    sources = [one for path_sources in paths.values() for one in path_sources]
    timed = [one for one in sources if one.recording.samples]
    clocked = [] if unaligned else [one for one in timed if one.recording.clock != NONE]
    states = {one.recording.clock for one in clocked}
    if states == {STATED, SUPPOSED}:
        silent = next(one for one in clocked if one.recording.clock == SUPPOSED)
        raise Error(
            f"{silent.path}: its times name no zone, and those of others do: say --time-zone, or "
            "--unaligned if they are not to be laid on one clock"
        )
    lengths = [end - start for start, end in map(span, (one.recording for one in timed))]
    start = 0
    if clocked:
        start, length = _common(clocked)
        lengths = [
            length,
            *(
                end - first
                for first, end in (span(one.recording) for one in timed if one not in clocked)
            ),
        ]
    lengths += [
        times[-1] * MILLISECOND for one in sources for times in one.recording.opportunities.values()
    ]
    # Figures without samples hold for ever.
    length = min(lengths, default=60 * SECOND)
    begin, end = round(start_s * SECOND), length if end_s is None else round(end_s * SECOND)
    if begin >= min(end, length):
        raise Error(
            f"--from {start_s:g} leaves nothing: what the recordings have in common "
            f"lasts {length / SECOND:g} s"
        )
    return Window(start + begin if clocked else 0, begin, min(end, length) - begin, bool(clocked))


def _common(sources: Sequence[Source]) -> tuple[int, int]:
    spans = [span(one.recording) for one in sources]
    start, end = max(first for first, _ in spans), min(last for _, last in spans)
    if start >= end:
        late = sources[max(range(len(spans)), key=lambda index: spans[index][0])]
        early = sources[min(range(len(spans)), key=lambda index: spans[index][1])]
        raise Error(
            f"{early.path} ends at {moment(min(last for _, last in spans))} UTC, and "
            f"{late.path} begins at "
            f"{moment(start)} UTC: no time in common; with --unaligned each begins at "
            "its start, and they do "
            "not fade together"
        )
    return start, end - start


def span(recording: Recording) -> tuple[int, int]:
    """Give when it begins, and when its last sample ends."""
    times = [one.at_ns for one in recording.samples]
    return min(times), max(times) + step(recording.samples)


def step(samples: Iterable[Sample]) -> int:
    """Give the usual time from one sample to the next; a second where there is but one."""
    times = sorted({one.at_ns for one in samples})
    return round(statistics.median(b - a for a, b in pairwise(times))) if len(times) > 1 else SECOND


def series(recording: Recording, quantity: str, window: Window, least_ns: int) -> Series | None:
    """Give a quantity over a window, none if it is not there.

    Values less than so many nanoseconds apart become their mean; where there is none, the one
    before holds.
    """
    samples = [one for one in recording.samples if quantity in one.values]
    if not samples:
        return None
    origin = window.origin_ns(recording)
    points = [(one.at_ns - origin, one.values[quantity]) for one in samples]
    notes = _odd(points)
    points.sort(key=lambda point: point[0])
    step_ns = step(samples)
    inside = [(at, value) for at, value in points if 0 <= at < window.length_ns]
    before = [value for at, value in points if at < 0]
    if not inside and not before:
        return None
    # Samples about as far apart as requested keep their times, which are never quite regular.
    width = least_ns if step_ns < NEAR * least_ns else 1
    bins: dict[int, list[float]] = {}
    for at, value in inside:
        bins.setdefault(at // width, []).append(value)
    rows = [
        (index * width / MILLISECOND, math.fsum(values) / len(values))
        for index, values in bins.items()
    ]
    if before and (not rows or rows[0][0] > 0):
        rows.insert(0, (0.0, before[-1]))
    rows[0] = (0.0, rows[0][1])
    times = [*(at for at, _ in points if at < 0)][-1:] + [at for at, _ in inside]
    return Series(rows, notes + _gaps(times, window.length_ns, max(step_ns, width)))


def _odd(points: list[tuple[int, float]]) -> list[str]:
    """Note times that are out of order or duplicates."""
    notes = []
    back = sum(b[0] < a[0] for a, b in pairwise(points))
    twice = len(points) - len({at for at, _ in points})
    if back:
        notes.append(f"{count(back, 'time')} before the one above, sorted")
    if twice:
        notes.append(f"{count(twice, 'duplicate')} of a time, its mean taken")
    return notes


def _gaps(times: list[int], length: int, usual: int) -> list[str]:
    """Say where values are missing for longer than is usual."""
    edges = [*([-usual] if times[0] >= 0 else []), *times, length]
    gaps = [(b - a - usual, a + usual) for a, b in pairwise(edges) if b - a > GAP * usual]
    if not gaps:
        return []
    longest, at = max(gaps)
    return [
        f"{count(len(gaps), 'gap')}, the longest of {longest / SECOND:g} s at "
        f"{max(at, 0) / SECOND:g} s: the value before holds"
    ]


def count(number: int, what: str) -> str:
    """Format a count."""
    return f"{number} {what}" + ("" if number == 1 else "s")
