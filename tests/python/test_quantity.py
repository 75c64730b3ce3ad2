"""Quantities: what is understood, and that nothing is lost in writing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from mptcplab import quantity
from mptcplab.quantity import Kind

KINDS = {
    "rate": quantity.RATE,
    "duration": quantity.DURATION,
    "bytes": quantity.BYTES,
    "packets": quantity.PACKETS,
    "ratio": quantity.RATIO,
}

UNDERSTOOD = [
    ("rate", "20 Mbit/s", 20_000_000),
    ("rate", "20Mbps", 20_000_000),
    ("rate", "1.5 kbit/s", 1500),
    ("rate", " 7 bit/s ", 7),
    ("rate", 0, 0),
    ("duration", "10 ms", 10_000_000),
    ("duration", ".5s", 500_000_000),
    ("duration", "2 min", 120_000_000_000),
    ("duration", "3 µs", 3000),
    ("duration", "0", None),
    ("bytes", "100 kB", 100_000),
    ("bytes", "1 KiB", 1024),
    ("bytes", "0.001 kB", 1),
    ("packets", 50, 50),
    ("packets", "50 packets", 50),
    ("packets", "1 packet", 1),
    ("ratio", "1 %", 0.01),
    ("ratio", "0.05%", 0.0005),
    ("ratio", "100 %", 1.0),
    ("ratio", 0, 0.0),
    ("rate", "20", None),
    ("rate", "20 MBit/s", None),
    ("rate", "-1 bit/s", None),
    ("rate", "1e6 bit/s", None),
    ("rate", "nan bit/s", None),
    ("rate", "0.5 bit/s", None),
    ("rate", 20, None),
    ("rate", True, None),
    ("rate", "", None),
    ("duration", "10", None),
    ("duration", "10 m", None),
    ("duration", "10 S", None),
    ("duration", "0.1 ns", None),
    ("duration", "1000001 s", None),
    ("rate", "1001 Gbit/s", None),
    ("packets", 10**9 + 1, None),
    ("duration", False, None),
    ("bytes", "10 KB", None),
    ("bytes", "٣ kB", None),
    ("packets", 1.5, None),
    ("packets", -1, None),
    ("packets", True, None),
    ("ratio", 0.01, None),
    ("ratio", "0.01", None),
    ("ratio", "101 %", None),
]


@pytest.mark.parametrize(("kind", "text", "value"), UNDERSTOOD)
def test_understood_or_refused(kind: str, text: Any, value: Any) -> None:
    if value is None:
        with pytest.raises(ValueError, match=r" is (not a |finer than|more than)"):
            KINDS[kind].parse(text)
    else:
        assert KINDS[kind].parse(text) == value


@given(some.sampled_from(["rate", "duration", "bytes", "packets"]), some.integers(0, 10**9))
def test_whole_numbers_survive_writing(kind: str, value: int) -> None:
    assert KINDS[kind].parse(KINDS[kind].show(value)) == value


@given(some.floats(0, 1, allow_subnormal=False))
def test_ratios_survive_writing(value: float) -> None:
    assert quantity.RATIO.parse(quantity.RATIO.show(value)) == value


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (quantity.RATE, 1_500_000, "1.5 Mbit/s"),
        (quantity.RATE, 0, "0 bit/s"),
        (quantity.DURATION, 85_000_000_000, "85 s"),
        (quantity.DURATION, 100_000, "100 us"),
        (quantity.BYTES, 131_072, "131.072 kB"),
        (quantity.RATIO, 0.0007, "0.07 %"),
        (quantity.OrOff(quantity.DURATION), None, "off"),
    ],
)
def test_written_as_people_do(kind: Kind, value: Any, text: str) -> None:
    assert kind.show(value) == text
    assert kind.parse(text) == value
