"""``[link.NAME.radio]``: a signal, or a route along which it changes, and what they give."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from mptcplab import Error, quantity
from mptcplab.messages import nearest, quoted
from mptcplab.quantity import BYTES, DURATION, FLOAT, RATE, RATIO
from mptcplab.radio import limit, technologies
from mptcplab.radio.limit import Ceiling, check, check_streams, known_channel
from mptcplab.radio.route import between, received_dbm
from mptcplab.radio.technology import Retries, Technology
from mptcplab.scenario import described, element
from mptcplab.scenario.element import Element
from mptcplab.scenario.fault import KeyPath
from mptcplab.scenario.section import Bytes, Duration, Integer, Ratio, Section, Text, read
from mptcplab.scenario.source import Source

Signal = Annotated[tuple[float, str], BeforeValidator(quantity.SIGNAL.parse), quantity.SIGNAL]
Power = Annotated[float, BeforeValidator(quantity.POWER.parse), quantity.POWER]
Decibel = Annotated[float, BeforeValidator(quantity.DECIBEL.parse), quantity.DECIBEL]
Distance = Annotated[float, BeforeValidator(quantity.DISTANCE.parse), quantity.DISTANCE]
Speed = Annotated[float, BeforeValidator(quantity.SPEED.parse), quantity.SPEED]
Frequency = Annotated[float, BeforeValidator(quantity.FREQUENCY.parse), quantity.FREQUENCY]
Number = Annotated[float, BeforeValidator(FLOAT.parse), FLOAT]
LONGEST_ROUTE_NS = 3600 * 10**9
SHORTEST_STEP_NS = 10**8
SECOND_NS = 10**9
AIR = "air"
# Rates are of four digits.
RATE_DIGITS = 4


class Point(Section):
    """A point of a route: a distance or a signal, which changes linearly between points."""

    at: Duration | None = None
    """When the device is there, from the start of the run. The first point is at 0."""
    speed: Speed | None = Field(None, gt=0)
    """Instead of ``at``: how fast the device moves there from the point before, straight towards or
    away from the base station."""
    distance: Distance | None = None
    """Distance to the base station or access point."""
    signal: Signal | None = None
    """Instead of ``distance``: the signal measured there."""
    obstruction: Decibel = 0.0
    """Attenuation by obstacles, such as walls, from here to the next point."""


class Radio(Section):
    """A radio signal and the technology.

    Together they give an upper bound of the rate, as if the device were alone in the cell.
    """

    technology: Text
    """Name of the technology; ``mptcplab radio`` lists them."""
    bandwidth: Text | None = None
    """Channel bandwidth, such as ``"20 MHz"``; for HSPA, the category. If left out, the usual
    one."""
    streams: Integer = Field(1, ge=1)
    """Number of spatial streams on the downlink; for Wi-Fi, in both directions."""
    share: Ratio = Field(1.0, gt=0)
    """Share of the cell's time that the device gets."""
    noise_rise: Decibel = 0.0
    """How much interference from others raises the noise. Applies where ``signal`` is a power."""
    signal: Signal | None = None
    """Signal at the device: a power (RSRP, RSSI) such as ``"-95 dBm"``, or a ratio to noise and
    interference (SINR, CINR) such as ``"12 dB"``."""
    route: list[Any] | None = None
    """Instead of ``signal``: the points of a route, in the order in which the device reaches
    them."""
    step: Duration = SECOND_NS
    """Interval at which the signal along a route is evaluated, at least 100 ms."""
    power: Power | None = None
    """Transmit power of the base station or access point, antenna gain included. If left out, the
    usual one of the technology."""
    frequency: Frequency | None = Field(None, gt=0)
    """Carrier frequency. If left out, the usual one of the technology."""
    exponent: Number | None = Field(None, ge=1, le=8)
    """Path-loss exponent beyond 1 m: 2 in free space, 2.7 to 3.5 in cities, 4 to 6 behind walls. If
    left out, the usual one of the technology."""
    delay: Duration = 10_000_000
    """One-way delay in each direction, if the link has no elements of its own."""
    queue: Bytes = Field(250_000, gt=0)
    """Queue limit in each direction, if the link has no elements of its own."""

    def known(self) -> Technology:
        """Give the technology."""
        return next(one for one in technologies() if one.name == self.technology)


