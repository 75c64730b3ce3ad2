"""Logs of ``ss -tin`` (iproute2): samples of TCP sockets, each with the time before it.

As from ``while sleep 0.1; do date +%s.%N; ss -tin; done``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from typing import Any

from mptcplab.sources.contents import SECOND, Connection, Contents, End, Row
from mptcplab.sources.file import File

HEADER = re.compile(r"^(State\s+|Netid\s+)?.*Recv-Q\s+Send-Q\s+Local Address:Port", re.MULTILINE)
SOCKET = re.compile(
    r"^(?:tcp\s+)?(?:[A-Z][A-Z0-9-]+\s+)?\d+\s+\d+\s+(\S+):(\d+)\s+(\S+):(\d+)(?:\s+(.*))?$"
)
EPOCH = re.compile(r"^\d{9,11}(\.\d+)?$")
TOKENS = re.compile(r"\btoken:([0-9a-f]+)\(id:\d+\)/([0-9a-f]+)\(id:\d+\)")
FIELD = re.compile(r"(?<![^\s])([a-z_]+)[: ]([0-9][^\s]*)")
ALGORITHM = re.compile(r"(\S+) wscale:")
# Columns of ``state`` by what ss calls them, with a factor.
COLUMNS: dict[str, tuple[str, float]] = {
    "cwnd": ("cwnd_packets", 1),
    "ssthresh": ("ssthresh_packets", 1),
    "rto": ("timeout_ms", 1),
    "backoff": ("backoffs", 1),
    "pacing_rate": ("pacing_mbps", 1e-6),
    "delivery_rate": ("delivery_mbps", 1e-6),
    "minrtt": ("min_rtt_ms", 1),
    "sacked": ("sacked_packets", 1),
    "lost": ("lost_packets", 1),
    "notsent": ("queued_bytes", 1),
    "snd_wnd": ("peer_window_bytes", 1),
    "bytes_sent": ("sent_bytes", 1),
    "bytes_retrans": ("retransmitted_bytes", 1),
    "bytes_acked": ("acknowledged_bytes", 1),
    "bytes_received": ("received_bytes", 1),
    "busy": ("busy_ms", 1),
    "rwnd_limited": ("window_limited_ms", 1),
    "sndbuf_limited": ("buffer_limited_ms", 1),
}
REAL = {"ssthresh", "rto", "minrtt", "pacing_rate", "delivery_rate"} | {
    *("busy", "rwnd_limited", "sndbuf_limited"),
}
# ss leaves these out where they are 0.
ZEROS = ("backoff", "sacked", "lost", "notsent", "bytes_retrans", "bytes_acked", "bytes_received")
Key = tuple[str, int, str, int]


class Ss:
    """Sockets, a connection each, those of one MPTCP connection together."""

    name = "ss"
    title = "ss -tin (iproute2), again and again, with date +%s.%N before each"
    reads = (
        "cwnd, ssthresh, rtt, rto, pacing, retrans, bytes_… → state; bytes_acked and "
        "bytes_received → transfers and throughput; retrans and data_segs_out → flows; token → "
        "subflows of one connection"
    )
    empty = (
        "which end opened it (taken for that with the larger port), round-trip times of segments"
    )

    def matches(self, file: File) -> bool:
        """Say whether there is its header near the top."""
        return HEADER.search(file.head[:4096]) is not None

    def read(self, file: File) -> Contents:
        sockets: dict[Key, list[tuple[int, str]]] = {}
        first_ns = None
        for at_ns, key, info in _samples(file.text()):
            first_ns = at_ns if first_ns is None else first_ns
            if info:
                sockets.setdefault(key, []).append((at_ns, info))
        contents = Contents(self.name, file, has_clock=bool(first_ns))
        groups: dict[tuple[bool, object], list[Key]] = {}
        for key, samples in sockets.items():
            token = TOKENS.search(samples[-1][1])
            groups.setdefault((True, token.groups()) if token else (False, key), []).append(key)
        for (is_mptcp, _), keys in groups.items():
            _add(contents, {key: sockets[key] for key in keys}, first_ns or 0, is_mptcp=is_mptcp)
        if not sockets:
            raise ValueError("holds no TCP socket with its figures: ss -tin prints them")
        return contents


def _samples(text: str) -> Iterator[tuple[int, Key, str]]:
    """Give each socket with its time and what ss says of it."""
    at_ns, headers, key = None, 0, None
    for number, line in enumerate(text.splitlines(), 1):
        if (time := _time(line.strip())) is not None:
            at_ns, key, headers = time, None, 0
        elif HEADER.match(line):
            headers += 1
            if at_ns is None and headers > 1:
                raise ValueError(
                    "has no time between two samples: run date +%s.%N before each ss", number
                )
        elif found := SOCKET.match(line):
            local, port, peer, peer_port, rest = found.groups()
            key = (_address(local), int(port), _address(peer), int(peer_port))
            if rest and "cwnd:" in rest:
                yield at_ns or 0, key, rest
        elif key and line[:1].isspace():
            yield at_ns or 0, key, line.strip()
            key = None


def _time(line: str) -> int | None:
    """Give a line that is nothing but a time, as date prints it: +%s.%N or -Ins."""
    if EPOCH.match(line):
        whole, _, part = line.partition(".")
        return int(whole) * SECOND + int(f"{part:0<9}"[:9])
    if len(line) < 19 or line[4:5] != "-":
        return None
    whole, comma, rest = line.partition(",")
    fraction = rest[:9] if comma else "0"
    try:
        moment = datetime.fromisoformat(whole + rest[len(fraction) :] if comma else line)
    except ValueError:
        return None
    return round(moment.timestamp()) * SECOND + (int(fraction) if comma else 0)


def _address(text: str) -> str:
    """Take off brackets and the interface."""
    address = text.strip("[]").partition("%")[0].rstrip("]")
    return address.removeprefix("::ffff:")


def _fields(info: str) -> dict[str, str]:
    return dict(FIELD.findall(info))


def _add(
    contents: Contents, sockets: dict[Key, list[tuple[int, str]]], began_ns: int, *, is_mptcp: bool
) -> None:
    """Add a connection of one socket, or of several."""
    times = [at for samples in sockets.values() for at, _ in samples]
    first = next(iter(sockets))
    is_client = first[1] > first[3]
    ends: tuple[End, End] = (first[:2], first[2:])
    connection = contents.connection(
        "mptcp" if is_mptcp else "tcp",
        start_ns=min(times),
        end_ns=max(times),
        client=ends[not is_client],
        server=ends[is_client],
        began="midway" if min(times) == began_ns else "handshake",
        ended="open",
        vantage="client" if is_client else "server",
    )
    orders = [[at for at, _ in samples] for samples in sockets.values()]
    jumped = any(order != sorted(order) for order in orders)
    if jumped:
        contents.jumped(connection)
    sends = "up" if is_client else "down"
    flows: dict[str, dict[int, Row]] = {"up": {}, "down": {}}
    for key, samples in sockets.items():
        near, far = key[:2], key[2:]
        client, server = (near, far) if is_client else (far, near)
        subflow = connection.subflow(
            start_ns=min(at for at, _ in samples),
            end_ns=max(at for at, _ in samples),
            client_address=client[0],
            client_port=client[1],
            server_address=server[0],
            server_port=server[1],
            kind="unknown" if is_mptcp else "tcp",
        )
        fields = [(at_ns, _fields(info)) for at_ns, info in samples]
        for (at_ns, values), (_, info) in zip(fields, samples, strict=True):
            algorithm = ALGORITHM.search(info)
            row = _state(values) | {"congestion_control": algorithm[1] if algorithm else None}
            row["delivery_limited"] = "app_limited" in info.split()
            connection.add(
                "state", subflow=subflow, host=connection.row["vantage"], at_ns=at_ns, **row
            )
        for direction, counter in ((sends, "bytes_acked"), (OTHER[sends], "bytes_received")):
            flow = _flow(connection, subflow, direction, fields, counter)
            if flow["bytes"]:
                flows[direction][subflow] = flow
    for direction, carried in flows.items():
        if carried:
            elapsed_s = (connection.end_ns - connection.start_ns) / SECOND or None
            connection.moved(direction, carried, elapsed_s=None if jumped else elapsed_s)


OTHER = {"up": "down", "down": "up"}


def _flow(
    connection: Connection,
    subflow: int,
    direction: str,
    samples: list[tuple[int, dict[str, str]]],
    counter: str,
) -> Row:
    """Give what a direction moved while it was watched, and add it over time."""
    whole = connection.row["began"] == "midway"
    is_mptcp = connection.row["protocol"] == "mptcp"
    counted = [(at, _count(values, counter)) for at, values in samples]
    bins = [
        (at, later - at, count)
        for (at, before), (later, after) in pairwise(counted)
        if (count := after - before) >= 0 and later >= at
    ]
    if len(samples) > 1 and any(count for *_, count in bins):
        for each in (subflow,) if is_mptcp else (None, subflow):
            connection.bins(direction, bins, each)
    start = samples[0][1] if whole else {}
    row: Row = {"bytes": counted[-1][1] - _count(start, counter)}
    if counter == "bytes_acked":
        last = samples[-1][1]
        for column, name in (
            ("data_packets", "data_segs_out"),
            ("retransmitted_packets", "retrans"),
        ):
            row[column] = _count(last, name) - _count(start, name)
    return row


def _count(values: dict[str, str], name: str) -> int:
    """Give a counter; what is acknowledged counts the SYN, which is no byte."""
    count = int(values.get(name, "0").rpartition("/")[2])
    return count - 1 if name == "bytes_acked" and count else count


def _state(values: dict[str, str]) -> dict[str, Any]:
    """Give the columns of ``state``."""
    row: dict[str, Any] = {"retransmitted_packets": _count(values, "retrans")}
    for name, (column, factor) in COLUMNS.items():
        text = values.get(name, "0" if name in ZEROS else None)
        if text is not None:
            value = float(re.sub(r"(bps|ms.*)$", "", text)) * factor
            row[column] = value if name in REAL else round(value)
    if "rtt" in values:
        smoothed, _, deviation = values["rtt"].partition("/")
        row |= {"srtt_ms": float(smoothed), "rttvar_ms": float(deviation or 0)}
    unacked = int(values.get("unacked", 0))
    row["in_flight_packets"] = max(0, unacked - row["sacked_packets"] - row["lost_packets"])
    return row


SOURCE = Ss()
