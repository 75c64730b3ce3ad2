"""Tables without captures: what the kernels counted and the applications marked, and no more.

Bytes, packets and retransmissions are TCP's own counts (TCP_INFO) as they were last seen. Times are
those of the client's application: from when it began to connect until it had read all (``down``),
or until all that it wrote was acknowledged (``up``). Whatever only packets tell is empty.
"""

from __future__ import annotations

import json
from bisect import bisect

from mptcplab import _core
from mptcplab.engines.kernel.pairing import paired

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import Any

    from mptcplab.engines.field.measure import Ended
    from mptcplab.engines.field.routes import Route

    Row = dict[str, Any]

BIN_NS = 10**9
# States of TCP (include/net/tcp_states.h) in which the peer has acknowledged our FIN, and in which
# its own has come: both once it has closed. Linux counts a FIN as a byte acknowledged or received,
# and a SYN as one acknowledged where it opened the connection (tcp_snd_una_update,
# tcp_rcv_nxt_update).
FIN_WAIT2, CLOSE, CLOSE_WAIT, LAST_ACK, CLOSING = 5, 7, 8, 9, 11
FIN_ACKNOWLEDGED = (FIN_WAIT2, CLOSE)
FIN_RECEIVED = (CLOSE, CLOSE_WAIT, LAST_ACK, CLOSING)
FLAG_BYTES = 1
# Up to this part of the delivered data may be duplicates where shares are still given.
MOST_DUPLICATES = 0.01


