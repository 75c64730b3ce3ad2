"""What tcptrace says of connections: its long output (``-l``, with ``-r`` round trips), and CSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from mptcplab.sources.contents import SECOND, Contents, Row
from mptcplab.sources.file import File

Found = dict[str, str]

MARK = "Ostermann's tcptrace"
CONNECTION = re.compile(r"^TCP connection \d+:")
ABOUT = re.compile(r"^\t([a-z ]+?)( [a-z]+)?:\s+(.*)$")
# "  label:  value unit  label:  value unit", a column per direction.
PAIR = re.compile(r"^\s+(.+?):\s+(\S+)(?: [A-Za-z]+)?\s+(\S.*?):\s+(\S+)(?: [A-Za-z]+)?\s*$")
MOMENT = "%a %b %d %H:%M:%S.%f %Y"
# A host answers handshakes at once: one four times as fast is where tcptrace's capture was taken.
NEARER = 4
COUNTS = {
    "packets": "total_packets",
    "data_packets": "actual_data_pkts",
    "data_bytes": "actual_data_bytes",
    "gap_filled_packets": "outoforder_pkts",
    "zero_window_probe_packets": "zwnd_probe_pkts",
}
RTTS = {"min": "min", "max": "max", "mean": "avg", "sigma": "stdev"}


class Tcptrace:
    """Connections, with the figures of each direction."""

    name = "tcptrace"
    title = "long output (-l, with -r round-trip times) and CSV (--csv -l)"
    reads = (
        "unique bytes, data, rexmt and outoforder pkts, RTT → flows and transfers; RTT from 3WHS, "
        "mss, window scale → subflows. RTT and rexmt of the end that its capture was taken at, "
        "which the handshake shows"
    )
    empty = "anything over time, MPTCP, when data was acknowledged: times are of whole connections"

    def matches(self, file: File) -> bool:
        """Say whether it names itself near the top."""
        return MARK in file.head[:4096]

    def read(self, file: File) -> Contents:
        contents = Contents(self.name, file)
        text = file.text()
        found = _of_csv(text) if "conn_#" in text[:4096] else _of_long(text)
        for one in found:
            _add(contents, one)
        if not contents.tables.get("connections"):
            raise ValueError("holds no connection in tcptrace's long form: -l prints it")
        if "first packet:" in text:
            contents.remark("supposed_clock", "its times have no zone, and are taken as UTC")
        return contents


def _of_csv(text: str) -> Iterator[Found]:
    lines = text.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("conn_#"))
    names = [name.replace(" ", "_") for name in lines[first].rstrip(",").split(",")]
    for number, cells in enumerate(csv.reader(lines[first + 1 :]), first + 2):
        if not cells or not cells[0].strip():
            continue
        if len(cells) < len(names):
            raise ValueError(f"has {len(cells)} columns, not {len(names)}: it is cut off", number)
        yield {name: cell.strip() for name, cell in zip(names, cells, strict=False)}


def _of_long(text: str) -> Iterator[Found]:
    """Give each connection by the names of the CSV."""
    found: Found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if CONNECTION.match(line):
            if found:
                yield found
            found = {}
        elif about := ABOUT.match(line):
            what, which, value = about.groups()
            if what == "host" and which:
                side = "b" if "host_a" in found else "a"
                found[f"host_{side}"], _, found[f"port_{side}"] = value.strip().rpartition(":")
            elif which == " packet":
                found[f"{what}_packet"] = _seconds(value.strip(), number)
        elif pair := PAIR.match(line):
            for label, value, side in ((pair[1], pair[2], "a2b"), (pair[3], pair[4], "b2a")):
                found.setdefault(f"{label.replace(' ', '_')}_{side}", value)
    if found:
        yield found


def _seconds(text: str, line: int) -> str:
    try:
        moment = datetime.strptime(text, MOMENT).replace(tzinfo=UTC)
    except ValueError as error:
        raise ValueError(f"{text!r} is no time of tcptrace", line) from error
    return f"{int(moment.timestamp())}.{moment.microsecond:06d}"


def _nanoseconds(seconds: str) -> int:
    # Its CSV has microseconds without their leading zeros.
    whole, _, micros = seconds.partition(".")
    return int(whole) * SECOND + int(micros or 0) * 1000


def _add(contents: Contents, found: Found) -> None:
    start_ns, end_ns = (_nanoseconds(found[f"{one}_packet"]) for one in ("first", "last"))
    handshakes = [_number(found, f"RTT_from_3WHS_{side}") for side in ("a2b", "b2a")]
    vantage = _vantage(*handshakes)
    syns, fins = zip(
        *(found[f"SYN/FIN_pkts_sent_{side}"].split("/") for side in ("a2b", "b2a")), strict=True
    )
    resets = any(int(found.get(f"resets_sent_{side}", 0)) for side in ("a2b", "b2a"))
    whole = all(int(one) for one in syns)
    jumped = end_ns < start_ns
    connection = contents.connection(
        "tcp",
        start_ns=min(start_ns, end_ns),
        end_ns=max(start_ns, end_ns),
        client=(found["host_a"], int(found["port_a"])),
        server=(found["host_b"], int(found["port_b"])),
        began="handshake" if whole else "midway",
        ended="reset" if resets else "closed" if all(int(one) for one in fins) else "open",
        vantage=vantage,
    )
    if jumped:
        contents.jumped(connection)
    elapsed_s = None if jumped else (end_ns - start_ns) / SECOND
    subflow = connection.subflow(
        handshake_rtt_ms=handshakes[vantage == "server"] if whole and vantage else None,
        ended="reset" if resets else "fin" if connection.row["ended"] == "closed" else "open",
        client_mss_bytes=_mss(found, "a2b"),
        server_mss_bytes=_mss(found, "b2a"),
    )
    for direction, side, sender in (("up", "a2b", "client"), ("down", "b2a", "server")):
        count = int(found[f"unique_bytes_sent_{side}"])
        if not count:
            continue
        row: Row = {"bytes": count}
        row |= {column: int(found[f"{name}_{side}"]) for column, name in COUNTS.items()}
        if vantage == sender:
            row["retransmitted_packets"] = int(found[f"rexmt_data_pkts_{side}"])
            row["retransmitted_bytes"] = int(found[f"rexmt_data_bytes_{side}"])
            samples = int(found.get(f"RTT_samples_{side}", 0))
            row["rtt_samples"] = samples if f"RTT_samples_{side}" in found else None
            if samples:
                row |= {
                    f"rtt_ms_{ours}": _number(found, f"RTT_{theirs}_{side}")
                    for ours, theirs in RTTS.items()
                }
        connection.moved(direction, {subflow: row}, elapsed_s=elapsed_s)


def _number(found: Found, name: str) -> float | None:
    """Give a figure; where tcptrace has none it says NA, or leaves it out."""
    text = found.get(name, "NA")
    return None if text == "NA" else float(text)


def _mss(found: Found, side: str) -> int | None:
    return int(found.get(f"mss_requested_{side}", "0")) or None


def _vantage(client_ms: float | None, server_ms: float | None) -> str | None:
    """Tell the end by what each waited for the other in the handshake."""
    if client_ms is None or server_ms is None or client_ms == server_ms:
        return None
    if client_ms >= NEARER * server_ms:
        return "client"
    return "server" if server_ms >= NEARER * client_ms else None


SOURCE = Tcptrace()
