"""Quantities: text with a unit in scenarios, numbers in base units inside."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from mptcplab.messages import quoted

NUMBER = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(\S.*)?", re.ASCII)
# What the code of the links takes at most, and the endpoint's whole numbers.
MOST = {"rate": 10**12, "duration": 10**15, "bytes": 10**12, "packets": 10**9, "integer": 2**32 - 1}
SIGNED = re.compile(r"([-−]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))\s*(\S+)", re.ASCII)
JSON_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}
# Far beyond what any radio reports or reaches.
MOST_OF_RADIO = 10**12


class Kind:
    """A kind of value: how it is read, written and described."""

    def __init__(self, name: str, accepted: str) -> None:
        self.name = name
        self.accepted = accepted

    def parse(self, value: Any) -> Any:
        """Give the value in its base unit; raises ValueError with what is accepted."""
        raise NotImplementedError

    def show(self, value: Any) -> Any:
        """Write a value in its base unit as :meth:`parse` reads it, without loss."""
        return value

    def json_schema(self) -> dict[str, Any]:
        """Describe what :meth:`parse` reads, for editors: what it refuses may pass here."""
        return {}

    def refuse(self, value: Any) -> ValueError:
        """Say what would have been accepted."""
        return ValueError(f"{quoted(value)} is not {self.accepted}")


class Quantity(Kind):
    """Whole numbers of a base unit, given with units of which it is the least."""

    def __init__(
        self, name: str, accepted: str, units: Mapping[str, Decimal | int], shown: tuple[str, ...]
    ) -> None:
        super().__init__(name, accepted)
        self.units = units
        # From the largest to the base unit.
        self.shown = shown

    def parse(self, value: Any) -> int:
        """Give the number of base units."""
        number = self.exact(value)
        if number != int(number):
            raise ValueError(f"{quoted(value)} is finer than 1 {self.shown[-1]}")
        return int(number)

    def exact(self, value: Any) -> Decimal:
        """Give the number of base units, be it whole or not."""
        if value == 0 and not isinstance(value, bool):
            # Nothing is nothing in every unit.
            return Decimal(0)
        found = NUMBER.fullmatch(value.strip()) if isinstance(value, str) else None
        if not found or found[2] not in self.units:
            raise self.refuse(value)
        number = Decimal(found[1]) * self.units[found[2]]
        if number > MOST.get(self.name, 1):
            raise ValueError(f"{quoted(value)} is more than {self.most()}")
        return number

    def most(self) -> Any:
        """Say the most that it may be."""
        return self.show(MOST[self.name])

    def show(self, value: Any) -> str:
        """Write it in the largest unit of which it is at least one."""
        for unit in self.shown:
            if value >= self.units[unit]:
                break
        return f"{plain(Decimal(value) / self.units[unit])} {unit}"

    def json_schema(self) -> dict[str, Any]:
        """Text with a unit, or 0."""
        text = {"type": "string", "pattern": _pattern(r"([0-9]+(\.[0-9]*)?|\.[0-9]+)", self.units)}
        return {"anyOf": [text, {"const": 0}]}


class Packets(Quantity):
    """A number of packets, which needs no unit."""

    def exact(self, value: Any) -> Decimal:
        """Give the number."""
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST[self.name]:
            return Decimal(value)
        return super().exact(value)

    def show(self, value: Any) -> int:  # type: ignore[override]
        """Write it without unit."""
        return int(value)

    def json_schema(self) -> dict[str, Any]:
        """A number, or text."""
        return {"anyOf": [*super().json_schema()["anyOf"], {"type": "integer", "minimum": 0}]}


class Ratio(Quantity):
    """A part of the whole, given in percent, from 0 to 1 inside."""

    def parse(self, value: Any) -> float:  # type: ignore[override]
        """Give the part of 1."""
        return float(self.exact(value))

    def most(self) -> str:
        """Say the most that it may be."""
        return "100 %"

    def show(self, value: Any) -> str:
        """Write it in percent."""
        return f"{plain(Decimal(repr(value)) * 100)} %"


class Plain(Kind):
    """What TOML has anyway."""

    def __init__(self, name: str, accepted: str, *types: type) -> None:
        super().__init__(name, accepted)
        self.types = types

    def parse(self, value: Any) -> Any:
        """Give the value if its type is right."""
        if type(value) not in self.types or (isinstance(value, float) and value - value != 0):
            raise self.refuse(value)
        if self.name in MOST and value > MOST[self.name]:
            raise ValueError(f"{value} is more than {MOST[self.name]}")
        return value

    def json_schema(self) -> dict[str, Any]:
        """Its types."""
        return {"type": [JSON_TYPES[one] for one in self.types]}


class Table(Kind):
    """A table whose keys others know."""

    def parse(self, value: Any) -> dict[str, Any]:
        """Give the table."""
        if not isinstance(value, dict):
            raise self.refuse(value)
        return value

    def json_schema(self) -> dict[str, Any]:
        """Any table."""
        return {"type": "object"}


class Year(Plain):
    """Text that may be a year, written as a number or as text."""

    def __init__(self, name: str, accepted: str) -> None:
        super().__init__(name, accepted, str)

    def parse(self, value: Any) -> Any:
        """Give the text."""
        return super().parse(str(value) if type(value) is int else value)

    def json_schema(self) -> dict[str, Any]:
        """Either."""
        return {"type": ["string", "integer"]}


class OrOff(Kind):
    """A kind of which there may be none: ``"off"``."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(kind.name, f'{kind.accepted}, or "off"')
        self.kind = kind

    def parse(self, value: Any) -> Any:
        """Give the value, none for ``"off"``."""
        if value == "off":
            return None
        try:
            return self.kind.parse(value)
        except ValueError as error:
            raise self.refuse(value) if " is not " in str(error) else error from None

    def show(self, value: Any) -> Any:
        """Write it."""
        return "off" if value is None else self.kind.show(value)

    def json_schema(self) -> dict[str, Any]:
        """Its kind, or ``"off"``."""
        return {"anyOf": [self.kind.json_schema(), {"const": "off"}]}


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
        found = SIGNED.fullmatch(value.strip()) if isinstance(value, str) else None
        if not found or found[2] not in self.units:
            raise self.refuse(value)
        number = Decimal(found[1].replace("−", "-")) * self.units[found[2]]
        if abs(number) > MOST_OF_RADIO or (number < 0 and not self.signed):
            raise self.refuse(value)
        return float(number), found[2]

    def show(self, value: Any) -> str:
        """Write it in the first unit."""
        return f"{plain(Decimal(repr(value)))} {next(iter(self.units))}"

    def json_schema(self) -> dict[str, Any]:
        """Text with a unit."""
        number = r"[-−]?([0-9]+(\.[0-9]*)?|\.[0-9]+)"
        return {"type": "string", "pattern": _pattern(number, self.units)}


