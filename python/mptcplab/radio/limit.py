"""What a signal allows at most."""

from __future__ import annotations

from dataclasses import dataclass

from mptcplab._core import Error
from mptcplab.messages import quoted
from mptcplab.radio.technology import Scheme, Technology, rounded

# The digits of rates, as shown and as written into scenarios.
RATE_DIGITS = 4


@dataclass(frozen=True)
class Ceiling:
    """What a technology gives at a signal, alone in its cell."""

    technology: str
    bandwidth: str
    streams: int
    #: As it was given, in dBm or dB.
    signal: float
    unit: str
    #: That schemes are chosen by, in the technology's unit.
    effective: float
    scheme: str | None
    downlink_bits_per_second: int
    uplink_bits_per_second: int
    #: Of the first tries; the link layer sends them again.
    error_ratio: float
    tries: int
    #: Part of the packets that is lost nevertheless.
    loss_ratio: float


def ceiling(
    technology: Technology,
    signal: float,
    unit: str,
    bandwidth: str | None = None,
    streams: int = 1,
    noise_rise_db: float = 0.0,
) -> Ceiling:
    """Give what a signal in ``dBm`` (a power) or ``dB`` (a ratio to noise) allows.

    Raises:
        Error: No receiver can have reported that signal, or no rate follows from it.
    """
    channel = known_channel(technology, bandwidth)
    check_streams(technology, streams)
    check(technology, signal, unit)
    effective = _effective(technology, signal, unit, noise_rise_db)
    scheme: Scheme | None = technology.scheme(effective, channel)
    down, up = technology.rates(effective, channel, streams)
    retries = technology.retries
    return Ceiling(
        technology=technology.name,
        bandwidth=channel,
        streams=streams,
        signal=signal,
        unit=unit,
        effective=effective,
        scheme=scheme.name if scheme else None,
        downlink_bits_per_second=_rounded_rate(down),
        uplink_bits_per_second=_rounded_rate(up),
        error_ratio=retries.error_ratio,
        tries=retries.tries,
        loss_ratio=float(f"{retries.error_ratio**retries.tries:.3g}"),
    )


def known_channel(technology: Technology, bandwidth: str | None) -> str:
    """Give the channel, the technology's usual one if none is named; or refuse it."""
    channel = technology.channel if bandwidth is None else bandwidth
    if channel not in technology.channels:
        known = ", ".join(technology.channels)
        raise Error(f"{technology.name} has no bandwidth {quoted(channel)}; known: {known}")
    return channel


def check_streams(technology: Technology, streams: int) -> None:
    """Refuse more streams than the technology has."""
    most = technology.most_streams
    if not 1 <= streams <= most:
        span = "one stream" if most == 1 else f"1 to {most} streams"
        raise Error(f"{technology.name} has {span}, not {streams}")


def check(technology: Technology, signal: float, unit: str) -> None:
    """Refuse a signal that is out of range, or from which no rate follows."""
    found = technology.measure(unit)
    if found is None:
        used = [(name, one) for name, one in technology.measures.items() if one.used]
        wanted = " or ".join(f"the {name.upper()} in {one.unit}" for name, one in used)
        raise Error(
            f"no rate of {technology.name} follows from a signal in {unit}: give {wanted}; "
            f"mptcplab radio {technology.name} says what is known of it"
        )
    name, measure = found
    if not measure.holds(signal):
        raise Error(
            f"{signal:g} {unit} is out of range: the {name.upper()} of {technology.name} is from "
            f"{measure.least:g} to {measure.most:g} {unit} ({measure.source})"
        )


def _effective(technology: Technology, signal: float, unit: str, noise_rise_db: float) -> float:
    if unit == "dBm" and technology.unit == "dB":
        signal -= technology.noise_dbm + noise_rise_db
    elif unit == "dBm":
        signal -= noise_rise_db
    return rounded(signal)


def _rounded_rate(rate: float) -> int:
    return round(float(f"{rate:.{RATE_DIGITS}g}"))
