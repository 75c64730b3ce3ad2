"""What a file contains, as rows of the tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mptcplab.recordings.recording import LONGEST, TIMES
from mptcplab.sources.file import File

Row = dict[str, Any]
#: An address and a port, each unknown where it is None.
End = tuple[str | None, int | None]

SECOND = 10**9
# Tables that name the file of each row.
NAMED = {"rtt", "reordering", "window", "events"}
UNKNOWN_END: End = (None, None)


class Contents:
    """Rows of the tables, by table; what a column needs and no cell has stays empty.

    Rows have their columns as keys. Their times are ``at_ns`` (of a connection ``start_ns``) alone:
    the seconds beside them follow once it is known what else is read.
    """

    def __init__(self, source: str, file: File, *, has_clock: bool = True) -> None:
        #: The tool.
        self.source = source
        #: What the file is called in tables.
        self.name = file.name
        #: Whether times are Unix time; if not, they count from any beginning.
        self.has_clock = has_clock
        #: Whether the file was read to its end.
        self.complete = True
        self.tables: dict[str, list[Row]] = {}

    def add(self, table: str, **row: Any) -> None:
        """Add a row."""
        self.tables.setdefault(table, []).append(row)

    def remark(self, diagnostic: str, message: str, **row: Any) -> None:
        """Say what limits trust in the numbers."""
        self.add("diagnostics", diagnostic=diagnostic, message=message, capture=self.name, **row)

    def jumped(self, connection: Connection) -> None:
        """Say that the clock was set back during a connection."""
        self.remark(
            "clock_jumped",
            "its clock was set back during the connection: what spans that is wrong or left empty",
            connection=connection.number,
        )

    def cut(self) -> None:
        """Say that the file ends within a line, which is left out."""
        self.complete = False
        self.remark("file_cut", "the last line is cut off; it was left out")

    def whole_lines(self, file: File) -> Iterator[tuple[int, str]]:
        """Give the lines with their numbers, and leave out a last one that does not end."""
        lines = file.text().splitlines(keepends=True)
        is_cut = bool(lines) and not lines[-1].endswith("\n")
        yield from enumerate(lines[:-1] if is_cut else lines, 1)
        if is_cut:
            self.cut()

    def connection(
        self,
        protocol: str,
        *,
        start_ns: int,
        end_ns: int,
        client: End = UNKNOWN_END,
        server: End = UNKNOWN_END,
        **columns: Any,
    ) -> Connection:
        """Add a connection; ``columns`` are further ones, and others than these are supposed."""
        if fault := _fault(start_ns, end_ns):
            raise ValueError(f"a connection {fault}: a time is wrong")
        made = Connection(self, len(self.tables.get("connections", [])), start_ns, end_ns)
        row: Row = {
            "connection": made.number,
            "client_address": client[0],
            "client_port": client[1],
            "server_address": server[0],
            "server_port": server[1],
            "protocol": protocol,
            "start_ns": start_ns,
            "duration_s": (end_ns - start_ns) / SECOND,
            "subflows": 0,
            "began": "handshake",
            "ended": "closed",
            "source": self.source,
        }
        made.row = row | columns
        self.add("connections", **made.row)
        made.row = self.tables["connections"][-1]
        return made

    def seconds(self, origin_ns: int) -> Iterator[tuple[str, list[Row]]]:
        """Give the tables with times in seconds from a moment."""
        for table, rows in self.tables.items():
            yield table, [_timed(row, origin_ns) for row in rows]

    @property
    def start_ns(self) -> int | None:
        """The first moment that it tells of."""
        keys = ("at_ns", "start_ns")
        times = [
            row[key] for rows in self.tables.values() for row in rows for key in keys if key in row
        ]
        return min(times, default=None)


class Connection:
    """A connection that a file tells of, and the rows about it."""

    def __init__(self, contents: Contents, number: int, start_ns: int, end_ns: int) -> None:
        self._contents = contents
        self.number = number
        self.start_ns = start_ns
        self.end_ns = end_ns
        self.row: Row = {}

    def subflow(self, path: str | None = None, **columns: Any) -> int:
        """Add a subflow, or the path of another protocol, and give its number."""
        row = self.row
        number = int(row["subflows"])
        row["subflows"] += 1
        ends = ("client_address", "client_port", "server_address", "server_port")
        own: Row = {
            "subflow": number,
            "path": path,
            **{column: row[column] for column in ends},
            "kind": row["protocol"],
            "start_ns": self.start_ns,
            "handshake": "established" if row["began"] == "handshake" else "unseen",
            "backup": False,
            "ended": "fin" if row["ended"] == "closed" else "open",
            "end_ns": self.end_ns,
        }
        self.add("subflows", **(own | columns))
        return number

    def moved(
        self, direction: str, flows: dict[int, Row], *, elapsed_s: float | None, **columns: Any
    ) -> None:
        """Add what a direction moved: ``flows`` has columns by subflow, among them ``bytes``.

        ``columns`` are of the direction; its ``bytes`` are the sum unless they say otherwise.
        """
        arrived = sum(flow["bytes"] for flow in flows.values())
        total = {"bytes": arrived} | columns
        rate = mbps(total["bytes"], elapsed_s)
        self.add(
            "transfers", direction=direction, elapsed_s=elapsed_s, throughput_mbps=rate, **total
        )
        for subflow, flow in flows.items():
            share = flow["bytes"] / arrived if arrived else None
            own: Row = {
                "delivered_bytes": flow["bytes"],
                "share": share,
                "throughput_mbps": mbps(flow["bytes"], elapsed_s),
                "loss_rate_percent": _loss(flow),
            }
            self.add("flows", subflow=subflow, direction=direction, **(own | flow))

    def bins(self, direction: str, bins: list[tuple[int, int, int]], subflow: int | None) -> None:
        """Add the throughput over time: the start of each bin, its length (ns), and its bytes."""
        for at_ns, length_ns, count in bins:
            self.add(
                "throughput",
                subflow=subflow,
                direction=direction,
                at_ns=at_ns,
                bytes=count,
                throughput_mbps=mbps(count, length_ns / SECOND) or 0.0,
            )

    def add(self, table: str, **row: Any) -> None:
        """Add a row about it; ``record`` of a sample is its line or event in the file."""
        if table in NAMED:
            row["capture"] = self._contents.name
        self._contents.add(table, connection=self.number, **row)


def _fault(start_ns: int, end_ns: int) -> str | None:
    """Say why a connection cannot have these times, if it cannot."""
    if abs(start_ns) > TIMES:
        return f"cannot begin at {start_ns / SECOND:g} s"
    if end_ns < start_ns:
        return f"cannot end {(start_ns - end_ns) / SECOND:g} s before it begins"
    if end_ns > start_ns + LONGEST:
        return f"cannot last {(end_ns - start_ns) / SECOND:.16g} s (at most {LONGEST // SECOND} s)"
    return None


def mbps(count: float, seconds: float | None) -> float | None:
    """Give the rate of so many bytes, in Mbit/s."""
    return count * 8e-6 / seconds if seconds else None


def _loss(flow: Row) -> float | None:
    again, packets = flow.get("retransmitted_packets"), flow.get("data_packets")
    return 100 * again / packets if packets and again is not None else None


def _timed(row: Row, origin_ns: int) -> Row:
    """Put seconds beside the nanoseconds, or in their place where the table has no such column."""
    row = dict(row)
    if "at_ns" in row:
        row["at_s"] = (row["at_ns"] - origin_ns) / SECOND
    if "start_ns" in row:
        row["start_s"] = (row["start_ns"] - origin_ns) / SECOND
    if "end_ns" in row:
        row["end_s"] = (row.pop("end_ns") - origin_ns) / SECOND
        del row["start_ns"]
    return row
