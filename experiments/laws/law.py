"""What a law is: cases, each of which sets what a simulation gives beside what a formula foresees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf


@dataclass(frozen=True)
class Reading:
    """What a law foresees, and what was measured."""

    law: float
    measured: float
    # What else was measured, in the order of the law's `also`.
    also: tuple[str, ...] = ()

    @property
    def ratio(self) -> float:
        """The one over the other."""
        return self.measured / self.law


@dataclass(frozen=True)
class Case:
    """A scenario of a law: the values of the law's parameters, how it is read, and in which band measured / law lies."""

    of: tuple[str, ...]
    read: Callable[[], Reading]
    low: float
    high: float = inf
    # The law is known not to hold here, and the page says why: the band keeps what was found.
    is_found: bool = False
    # Too long for the tests; run for the page all the same.
    is_long: bool = False

    def holds(self, reading: Reading) -> bool:
        """Whether it lies in the band."""
        return self.low <= reading.ratio <= self.high

    @property
    def name(self) -> str:
        """The values, as one text."""
        return ", ".join(self.of)


@dataclass(frozen=True)
class Law:
    """A family of cases, which are rows of one table."""

    name: str
    parameters: tuple[str, ...]
    # What is compared, with its unit.
    quantity: str
    cases: tuple[Case, ...]
    also: tuple[str, ...] = ()