def read_radio(value: Any, key_path: KeyPath, source: Source) -> Radio:
    """Read a radio, its route with a time for each point."""
    radio = read(Radio, value, key_path, source)
    names = [one.name for one in technologies()]
    if radio.technology not in names:
        hint = nearest(radio.technology, names)
        raise source.fault(
            (*key_path, "technology"), f"{quoted(radio.technology)} is not known; {hint}"
        )
    if radio.step < SHORTEST_STEP_NS:
        raise source.fault((*key_path, "step"), "must be at least 100 ms")
    if (radio.signal is None) == (radio.route is None):
        raise source.fault(key_path, "needs either signal or route")
    try:
        known_channel(radio.known(), radio.bandwidth)
    except Error as error:
        raise source.fault((*key_path, "bandwidth"), str(error)) from None
    try:
        check_streams(radio.known(), radio.streams)
    except Error as error:
        raise source.fault((*key_path, "streams"), str(error)) from None
    if radio.signal is not None:
        _check_signal(radio, radio.signal, (*key_path, "signal"), source)
        return radio
    return radio.model_copy(update={"route": _route(radio, (*key_path, "route"), source)})


def _route(radio: Radio, key_path: KeyPath, source: Source) -> list[Point]:
    points: list[Point] = []
    for number, one in enumerate(radio.route or []):
        here = (*key_path, number)
        point = read(Point, one, here, source)
        if (point.distance is None) == (point.signal is None):
            raise source.fault(here, "needs either distance or signal")
        if point.signal is not None:
            _check_signal(radio, point.signal, (*here, "signal"), source)
        elif radio.known().power_dbm is None:
            raise source.fault(
                (*here, "distance"),
                f"no rate of {radio.technology} follows from a power: give a signal in dB",
            )
        before = points[-1] if points else None
        if before and (before.signal is None) != (point.signal is None):
            raise source.fault(here, "a route has either distances or signals, not both")
        if before and before.signal and point.signal and before.signal[1] != point.signal[1]:
            raise source.fault((*here, "signal"), "is in another unit than the one before it")
        points.append(point.model_copy(update={"at": _time(point, before, here, source)}))
    if len(points) < 2:
        raise source.fault(key_path, "needs two points or more")
    return points


def _time(point: Point, before: Point | None, key_path: KeyPath, source: Source) -> int:
    """Give when the device is at a point."""
    if before is None:
        if point.speed is not None or point.at:
            raise source.fault(key_path, "is the first point: the device is there at 0")
        return 0
    if (point.at is None) == (point.speed is None):
        raise source.fault(key_path, "needs either at or speed: when the device is there")
    earlier = before.at or 0
    if point.speed is not None:
        if point.distance is None or before.distance is None:
            raise source.fault((*key_path, "speed"), "goes with distances alone")
        takes = round(abs(point.distance - before.distance) / point.speed * SECOND_NS)
        at = earlier + takes
    else:
        at = point.at or 0
    if at <= earlier:
        raise source.fault(key_path, "is not after the point before it")
    if at > LONGEST_ROUTE_NS:
        raise source.fault(key_path, "is more than an hour from the start")
    return at


def _check_signal(
    radio: Radio, signal: tuple[float, str], key_path: KeyPath, source: Source
) -> None:
    try:
        check(radio.known(), *signal)
    except Error as error:
        raise source.fault(key_path, str(error)) from None


def steps(radio: Radio) -> Iterator[tuple[int, Ceiling]]:
    """Give when the rates change along the route, and to what; the first is at 0."""
    last = None
    for at, signal, unit in _signals(radio):
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
    radio: Radio, here: Ceiling, directions: dict[str, list[Element]]
) -> dict[str, list[Element]]:
    """Give elements with all rates limited to the ceiling."""
    down, up = _rates(radio, here)
    return {
        direction: [_limited(one, most) for one in directions[direction]]
        for direction, most in (("uplink", up), ("downlink", down))
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


def _signals(radio: Radio) -> Iterator[tuple[int, float, str]]:
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
