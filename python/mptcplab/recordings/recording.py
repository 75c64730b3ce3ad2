"""What one file says of one path, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DIRECTIONS = ("down", "up")
#: What may be measured of a path over time, and the most that a link takes. ``lost`` and its like
#: are parts of the probes that were sent at about that time.
QUANTITIES = {
    "down_mbps": 1e6,
    "up_mbps": 1e6,
    "rtt_ms": 1e6,
    "lost": 1,
    "delay_down_ms": 1e6,
    "delay_up_ms": 1e6,
    "lost_down": 1,
    "lost_up": 1,
}
# Nanoseconds: what a link may repeat after, and the times that there are.
LONGEST, TIMES = 10**15, 2**62
#: Whether times are those of a clock: said by the file, supposed, or none at all.
STATED, SUPPOSED, NONE = "stated", "supposed", "none"
# What a rate means: how much could have been sent.
TCP = "a TCP throughput, which is not capacity: what TCP got, held to less by its own control"
UDP = "a UDP throughput, which is capacity where more was sent than could pass"
UNKNOWN = "of what the file does not say: TCP's, or what applications moved, is not capacity"
ANY = "what applications moved, which is not capacity: at times they wanted no more"


@dataclass(frozen=True)
class Sample:
    """What was measured at one time."""

    line: int
    #: Nanoseconds of Unix time, or where there is no clock from the recording's start.
    at_ns: int
    values: dict[str, float] = field(default_factory=dict)
    #: Columns of the tables ``radio`` and ``positions``.
    radio: dict[str, Any] = field(default_factory=dict)
    position: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """What several measurements far apart say of a path: their mean, and how far they spread."""

    mean: float
    #: Standard deviation / mean.
    spread: float
    count: int


@dataclass
class Recording:
    """What one file says of one path: samples over time, opportunities to send, or figures."""

    #: Who carried it, as far as the file says.
    name: str | None = None
    clock: str = NONE
    samples: list[Sample] = field(default_factory=list)
    #: Milliseconds at which 1500 bytes could leave, by direction.
    opportunities: dict[str, list[int]] = field(default_factory=dict)
    #: By the names of ``QUANTITIES``.
    figures: dict[str, Figure] = field(default_factory=dict)
    #: What the rates are: ``TCP``, ``UDP``, ``ANY``, or other words.
    rates: str | None = None
    #: What was odd, a line each.
    notes: list[str] = field(default_factory=list)

    def check(self) -> None:
        """Refuse values that no link takes.

        Raises:
            ValueError: There is one; its second argument is the number of the line.
        """
        for name, figure in self.figures.items():
            _check(name, figure.mean, 1)
        first = self.samples[0].at_ns if self.samples else 0
        for sample in self.samples:
            for name, value in sample.values.items():
                _check(name, value, sample.line)
            if abs(sample.at_ns) > TIMES or abs(sample.at_ns - first) > LONGEST:
                raise ValueError(
                    "its time is more than 1000000 s from the first: mend or remove it", sample.line
                )


def _check(name: str, value: float, line: int) -> None:
    # One that is not a number is in no order.
    if not 0 <= value <= QUANTITIES[name]:
        raise ValueError(
            f"{name} is {value:g}: it must be from 0 to {QUANTITIES[name]:g}; mend or remove it",
            line,
        )


@dataclass(frozen=True)
class Source:
    """A recording and the file that it is from."""

    recording: Recording
    path: Path
    format: str
    licence: str
    sha256: str
