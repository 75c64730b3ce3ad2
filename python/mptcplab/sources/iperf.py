"""What the text and the CSV of iperf3 and iperf 2 have in common: streams with intervals."""

from __future__ import annotations

from dataclasses import dataclass, field

from mptcplab.sources.contents import SECOND, UNKNOWN_END, Connection, Contents, End, Row

# Both count bytes in powers of 1024, and bits in powers of 1000.
PREFIXES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass
class Interval:
    """A line: what moved from second to second of a test, and what the sender's kernel said."""

    start_s: float
    end_s: float
    bytes: int
    packets: int | None = None
    lost: int | None = None
    retransmitted: int | None = None
    cwnd_bytes: int | None = None
    cwnd_packets: int | None = None
    srtt_ms: float | None = None
    rttvar_ms: float | None = None

    @property
    def elapsed_s(self) -> float:
        """How long it was."""
        return self.end_s - self.start_s


@dataclass
class Stream:
    """A direction of a connection as one end tells of it; None where it does not say."""

    client: End = UNKNOWN_END
    server: End = UNKNOWN_END
    vantage: str | None = None
    direction: str = "up"
    sends: bool | None = None
    is_udp: bool = False
    began_ns: int = 0
    mss_bytes: int | None = None
    handshake_ms: float | None = None
    intervals: list[Interval] = field(default_factory=list)
    #: The whole test, as its sender counted it, and as its receiver did.
    sent: Interval | None = None
    arrived: Interval | None = None

    @property
    def end_s(self) -> float:
        """When its last line ends."""
        lines = (*self.intervals, self.sent, self.arrived)
        return max((one.end_s for one in lines if one), default=0.0)

    def add(self, contents: Contents, connection: Connection | None = None) -> Connection | None:
        """Add its rows, to a connection whose other direction it may be; none if it has no line."""
        total = self.arrived or self.sent
        if not (self.intervals or total):
            return connection
        if connection is None:
            connection = contents.connection(
                "udp" if self.is_udp else "tcp",
                start_ns=self.began_ns,
                end_ns=self.began_ns + round(self.end_s * SECOND),
                client=self.client,
                server=self.server,
                began="unknown" if self.is_udp else "handshake",
                ended="closed" if total else "open",
                vantage=self.vantage,
            )
            connection.subflow(handshake_rtt_ms=self.handshake_ms)
        elapsed_s = total.elapsed_s if total else sum(one.elapsed_s for one in self.intervals)
        connection.moved(self.direction, {0: self._moved(total)}, elapsed_s=elapsed_s)
        # Without -i, all is in one line.
        lines = self.intervals or [one for one in (total,) if one]
        bins = [
            (self.began_ns + round(one.start_s * SECOND), round(one.elapsed_s * SECOND), one.bytes)
            for one in lines
        ]
        for each in (None, 0):
            connection.bins(self.direction, bins, each)
        if self.sends:
            self._add_state(connection)
            say_not_arrived(contents, connection, is_known=self.arrived is not None)
        return connection

    def _moved(self, total: Interval | None) -> Row:
        row: Row = {"bytes": total.bytes if total else sum(one.bytes for one in self.intervals)}
        if self.is_udp:
            counted = self.intervals if total is None else [total]
            if all(one.packets is not None for one in counted):
                row["data_packets"] = sum(one.packets or 0 for one in counted)
            known = [self.arrived] if self.arrived else []
            if not (known or self.sends):
                known = self.intervals
            if known and all(one.lost is not None for one in known):
                row["lost_packets"] = sum(one.lost or 0 for one in known)
            return row
        counted = [self.sent] if self.sent else self.intervals
        if all(one.retransmitted is not None for one in counted):
            row["retransmitted_packets"] = sum(one.retransmitted or 0 for one in counted)
        return row

    def _add_state(self, connection: Connection) -> None:
        again = 0
        for one in self.intervals:
            if one.retransmitted is None:
                continue
            again += one.retransmitted
            packets = one.cwnd_packets
            if packets is None and one.cwnd_bytes is not None and self.mss_bytes:
                packets = round(one.cwnd_bytes / self.mss_bytes)
            connection.add(
                "state",
                subflow=0,
                host=self.vantage,
                at_ns=self.began_ns + round(one.end_s * SECOND),
                cwnd_packets=packets,
                srtt_ms=one.srtt_ms,
                rttvar_ms=one.rttvar_ms,
                retransmitted_packets=again,
            )


def count(number: str, prefix: str) -> int:
    """Give bytes that are written with a prefix."""
    return round(float(number) * PREFIXES[prefix.upper()])


def say_not_arrived(contents: Contents, connection: Connection, *, is_known: bool) -> None:
    """Say what a sender's figures are."""
    contents.remark(
        "sent_not_arrived",
        f"{contents.source} at the sender counts what it gave to its socket: over time, up to a "
        "socket buffer of it had not arrived"
        + ("" if is_known else "; how much arrived in the end it does not say"),
        connection=connection.number,
    )


def say_rough(contents: Contents, what: str) -> None:
    """Say how exact times are."""
    contents.remark(
        "rough_clock",
        f"{contents.source} gives {what}: times may be off by a second or more against those of "
        "other files",
    )


def say_rounded(contents: Contents) -> None:
    """Say how exact text is."""
    contents.remark(
        "rounded",
        f"the text of {contents.source} has three digits: bytes may be off by half a percent",
    )
