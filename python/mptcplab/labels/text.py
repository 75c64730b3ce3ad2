"""Numbers as people read them. What is unknown is a dash, never 0."""

from __future__ import annotations

import math
from datetime import UTC, datetime

UNKNOWN = "–"
# Between thousands: narrow, and never broken.
SPACE = "\u202f"
# Most digits after the point.
MOST_DIGITS = 6
# What JSON may hold as it is, but a terminal takes for an order: DEL, C1, separators of lines, what
# turns the direction of writing (Unicode UAX #9), and halves of pairs, which no stream takes.
STEERING = (
    *range(0x7F, 0xA0),
    *(0x061C, 0x200E, 0x200F),
    *range(0x2028, 0x202F),
    *range(0x2066, 0x206A),
    *range(0xD800, 0xE000),
)
ESCAPES = {sign: f"\\u{sign:04x}" for sign in STEERING}


def size(count: float | None) -> str:
    """Give bytes in units of 10³: 3.00 MB."""
    if count is None:
        return UNKNOWN
    if round(count) < 1000:
        return f"{count:.0f} B"
    for unit in ("kB", "MB", "GB", "TB"):
        count /= 1000
        if count < 999.5 or unit == "TB":
            break
    return f"{figure(count)} {unit}"


def seconds(value: float | None) -> str:
    """Give a length of time: 12.0 ms, 2.41 s, 1 h 02 min."""
    if value is None:
        return UNKNOWN
    if value < 0.9995:
        return f"{figure(value * 1000)} ms"
    if value < 600:
        return f"{figure(value)} s"
    if value < 3600:
        minutes, rest = divmod(round(value), 60)
        return f"{minutes} min {rest:02} s"
    hours, rest = divmod(round(value / 60), 60)
    return f"{hours} h {rest:02} min"


def milliseconds(value: float | None) -> str:
    """Give a length of time that the tables hold in milliseconds."""
    return seconds(None if value is None else value / 1000)


def rate(value: float | None) -> str:
    """Give a throughput: 10.1 Mbit/s."""
    if value is None:
        return UNKNOWN
    if value >= 999.5:
        return f"{figure(value / 1000)} Gbit/s"
    if 0 < value < 0.9995:
        return f"{figure(value * 1000)} kbit/s"
    return f"{figure(value)} Mbit/s"


def percent(value: float | None) -> str:
    """Give a percentage: 0.29 %."""
    if value is None:
        return UNKNOWN
    return "0 %" if value == 0 else f"{value:.1f} %" if value >= 9.995 else f"{value:.2f} %"


def figure(value: float | None) -> str:
    """Give three digits, or all before the point."""
    if value is None:
        return UNKNOWN
    if value == 0:
        return "0"
    for digits in (2, 1, 0):
        if abs(value) < 10 ** (3 - digits) - 0.5 * 10**-digits:
            return f"{value:.{digits}f}"
    return f"{value:,.0f}".replace(",", SPACE)


def spread(mean: float | None, sigma: float | None) -> str:
    """Give a mean and its standard deviation, to the same digit: 23.8 ± 2.7."""
    shown = figure(mean)
    digits = len(shown.partition(".")[2])
    return shown if mean is None or sigma is None else f"{shown} ± {sigma:.{digits}f}"


def digits(low: float, high: float, fewest: int = 0) -> int:
    """Give how many digits after the point distinguish the ends of an interval."""
    if low == high:
        return fewest
    return min(max(-math.floor(math.log10(abs(high - low))), fewest), MOST_DIGITS)


def count(value: int | None) -> str:
    """Give a number of things."""
    return UNKNOWN if value is None else f"{value:,}".replace(",", SPACE)


def plural(number: int, thing: str) -> str:
    """Give a number of things with their name."""
    return f"{count(number)} {thing}{'' if number == 1 else 's'}"


def at(moment: float) -> str:
    """Give a time since the start."""
    return f"{moment:.3f} s"


def date(moment_ns: int) -> str:
    """Give a date, with its time of day in UTC."""
    seconds, nanos = divmod(moment_ns, 1_000_000_000)
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S}.{nanos // 1_000_000:03d} UTC"


def endpoint(address: str | None, port: int | None = None) -> str:
    """Give an address, with its port."""
    if address is None:
        return "unknown"
    if port is None:
        return address
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def clean(text: str) -> str:
    """Make text that others wrote harmless to a terminal, and one line of it."""
    return "".join(sign if sign.isprintable() or sign == SPACE else "\ufffd" for sign in text)


def escaped(document: str) -> str:
    """Escape control characters in JSON, which has them in strings alone."""
    return document.translate(ESCAPES)
