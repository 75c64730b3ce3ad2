"""MONROE's results and metadata (Alay et al., MobiCom 2017): JSON, an object a line or a list.

Pings, downloads, modems and GPS of several operators in one file, told apart by their SIM cards.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeAlias

from mptcplab.recordings.clock import SECOND, unix
from mptcplab.recordings.file import File, Options
from mptcplab.recordings.recording import STATED, TCP, Recording, Sample
from mptcplab.surroundings import quantities

Entry: TypeAlias = dict[str, Any]

PING, DOWNLOAD = "MONROE.EXP.PING", "MONROE.EXP.HTTP.DOWNLOAD"
MODEM, GPS = "MONROE.META.DEVICE.MODEM", "MONROE.META.DEVICE.GPS"
# Speed is curl's speed_download: bytes per second.
SPEED_MBPS = 8e-6
# DeviceMode of the metadata's documentation.
MODES = {3: "GSM", 4: "UMTS", 5: "LTE"}
SIGNAL = {"RSRP": "rsrp_dbm", "RSRQ": "rsrq_db", "RSSI": "rssi_dbm"}
POSITION = {"Latitude": "latitude_deg", "Longitude": "longitude_deg"}


class Monroe:
    """What a node exported."""

    name = "monroe"
    title = "MONROE: JSON lines of pings, downloads, modems and GPS"
    reads = (
        "Rtt → rtt_ms, a ping without it → lost; Speed → down_mbps; RSRP, RSRQ, "
        "RSSI, CID, Band, DeviceMode → "
        "radio; Latitude, Longitude → positions; Operator or Iccid → a path each"
    )
    empty = "the uplink's rate, which direction lost or delayed; other experiments are left out"
    licence = "not stated in the file: see the data set"

    def matches(self, file: File) -> bool:
        """Say whether objects have MONROE's names."""
        return '"DataId"' in file.text[:4000] and "MONROE." in file.text[:4000]

    def read(self, file: File, options: Options) -> list[Recording]:  # noqa: ARG002 - of no use here
        names: dict[str, str] = {}
        found: dict[str, Recording] = {}
        positions: list[Sample] = []
        for line, entry in _entries(file.text):
            try:
                kind = str(entry.get("DataId"))
                at_ns = unix(str(entry.get("Timestamp", entry.get("TimeStamp"))), SECOND)
                sample = Sample(line, at_ns, *_measured(kind, entry))
            except (TypeError, ValueError) as error:
                raise ValueError(str(error), line) from error
            if kind.startswith(GPS):
                positions.append(sample)
            elif sample.values or sample.radio:
                card = str(entry.get("Iccid", entry.get("ICCID", entry.get("InterfaceName", ""))))
                names.setdefault(card, str(entry.get("Operator") or card))
                found.setdefault(card, Recording(clock=STATED, rates=TCP)).samples.append(sample)
        for card, recording in found.items():
            recording.name = names[card] or None
        measured = [one for one in found.values() if any(sample.values for sample in one.samples)]
        if not measured:
            raise ValueError(f"has no {PING} and no {DOWNLOAD}: nothing that makes a link", 1)
        measured[0].samples += positions
        return measured


def _measured(kind: str, entry: Entry) -> tuple[dict[str, float], dict[str, Any], dict[str, float]]:
    values: dict[str, float] = {}
    radio: dict[str, Any] = {}
    position: dict[str, float] = {}
    if kind == PING:
        rtt = entry.get("Rtt")
        values = {"lost": 1.0} if rtt is None else {"rtt_ms": _number("Rtt", rtt), "lost": 0.0}
    elif kind == DOWNLOAD and "Speed" in entry:
        values = {"down_mbps": _number("Speed", entry["Speed"]) * SPEED_MBPS}
    elif kind.startswith(MODEM):
        for name, column in SIGNAL.items():
            least, most = quantities.RADIO[column]
            value = entry.get(name)
            if isinstance(value, int | float) and least <= value <= most:
                radio[column] = float(value)
        texts = {
            "cell": entry.get("CID"),
            "band": entry.get("Band"),
            "technology": MODES.get(entry.get("DeviceMode", 0)),
        }
        radio |= {name: str(value) for name, value in texts.items() if value is not None}
    elif kind.startswith(GPS):
        for name, column in POSITION.items():
            if name in entry:
                position[column] = quantities.checked(
                    column, _number(name, entry[name], signed=True), quantities.POSITIONS
                )
    return values, radio, position


def _number(name: str, value: Any, *, signed: bool = False) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or (value < 0 and not signed):
        raise ValueError(f"{name} is {value!r}: it must be a number of 0 or more; remove the entry")
    return float(value)


def _entries(text: str) -> Iterator[tuple[int, Entry]]:
    """Give each object with its line; its topic may stand before it."""
    if text.lstrip().startswith("["):
        try:
            yield from ((1, entry) for entry in json.loads(text))
        except ValueError as error:
            raise ValueError(
                "is not complete JSON: mend it", getattr(error, "lineno", 1)
            ) from error
        return
    for line, one in enumerate(text.splitlines(), 1):
        if not one.strip():
            continue
        try:
            entry = json.loads(one[max(one.find("{"), 0) :])
        except ValueError as error:
            raise ValueError("is not a JSON object: mend or remove the line", line) from error
        if not isinstance(entry, dict):
            raise ValueError("is not a JSON object: mend or remove the line", line)
        yield line, entry


FORMAT = Monroe()
