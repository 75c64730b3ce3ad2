"""What a radio makes of a link: elements at its start, and events of the timeline along a route."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from mptcplab.radio import limit
from mptcplab.radio.limit import Ceiling, known_channel
from mptcplab.radio.route import between, received_dbm
from mptcplab.scenario import described, element
from mptcplab.scenario.quantity import BYTES, DURATION, RATE, RATIO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mptcplab.radio.technology import Retries
    from mptcplab.scenario.element import Element
    from mptcplab.scenario.radio import Point, Radio

AIR = "air"
# Rates are of four digits.
RATE_DIGITS = 4


def steps(radio: Radio) -> Iterator[tuple[int, Ceiling]]:
    """Give when the rates change along the route, and to what; the first is at 0."""
    last = None
    for at, signal, unit in _heard(radio):
        here = _ceiling(radio, signal, unit)
        rates = (here.downlink_bits_per_second, here.uplink_bits_per_second)
        if rates != last:
            yield at, here
            last = rates


def written(radio: Radio, here: Ceiling) -> dict[str, list[dict[str, Any]]]:
    """Write the elements of both directions as scenarios have them."""
    down, up = _rates(radio, here)
    queue = {"queue": "drop-tail", "bytes": BYTES.show(radio.queue)}
    limits = [{"element": "rate", "rate": RATE.show(rate), "queue": queue} for rate in (up, down)]
    if radio.known().half_duplex:
        limits = [limits[0] | {element.SHARED: AIR}, {element.SHARED: AIR}]
    rest = [
        _arq(radio.known().retries),
        {"element": "delay", "delay": DURATION.show(radio.delay)},
    ]
    return {"uplink": [limits[0], *rest], "downlink": [limits[1], *rest]}


def limited(
    radio: Radio, here: Ceiling, ways: dict[str, list[Element]]
) -> dict[str, list[Element]]:
    """Give elements none of whose rates is above the ceiling."""
    down, up = _rates(radio, here)
    return {
        way: [_limited(one, most) for one in ways[way]]
        for way, most in (("uplink", up), ("downlink", down))
    }


def _limited(one: Element, most: int) -> Element:
    if "element" not in one:
        return one
    kinds = described.kinds(element.known("element")[one["element"]])
    return {
        key: min(value, most) if kinds.get(key) == "rate" and value is not None else value
        for key, value in one.items()
    }


def _rates(radio: Radio, here: Ceiling) -> tuple[int, int]:
    down, up = (
        round(float(f"{rate * radio.share:.{RATE_DIGITS}g}"))
        for rate in (here.downlink_bits_per_second, here.uplink_bits_per_second)
    )
    return down, up


def _arq(retries: Retries) -> dict[str, Any]:
    written = {
        "element": "arq",
        "error_ratio": RATIO.show(retries.error_ratio),
        "tries": retries.tries,
        "round_trip": f"{retries.round_trip_ms:g} ms",
        "step": f"{retries.step_ms:g} ms",
    }
    if retries.back_off_us:
        written["back_off"] = f"{retries.back_off_us:g} us"
    return written


def _ceiling(radio: Radio, signal: float, unit: str) -> Ceiling:
    """Give the ceiling; beyond what receivers tell there is the nearest that they do."""
    found = radio.known().measure(unit)
    assert found is not None  # noqa: S101 - read_radio() has seen it
    signal = min(max(signal, found[1].least), found[1].most)
    return limit.ceiling(
        radio.known(), signal, unit, radio.bandwidth, radio.streams, radio.noise_rise
    )


def _heard(radio: Radio) -> Iterator[tuple[int, float, str]]:
    """Give the signal at each step of the route, or the one that there is."""
    if radio.route is None:
        assert radio.signal is not None  # noqa: S101 - read_radio() has seen it
        yield (0, *radio.signal)
        return
    points: list[Point] = radio.route
    for first, last in pairwise(points):
        start, end = first.at or 0, last.at or 0
        # Steps stand on one grid, wherever points lie.
        at = -(-start // radio.step) * radio.step
        while at < end:
            yield (at, *_at(radio, first, last, (at - start) / (end - start)))
            at += radio.step
    yield (points[-1].at or 0, *_at(radio, points[-1], points[-1], 0.0))


def _at(radio: Radio, first: Point, last: Point, part: float) -> tuple[float, str]:
    if first.signal is not None and last.signal is not None:
        signal, unit = between(first.signal[0], last.signal[0], part), first.signal[1]
    else:
        metres = between(first.distance or 0.0, last.distance or 0.0, part)
        channel = known_channel(radio.known(), radio.bandwidth)
        given = (radio.power, radio.frequency, radio.exponent)
        signal, unit = received_dbm(radio.known(), channel, metres, *given), "dBm"
    return round(signal - first.obstruction, 2), unit
