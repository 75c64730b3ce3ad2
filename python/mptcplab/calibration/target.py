"""What a calibrated link has to show, and how near a simulated figure comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mptcplab.labels import text

#: Figures by name: what they are, with their unit.
FIGURES = {
    "throughput": "throughput (Mbit/s)",
    "rtt": "RTT (ms)",
    "rtt_sd": "RTT, deviation within a run (ms)",
    "rtt_p99": "RTT, 99th percentile (ms)",
    "handshake_rtt": "handshake RTT (ms)",
    "loss": "loss (%)",
    "throughput_cv": "throughput, variation within a run",
}
# Columns in which people read them.
HEADS = ("figure", "measured", "shown", "ratio", "90 % of runs", "")
# Variation smaller than this may be TCP's own.
STEADY = 0.05
# A figure is met within its standard deviation or this part of it (a deviation within more, an
# extreme within less), loss within a factor.
NEAR = 0.1
NEAR_OF = {"rtt_sd": 0.2, "rtt_p99": 0.05}
LOSS_FACTOR = 1.5


@dataclass(frozen=True)
class Target:
    """A figure that was measured."""

    figure: str
    value: float
    #: Standard deviation of what was measured, where it is known.
    sd: float | None = None
    #: Whether it is known only that it is below ``value``.
    below: bool = False
    #: Whether it is known only that it is above ``value``.
    above: bool = False

    @property
    def is_bound(self) -> bool:
        """Whether a value is only a bound."""
        return self.below or self.above

    @property
    def near(self) -> float:
        """How far a figure may be off."""
        least = STEADY if self.figure == "throughput_cv" and self.sd is None else 0.0
        return max(self.sd or 0.0, NEAR_OF.get(self.figure, NEAR) * self.value, least)

    def is_met(self, shown: float | None) -> bool:
        """Say whether a figure is as near as can be asked."""
        if shown is None:
            return False
        if self.below:
            return shown <= self.value
        if self.above:
            return shown >= self.value
        if self.figure == "loss":
            return self.value / LOSS_FACTOR <= shown <= self.value * LOSS_FACTOR
        return abs(shown - self.value) <= self.near


@dataclass(frozen=True)
class Residual:
    """A target, and the figure that was simulated."""

    target: Target
    shown: float | None
    #: Standard deviation between the runs.
    sd: float | None

    @property
    def is_met(self) -> bool:
        """Whether it is as near as can be asked."""
        return self.target.is_met(self.shown)

    def cells(self, range_: tuple[float, float] | None) -> tuple[str, ...]:
        """As people read it, under ``HEADS``, with what nine of ten runs show."""
        ratio = self.row().get("ratio")
        return (
            FIGURES[self.target.figure],
            _sign(self.target) + _with_sd(self.target.value, self.target.sd),
            _with_sd(self.shown, self.sd),
            "" if ratio is None else f"{ratio:.2f}",
            "" if range_ is None else " to ".join(map(text.figure, range_)),
            "" if self.is_met else "missed",
        )

    def row(self) -> dict[str, Any]:
        """Give it as a table; what is unknown is left out."""
        value = self.target.value
        ratio = self.shown / value if self.shown is not None and value else None
        row = {
            "target": value,
            "below": self.target.below or None,
            "above": self.target.above or None,
            "target_sd": self.target.sd,
            "shown": rounded(self.shown),
            "sd": rounded(self.sd),
            "ratio": rounded(ratio, 3),
            "met": self.is_met,
        }
        return {key: one for key, one in row.items() if one is not None}


def _sign(target: Target) -> str:
    return "< " if target.below else "> " if target.above else ""


def _with_sd(value: float | None, sd: float | None) -> str:
    return text.figure(value) + ("" if None in (value, sd) else f" ± {text.figure(sd)}")


def rounded(value: float | None, digits: int = 4) -> float | None:
    """Round to so many digits."""
    return None if value is None else float(f"{value:.{digits}g}")
