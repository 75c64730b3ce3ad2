"""Quantities of radio: powers and their ratios, distances, speeds and frequencies."""

from __future__ import annotations

import re
from decimal import Decimal

from mptcplab.scenario.quantity import Kind, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NUMBER = re.compile(r"([-−]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))\s*(\S+)", re.ASCII)
# Far beyond what any radio tells or reaches.
MOST = 10**12


class Measured(Kind):
    """Numbers with a unit, of which there may be fractions."""

    def __init__(
        self, name: str, accepted: str, units: Mapping[str, str], *, signed: bool = False
    ) -> None:
        super().__init__(name, accepted)
        self.units = {unit: Decimal(factor) for unit, factor in units.items()}
        self.signed = signed

    def parse(self, value: Any) -> Any:
        """Give the number in the first unit."""
        return self.read(value)[0]

    def read(self, value: Any) -> tuple[float, str]:
        """Give the number in the first unit, and the unit that it was given in."""
        found = NUMBER.fullmatch(value.strip()) if isinstance(value, str) else None
        if not found or found[2] not in self.units:
            raise self.refuse(value)
        number = Decimal(found[1].replace("−", "-")) * self.units[found[2]]
        if abs(number) > MOST or (number < 0 and not self.signed):
            raise self.refuse(value)
        return float(number), found[2]

    def show(self, value: Any) -> str:
        """Write it in the first unit."""
        return f"{plain(Decimal(repr(value)))} {next(iter(self.units))}"


class Signal(Measured):
    """A power, or a ratio to noise and interference."""

    def parse(self, value: Any) -> tuple[float, str]:
        """Give the number and its unit."""
        return self.read(value)

    def show(self, value: Any) -> str:
        """Write both."""
        return f"{plain(Decimal(repr(value[0])))} {value[1]}"


SIGNAL = Signal(
    "signal",
    'a signal such as "-95 dBm" (a power) or "12 dB" (a ratio to noise and interference)',
    {"dBm": "1", "dB": "1"},
    signed=True,
)
POWER = Measured("power", 'a power such as "20 dBm"', {"dBm": "1"}, signed=True)
DECIBEL = Measured("decibel", 'a number of decibels such as "6 dB"', {"dB": "1"})
DISTANCE = Measured("distance", 'a distance such as "80 m" (m, km)', {"m": "1", "km": "1000"})
SPEED = Measured(
    "speed",
    'a speed such as "1.4 m/s" (m/s, km/h, mph)',
    {"m/s": "1", "km/h": str(Decimal(1) / Decimal("3.6")), "mph": "0.44704"},
)
FREQUENCY = Measured(
    "frequency", 'a frequency such as "1.8 GHz" (MHz, GHz)', {"Hz": "1", "MHz": "1e6", "GHz": "1e9"}
)