class Signal(Measured):
    """A power, or a ratio to noise and interference."""

    def parse(self, value: Any) -> tuple[float, str]:
        """Give the number and its unit."""
        return self.read(value)

    def show(self, value: Any) -> str:
        """Write both."""
        return f"{plain(Decimal(repr(value[0])))} {value[1]}"


def _pattern(number: str, units: Iterable[str]) -> str:
    return rf"^\s*{number}\s*({'|'.join(map(re.escape, units))})\s*$"


def plain(number: Decimal) -> str:
    """Write a number without exponent and without zeros at its end."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


RATE = Quantity(
    "rate",
    'a rate such as "20 Mbit/s" (bit/s, kbit/s, Mbit/s, Gbit/s; bps likewise)',
    {
        prefix + unit: 10**power
        for unit in ("bit/s", "bps")
        for prefix, power in (("", 0), ("k", 3), ("M", 6), ("G", 9))
    },
    ("Gbit/s", "Mbit/s", "kbit/s", "bit/s"),
)
DURATION = Quantity(
    "duration",
    'a length of time such as "10 ms" (ns, us, ms, s, min, h)',
    {
        "ns": 1,
        "us": 10**3,
        "µs": 10**3,
        "ms": 10**6,
        "s": 10**9,
        "min": 60 * 10**9,
        "h": 3600 * 10**9,
    },
    ("s", "ms", "us", "ns"),
)
BYTES = Quantity(
    "bytes",
    'a number of bytes such as "100 kB" (B, kB, MB, GB, KiB, MiB, GiB)',
    {
        "B": 1,
        "kB": 10**3,
        "MB": 10**6,
        "GB": 10**9,
        "KiB": 2**10,
        "MiB": 2**20,
        "GiB": 2**30,
    },
    ("GB", "MB", "kB", "B"),
)
PACKETS = Packets(
    "packets",
    'a number of packets such as 50 or "50 packets"',
    {"packets": 1, "packet": 1},
    ("packets",),
)
RATIO = Ratio("ratio", 'a percentage such as "1 %"', {"%": Decimal("0.01")}, ("%",))
INTEGER = Plain("integer", "a whole number", int)
FLOAT = Plain("number", "a number", int, float)
TEXT = Plain("text", "text", str)
ERA = Year("text", "text")
FLAG = Plain("flag", "true or false", bool)
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