class Marked:
    """The tables, by name."""

    def __init__(self, ended: Ended, routes: dict[str, Route], samples: Path) -> None:
        self._ended = ended
        self._paths = {one.local: name for name, one in routes.items()}
        mark = ended.client["connections"][0] if ended.client["connections"] else {}
        self._start_ns: int = mark.get("begun_ns") or ended.started_ns
        self._ends_ns = {"down": mark.get("last_read_ns"), "up": mark.get("delivered_ns")}
        counted = ended.client["counted"][0] if ended.client["counted"] else []
        self._client = sorted(counted, key=lambda one: one["first_ns"])
        self._server = self._of_server(ended.server["counted"])
        self._lines = (
            [json.loads(line) for line in samples.read_text("utf-8").splitlines()]
            if samples.exists()
            else []
        )
        self._rows: dict[str, list[Row]] = {"connections": []}
        if self._client:
            self._rows = {
                "connections": [self._connection()],
                "transfers": [self._transfer(direction) for direction in ("up", "down")],
                "subflows": [self._subflow(number) for number in range(len(self._client))],
                "flows": [
                    self._flow(number, direction)
                    for number in range(len(self._client))
                    for direction in ("up", "down")
                ],
                "throughput": list(self._throughput()),
            }

    def rows(self, name: str, *, columns: Iterable[str] | None = None) -> Iterable[Row]:
        """Give the rows of a table, with what is known in them."""
        del columns
        return self._rows.get(name, [])

    def table(self, name: str) -> _core.Table:
        """Give a table; one of which packets alone could tell is empty."""
        return _core.rows(name, json.dumps(self._rows.get(name, [])))

    def _of_server(self, counted: list[list[Row]]) -> list[Row | None]:
        """Give the server's counts of each subflow of the client, where they can be matched."""
        theirs = sorted(counted[0] if counted else [], key=lambda one: one["first_ns"])
        by_end = {tuple(one["remote"]): one for one in theirs}
        names = paired(
            {tuple(one["local"]): one.get("ids") for one in self._client},
            {end: one.get("ids") for end, one in by_end.items()},
        )
        found = {ours: by_end[end] for end, ours in names.items()}
        return [found.get(tuple(one["local"])) for one in self._client]

    def _bytes(self, direction: str) -> int:
        end = self._ended.client if direction == "down" else self._ended.server
        return int(end["bytes_received"])

    def _seconds(self, direction: str) -> float | None:
        end_ns = self._ends_ns[direction] if self._bytes(direction) else None
        return None if end_ns is None else (end_ns - self._start_ns) / 1e9

    def _mbps(self, count: int, direction: str) -> float | None:
        seconds = self._seconds(direction)
        return count * 8 / seconds / 1e6 if seconds else None

    def _connection(self) -> Row:
        socket = self._ended.client["sockets"][0]
        theirs = (self._ended.server["sockets"] or [{}])[0]
        local, remote = self._client[0]["local"], self._client[0]["remote"]
        mptcp = socket["mptcp"] and not socket["fallback"]
        return {
            "connection": 0,
            "client_address": local[0],
            "client_port": local[1],
            "server_address": remote[0],
            "server_port": remote[1],
            "protocol": "mptcp" if mptcp else "tcp",
            "mptcp_version": 1 if mptcp else None,
            "client_token": socket["token"] if mptcp else None,
            "server_token": theirs.get("token") if mptcp else None,
            "start_ns": self._start_ns,
            "start_s": 0.0,
            "duration_s": self._last_s(),
            "subflows": len(self._client),
            "began": "handshake",
            "fallback": "the kernel says that it fell back" if socket["fallback"] else None,
            "ended": "closed" if self._finished else "open",
        }

    def _last_s(self) -> float:
        ends = [end for end in self._ends_ns.values() if end is not None]
        return (max(ends) - self._start_ns) / 1e9 if ends else self._ended.elapsed_ns / 1e9

    @property
    def _finished(self) -> bool:
        return bool(self._ended.client["finished"])

    def _transfer(self, direction: str) -> Row:
        count = self._bytes(direction)
        return {
            "connection": 0,
            "direction": direction,
            "bytes": count,
            "elapsed_s": self._seconds(direction),
            "throughput_mbps": self._mbps(count, direction),
        }

    def _subflow(self, number: int) -> Row:
        one = self._client[number]
        plain = not self._ended.client["sockets"][0]["mptcp"]
        start_s = max(0, one["first_ns"] - self._start_ns) / 1e9 if number else 0.0
        return {
            "connection": 0,
            "subflow": number,
            "path": self._paths.get(one["local"][0]),
            "client_address": one["local"][0],
            "client_port": one["local"][1],
            "server_address": one["remote"][0],
            "server_port": one["remote"][1],
            "kind": "tcp" if plain else "join" if number else "initial",
            "opened_by": "client",
            "start_s": start_s,
            "handshake": "established",
            "backup": bool(one["backup"]),
            "ended": "fin" if self._finished else "open",
            "end_s": self._last_s(),
        }

    def _flow(self, number: int, direction: str) -> Row:
        ours, theirs = self._client[number], self._server[number]
        sender, receiver = (theirs, ours) if direction == "down" else (ours, theirs)
        count = self._delivered(number, direction)
        sent = sender or {}
        data_packets = sent.get("data_segs_out") or (receiver or {}).get("data_segs_in") or 0
        resent = sent.get("total_retrans")
        min_us = sent.get("min_rtt")
        row = {
            "connection": 0,
            "subflow": number,
            "direction": direction,
            "bytes": count,
            "share": self._share(count, direction),
            "packets": sent.get("segs_out") or (receiver or {}).get("segs_in") or 0,
            "data_packets": data_packets,
            "data_bytes": sent.get("bytes_sent") or count,
            "throughput_mbps": self._mbps(count, direction),
        }
        if sender is not None:
            row |= {
                "retransmitted_packets": resent,
                "retransmitted_bytes": sender["bytes_retrans"],
                "loss_rate_percent": 100 * resent / data_packets
                if resent is not None and data_packets
                else None,
                "rtt_ms_min": min_us / 1000 if min_us and min_us != 0xFFFF_FFFF else None,
            }
        return row

    def _share(self, count: int, direction: str) -> float | None:
        """Give it where hardly any data was received twice."""
        total = sum(self._delivered(number, direction) for number in range(len(self._client)))
        extra = 0 if direction == "down" else self._ended.ready["preamble_bytes"]
        most = (self._bytes(direction) + extra) * (1 + MOST_DUPLICATES)
        return count / total if total and total <= most else None

    def _delivered(self, number: int, direction: str) -> int:
        """Count the bytes of a subflow that were received: which end looked last knows best."""
        ours, theirs = self._client[number], self._server[number]
        if direction == "down":
            return max(received(ours), acknowledged(theirs, opened=False))
        return max(received(theirs), acknowledged(ours, opened=True))

    def _throughput(self) -> Iterator[Row]:
        """Series at the client: what its subflows received and had acknowledged, and the sums."""
        keys = {tuple(one["local"]): number for number, one in enumerate(self._client)}
        for direction, column, flag in (
            ("down", "received_bytes", 0),
            ("up", "acknowledged_bytes", FLAG_BYTES),
        ):
            if not self._bytes(direction):
                continue
            series: dict[int, list[tuple[int, int]]] = {number: [] for number in keys.values()}
            for line in self._lines:
                number = keys.get(tuple(line["local"]))
                if number is not None and line.get(column) is not None:
                    # Beyond it there is only a FIN.
                    count = min(max(0, line[column] - flag), self._delivered(number, direction))
                    series[number].append((line["at_ns"], count))
            binned = {number: list(self._binned(points)) for number, points in series.items()}
            yield from self._whole(direction, list(zip(*binned.values(), strict=True)))
            for number, rows in binned.items():
                for row in rows:
                    yield {"connection": 0, "subflow": number, "direction": direction} | row

    def _whole(self, direction: str, bins: list[tuple[Row, ...]]) -> Iterator[Row]:
        """Sum up the subflows; what came after the last look at one of them came at the end."""
        counts = [sum(row["bytes"] for row in one) for one in bins]
        if not counts:
            return
        counts[-1] += max(0, self._bytes(direction) - sum(counts))
        for (first, *_), count in zip(bins, counts, strict=True):
            about = {"connection": 0, "subflow": None, "direction": direction}
            yield about | self._bin(first, count)

    def _binned(self, points: list[tuple[int, int]]) -> Iterator[Row]:
        before = 0
        for number, at_ns in enumerate(range(self._start_ns, self._end_ns, BIN_NS)):
            until_ns = min(at_ns + BIN_NS, self._end_ns)
            now = points[-1][1] if points and until_ns == self._end_ns else _at(points, until_ns)
            yield self._bin({"at_ns": at_ns, "at_s": number * BIN_NS / 1e9}, now - before)
            before = now

    def _bin(self, row: Row, count: int) -> Row:
        """Give a bin so many bytes."""
        lasts_ns = min(BIN_NS, self._end_ns - row["at_ns"])
        return row | {"bytes": count, "throughput_mbps": count * 8e3 / lasts_ns}

    @property
    def _end_ns(self) -> int:
        return self._start_ns + int(self._last_s() * 1e9)


def _at(points: list[tuple[int, int]], at_ns: int) -> int:
    """Interpolate the count at a time, linearly between two samples."""
    after = bisect(points, at_ns, key=lambda point: point[0])
    if after in (0, len(points)):
        return points[-1][1] if after else 0
    (from_ns, from_count), (to_ns, to_count) = points[after - 1 : after + 1]
    return from_count + (to_count - from_count) * (at_ns - from_ns) // (to_ns - from_ns)


def acknowledged(counted: Row | None, *, opened: bool) -> int:
    """Count the bytes of data that an end had acknowledged; ``opened``: it sent the first SYN."""
    if counted is None:
        return 0
    flags = int(opened) + int(counted.get("state") in FIN_ACKNOWLEDGED)
    return max(0, int(counted["bytes_acked"]) - flags * FLAG_BYTES)


def received(counted: Row | None) -> int:
    """Count the bytes of data that an end received."""
    if counted is None:
        return 0
    flags = int(counted.get("state") in FIN_RECEIVED)
    return max(0, int(counted["bytes_received"]) - flags * FLAG_BYTES)
