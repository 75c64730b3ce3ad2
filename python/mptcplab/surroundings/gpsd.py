"""The position of the client, from gpsd (its JSON protocol over TCP: gpsd_json(5))."""

from __future__ import annotations

import json
import socket
import statistics
import time
from collections.abc import Callable, Iterator
from datetime import UTC
from threading import Event
from typing import Any

from mptcplab._core import Error
from mptcplab.surroundings import moments, quantities
from mptcplab.surroundings.sampling import UnavailableError

NAME = "gpsd"
PORT = 2947
WATCH = b'?WATCH={"enable":true,"json":true};\n'
# Reports are shorter: GPS_JSON_RESPONSE_MAX is 10240.
MOST_BYTES = 1 << 16
CONNECT_SECONDS = 5.0
LOOK_SECONDS = 0.2
# gpsd sends a report at least each second while there is a receiver.
SILENCE_SECONDS = 30.0
# Of a TPV report: without a fix (mode 0 or 1) there is no position.
FIX = 2
FIELDS = {
    "latitude_deg": ("lat",),
    "longitude_deg": ("lon",),
    # Before 3.20 "alt", whose datum is not documented.
    "altitude_m": ("altMSL", "alt"),
    "speed_mps": ("speed",),
    "course_deg": ("track",),
    "accuracy_m": ("eph",),
}


def address(text: str) -> tuple[str, int]:
    """Read ``HOST``, ``HOST:PORT`` or ``[ADDRESS]:PORT``.

    Raises:
        Error: It is none of them.
    """
    host, colon, port = text.rpartition(":")
    if not colon or (":" in host and not host.startswith("[")) or text.endswith("]"):
        host, port = text, str(PORT)
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise Error(f"gpsd is {text!r}: it must be HOST or HOST:PORT, such as localhost:{PORT}")
    return host, int(port)


class Gpsd:
    """Listens to gpsd, which reports its position with each fix of its receiver."""

    name = NAME
    table = "positions"
    path = None

    def __init__(self, address: tuple[str, int]) -> None:
        self._address = address
        #: How far this host's clock was ahead of GPS when reports arrived, in milliseconds.
        self.ahead_ms: list[float] = []

    @property
    def clock_ahead_ms(self) -> float | None:
        """The median of it: the receiver's delay, and what this host's clock is wrong by."""
        return statistics.median(self.ahead_ms) if self.ahead_ms else None

    def follow(self, stop: Event, add: Callable[[dict[str, Any]], None]) -> None:
        """Add a row for each report with a fix."""
        host, port = self._address
        try:
            connection = socket.create_connection(self._address, CONNECT_SECONDS)
        except OSError as error:
            raise UnavailableError(
                f"no gpsd at {host} port {port}: {error.strerror or error}"
            ) from error
        with connection:
            connection.sendall(WATCH)
            try:
                self._add_positions(_lines(connection, stop), add)
            except ValueError as error:
                raise UnavailableError(f"gpsd: {error}") from error

    def _add_positions(self, lines: Iterator[bytes], add: Callable[[dict[str, Any]], None]) -> None:
        reports = 0
        last = None
        for report in map(_report, lines):
            if report.get("class") == "ERROR":
                raise UnavailableError(f"gpsd says: {report.get('message')}")
            if report.get("class") != "TPV":
                continue
            reports += 1
            # Before all sentences of a second have arrived, reports of it are incomplete.
            at = report.get("time")
            if isinstance(at, str) and at != last and (row := position(report)) is not None:
                last = at
                self.ahead_ms.append((time.time_ns() - moments.read(at, UTC)) / 1e6)
                add(row)
        if last is None:
            raise UnavailableError(
                f"no fix in {reports} reports" if reports else "gpsd has no receiver that reports"
            )


def position(report: dict[str, Any]) -> dict[str, Any] | None:
    """Give the row of a TPV report; none where it has no fix."""
    mode = report.get("mode")
    if not isinstance(mode, int) or mode < FIX:
        return None
    row = {}
    for column, names in FIELDS.items():
        value = next((report[name] for name in names if name in report), None)
        if isinstance(value, int | float):
            row[column] = quantities.checked(column, value, quantities.POSITIONS)
    return row if {"latitude_deg", "longitude_deg"} <= row.keys() else None


def _report(line: bytes) -> dict[str, Any]:
    try:
        report = json.loads(line)
    except ValueError as error:
        raise UnavailableError(f"what answers is not gpsd: {line[:40]!r} is not JSON") from error
    if not isinstance(report, dict):
        raise UnavailableError(f"what answers is not gpsd: {line[:40]!r} is not a report")
    return report


def _lines(connection: socket.socket, stop: Event) -> Iterator[bytes]:
    """Yield whole lines until ``stop`` is set."""
    connection.settimeout(LOOK_SECONDS)
    partial = b""
    last_received = time.monotonic()
    while not stop.is_set():
        try:
            received = connection.recv(1 << 14)
        except TimeoutError:
            if time.monotonic() - last_received > SILENCE_SECONDS:
                raise UnavailableError(f"gpsd has said nothing for {SILENCE_SECONDS:g} s") from None
            continue
        if not received:
            raise UnavailableError("gpsd closed the connection")
        last_received = time.monotonic()
        *whole, partial = (partial + received).split(b"\n")
        if len(partial) > MOST_BYTES:
            raise UnavailableError(f"what answers is not gpsd: a line of over {MOST_BYTES} bytes")
        yield from (line for line in whole if line.strip())
