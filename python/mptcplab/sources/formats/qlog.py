"""qlog: what ends of QUIC connections log (draft-ietf-quic-qlog-main-schema, -quic-events).

As one JSON document or as a sequence of records (RFC 7464), in the versions 0.3 and newer, whose
events are objects with ``time``, ``name`` and ``data``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from mptcplab.recordings.recording import TIMES
from mptcplab.sources.contents import Contents, End
from mptcplab.sources.file import File
from mptcplab.sources.quic import Endpoint, Packet

Json = dict[str, Any]

START = re.compile(r'"(qlog_version|qlog_format|file_schema)"\s*:')
SEPARATOR = "\x1e"
MILLI = 10**6
# Times before this (the year 2001) are of no clock.
CLOCK_MS = 10**12
MOST_SHOWN = 40
OF_PATHS = ("packet_sent", "packet_received", "metrics_updated", "packet_lost")
VANTAGES = ("client", "server")


class Qlog:
    """Connections, a trace each."""

    name = "qlog"
    title = "JSON and JSON-SEQ of an end of QUIC connections, in version 0.3 or newer"
    reads = (
        "packet_sent, packet_received (STREAM and ACK frames) → transfers, flows, throughput, "
        "reordering; metrics_updated → rtt, state, window; packet_lost → events (declared_lost), "
        "and lost_packets where no acknowledgement came later; a path → a subflow"
    )
    empty = "addresses where there is no connection_started; what versions before 0.3 hold"

    def matches(self, file: File) -> bool:
        """Say whether it begins as qlog does."""
        return START.search(file.head[:4096]) is not None

    def read(self, file: File) -> Contents:
        contents = Contents(self.name, file, has_clock=False)
        for trace in _traces(file.text(), contents):
            _add(contents, trace)
        if not contents.tables.get("connections"):
            raise ValueError("holds no packet of a connection")
        return contents


def _traces(text: str, contents: Contents) -> Iterator[Json]:
    """Give traces with their events."""
    is_sequence = text.startswith(SEPARATOR) or '"application/qlog+json-seq"' in text[:4096]
    if not is_sequence and '"JSON-SEQ"' not in text[:4096] and '"NDJSON"' not in text[:4096]:
        try:
            document = json.loads(text)
        except ValueError as error:
            line = getattr(error, "lineno", 1)
            raise ValueError(
                f"is not complete JSON ({error}): was the log cut off? JSON-SEQ survives that", line
            ) from error
        yield from document["traces"]
        return
    records = [one for one in text.replace(SEPARATOR, "\n").splitlines() if one.strip()]
    found = []
    for number, record in enumerate(records, 1):
        try:
            found.append(json.loads(record))
        except ValueError as error:
            if number < len(records):
                raise ValueError("is no record of qlog", number) from error
            contents.complete = False
            contents.remark("file_cut", "the last record is cut off; what is before it was read")
    yield {**found[0].get("trace", {}), "events": found[1:]}


def _add(contents: Contents, trace: Json) -> None:
    """Add the connection of a trace."""
    vantage = (trace.get("vantage_point") or {}).get("type")
    if vantage not in VANTAGES:
        raise ValueError(
            f"was logged at {vantage or 'no end'}: only logs of a client or a server are read"
        )
    end = Endpoint(vantage)
    paths: dict[str, int] = {}
    about: Json = {}
    times = []
    for record, (at_ns, event) in enumerate(_timed(trace), 1):
        times.append(at_ns)
        kind = event["name"].rpartition(":")[2].removeprefix("recovery_")
        data = event.get("data") or {}
        if kind in ("connection_started", "connection_closed"):
            about[kind] = data
        elif kind in OF_PATHS:
            path = paths.setdefault(_path(event, data), len(paths))
            _add_event(end, kind, (path, at_ns, record), data, paths)
    if not end.flows:
        return
    if times[0] >= CLOCK_MS * MILLI:
        contents.has_clock = True
    client, server = _ends(about.get("connection_started") or {}, vantage)
    connection = contents.connection(
        "quic",
        start_ns=min(times),
        end_ns=max(times),
        client=client,
        server=server,
        ended="closed" if "connection_closed" in about else "open",
        vantage=vantage,
    )
    for name in paths:
        connection.subflow(name or None)
    end.add_to(connection, list(paths.values()))


def _add_event(
    end: Endpoint, kind: str, where: tuple[int, int, int], data: Json, paths: dict[str, int]
) -> None:
    path, at_ns, record = where
    # aioquic has it without a header.
    header = data.get("header") or {**data, "packet_type": data.get("type", "1RTT")}
    if kind == "metrics_updated":
        end.metrics(path, at_ns, record, _metrics(data))
    elif kind == "packet_lost":
        why = str(data.get("trigger") or "")
        end.lost(path, at_ns, record, (_space(header), header.get("packet_number")), why)
    elif kind == "packet_sent":
        end.sent(path, _packet(at_ns, record, data, paths))
    else:
        end.received(path, _packet(at_ns, record, data, paths))


def _space(header: Json) -> str:
    """Give what packet numbers are counted by (RFC 9000 section 12.3)."""
    kind = str(header.get("packet_type", "1RTT"))
    return "1RTT" if kind == "0RTT" else kind


def _timed(trace: Json) -> Iterator[tuple[int, Json]]:
    """Give each event with its time in nanoseconds."""
    common = trace.get("common_fields") or {}
    units = (trace.get("configuration") or {}).get("time_units", "ms")
    scale = {"us": 1000}.get(units, MILLI)
    layout = common.get("time_format", "absolute")
    reference = _reference(common.get("reference_time", trace.get("reference_time", 0)), scale)
    at = 0
    for number, event in enumerate(trace["events"], 1):
        if not isinstance(event, dict) or "name" not in event:
            raise ValueError("events are lists, as before version 0.3: log in a newer one", number)
        since = _since(event["time"], number, scale)
        if layout in ("delta", "relative_to_previous_event"):
            at += since
            yield reference + at, event
        else:
            yield reference + since, event


def _since(time: Any, number: int, scale: int) -> int:
    """Give the time of an event in nanoseconds."""
    # A bool is an int, and a string times a number is a longer string.
    is_number = isinstance(time, int | float) and not isinstance(time, bool)
    if not is_number or not 0 <= time * scale <= TIMES:
        raise ValueError(
            f"the time of event {number} is {_shortened(time)}: it must be a number of 0 or more, "
            f"and at most {TIMES // scale}"
        )
    since: int = round(time * scale)
    return since


def _shortened(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def _reference(given: Any, scale: int) -> int:
    if not isinstance(given, dict):
        return round(float(given or 0) * scale)
    written = given.get("epoch")
    if written in (None, "unknown"):
        written = given.get("wall_clock_time")
    if written is None:
        return 0
    moment = datetime.fromisoformat(written.replace("Z", "+00:00"))
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - datetime(
        1970, 1, 1, tzinfo=UTC
    )
    return (since.days * 86400 + since.seconds) * 10**9 + since.microseconds * 1000


def _path(event: Json, data: Json) -> str:
    found = event.get("path", data.get("path_id", (data.get("header") or {}).get("path_id", "")))
    return "" if found is None else str(found)


def _packet(at_ns: int, record: int, data: Json, paths: dict[str, int]) -> Packet:
    header = data.get("header") or {}
    streams, acked = [], []
    for frame in data.get("frames") or []:
        kind = frame.get("frame_type")
        if kind == "stream":
            start = frame.get("offset", 0)
            streams.append((frame["stream_id"], start, start + _length(frame)))
        elif kind in ("ack", "path_ack", "ack_mp"):
            of_path = frame.get("path_id")
            path = None if of_path is None else paths.setdefault(str(of_path), len(paths))
            acked += [(path, one[0], one[-1]) for one in frame.get("acked_ranges") or []]
    return Packet(
        at_ns,
        record,
        _space(header),
        header.get("packet_number"),
        int((data.get("raw") or {}).get("length", 0)),
        streams,
        acked,
    )


def _length(frame: Json) -> int:
    raw = frame.get("raw") or {}
    return int(frame.get("length", raw.get("payload_length", raw.get("length", 0))))


def _metrics(data: Json) -> Json:
    return {("cwnd" if key == "congestion_window" else key): value for key, value in data.items()}


def _ends(started: Json, vantage: str) -> tuple[End, End]:
    """Give client and server."""
    near, far = _end(started, "local", "src"), _end(started, "remote", "dst")
    return (near, far) if vantage == "client" else (far, near)


def _end(started: Json, side: str, old: str) -> End:
    """Give one end, by the names of the drafts: newest first; quic-go's stand between them."""
    given = started.get(side) or {}
    for version in ("v4", "v6"):
        if f"ip_{version}" in given:
            return given[f"ip_{version}"], given.get(f"port_{version}")
        if nested := given.get(f"address_{version}"):
            return nested.get("ip"), nested.get("port")
    return started.get(f"{old}_ip"), started.get(f"{old}_port")


SOURCE = Qlog()
