"""The radio of a wireless LAN, as ``iw dev NAME link`` and ``station dump`` print it (nl80211)."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from threading import Event
from typing import Any

from mptcplab.surroundings import quantities
from mptcplab.surroundings.sampling import PATIENCE_SECONDS, Radio, UnavailableError

NAME = "iw"
# Where it may be although it is not on the search path of ordinary users.
PATH = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"
CONNECTED = re.compile(r"^Connected to ([0-9a-f]{2}(?::[0-9a-f]{2}){5})", re.IGNORECASE)
FREQUENCY = re.compile(r"^\s*freq:\s*(\d+(?:\.\d+)?)", re.MULTILINE)
# link.c of iw: "signal: -44 dBm", "rx bitrate: 702.0 MBit/s VHT-MCS 8 80MHz VHT-NSS 2".
NUMBERS = {
    "rssi_dbm": re.compile(r"^\s*signal:\s*(-?\d+)", re.MULTILINE),
    "down_mbps": re.compile(r"^\s*rx bitrate:\s*(\d+(?:\.\d+)?) MBit/s", re.MULTILINE),
    "up_mbps": re.compile(r"^\s*tx bitrate:\s*(\d+(?:\.\d+)?) MBit/s", re.MULTILINE),
}
# station.c of iw: "Station 02:00:5e:00:53:01 (on wlan0)", and below it "tx retries:\t3",
# "signal avg:\t-28 [-30, -31] dBm". The values of each of its links follow below that.
STATION = re.compile(r"^Station ([0-9a-f]{2}(?::[0-9a-f]{2}){5})", re.IGNORECASE | re.MULTILINE)
# Of the station itself: what is of one of its links is further in.
MEAN = {"rssi_dbm_mean": re.compile(r"^\tsignal avg:\s*(-?\d+)", re.MULTILINE)}
COUNTS = {
    "retries": re.compile(r"^\ttx retries:\s*(\d+)", re.MULTILINE),
    "failed": re.compile(r"^\ttx failed:\s*(\d+)", re.MULTILINE),
}
# The kernel counts so far (NL80211_STA_INFO_TX_RETRIES).
MOST_COUNT = 2**32 - 1


class Iw(Radio):
    """Samples an interface with ``iw``, periodically."""

    name = NAME

    def follow(self, stop: Event, add: Callable[[dict[str, Any]], None]) -> None:
        """Add a row each time, also where no access point serves it."""
        program = shutil.which(NAME) or shutil.which(NAME, path=PATH)
        if program is None:
            raise UnavailableError("there is no program iw: install it")
        while not stop.is_set():
            row = link(self._ask(program, "link"))
            if "cell" in row:
                row |= station(self._ask(program, "station", "dump"), row["cell"])
            add({"path": self.path, **row})
            stop.wait(self._every_s)

    def _ask(self, program: str, *arguments: str) -> str:
        try:
            done = subprocess.run(  # noqa: S603
                [program, "dev", self._interface, *arguments],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=PATIENCE_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise UnavailableError(f"iw does not end within {error.timeout:g} s") from error
        if done.returncode:
            errors = " ".join((done.stderr or done.stdout).split())
            raise UnavailableError(f"iw dev {self._interface} {' '.join(arguments)}: {errors}")
        return done.stdout


def link(text: str) -> dict[str, Any]:
    """Read its output; what is missing there is left out."""
    row: dict[str, Any] = {"technology": "wifi"}
    if (found := CONNECTED.search(text)) is None:
        return row
    row["cell"] = found[1].lower()
    if found := FREQUENCY.search(text):
        row["band"] = f"{float(found[1]):g} MHz"
    return row | _numbers(text, NUMBERS)


def station(text: str, cell: str) -> dict[str, Any]:
    """Read its output on the access point with this address; what is missing is left out."""
    _, *parts = STATION.split(text)
    for address, about in zip(parts[::2], parts[1::2], strict=True):
        if address.lower() == cell:
            counts = {
                column: int(found[1])
                for column, pattern in COUNTS.items()
                if (found := pattern.search(about)) and int(found[1]) <= MOST_COUNT
            }
            return _numbers(about, MEAN) | counts
    return {}


def _numbers(text: str, patterns: Mapping[str, re.Pattern[str]]) -> dict[str, float]:
    row = {}
    for column, pattern in patterns.items():
        if found := pattern.search(text):
            try:
                row[column] = quantities.number(column, found[1], quantities.RADIO)
            except ValueError:
                # Drivers without a figure print 0 or an impossible one.
                continue
    return row
