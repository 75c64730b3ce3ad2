"""The log of a direction of Mahimahi's mm-link (``--uplink-log``, ``--downlink-log``), in ms."""

from __future__ import annotations

import re
from collections import Counter

from mptcplab.sources.contents import SECOND, Contents
from mptcplab.sources.file import File

MS = 10**6
# A million seconds.
LONGEST_MS = 10**9
HEAD = re.compile(r"# mahimahi mm-link \((\w+)\)")
#: When the program began, in Unix time, and when the link did, counted from there.
STAMP = re.compile(r"# (init|base) timestamp: (\d+)$")
# An arrival, an opportunity, a departure with its time in the queue; packets dropped, and bytes.
EVENT = re.compile(r"(\d+) (?:([+#]) (\d+)|(-) (\d+) (\d+)|(d) (\d+) (\d+))$")
DIRECTIONS = {"Uplink": "up", "Downlink": "down"}
# What a TUN device puts before each packet.
TUN_BYTES = 4


class MahimahiLog:
    """What passed a direction of a link, as a connection of its own."""

    name = "mahimahi-log"
    title = "log of a direction of Mahimahi's mm-link (--uplink-log, --downlink-log)"
    reads = (
        "- → transfers, flows and throughput, in bytes of IP packets, and queues (time in the "
        "queue, what waits in it); +, d → packets and lost_packets"
    )
    empty = "connections, addresses, mm-delay's delay and mm-loss's losses; capacity (#)"

    def matches(self, file: File) -> bool:
        return HEAD.match(file.head) is not None

    def read(self, file: File) -> Contents:
        contents = Contents("mahimahi", file, has_clock=False)
        text = file.text()
        name = HEAD.match(text)
        link = name[1] if name else ""
        if link not in DIRECTIONS:
            raise ValueError(f"is of a link named {link!r}, not Uplink or Downlink", 1)
        stamps: dict[str, int] = {}
        log = _Log(contents, link.lower(), DIRECTIONS[link])
        lines = text.splitlines(keepends=True)
        for number, line in enumerate(lines, 1):
            if found := STAMP.match(line):
                stamps[found[1]] = int(found[2])
                log.began_ms = stamps.get("init", 0)
                continue
            if line.startswith("#"):
                continue
            if number == len(lines) and not line.endswith("\n"):
                contents.cut()
                break
            event = EVENT.match(line.rstrip())
            if event is None:
                raise ValueError(
                    f"{line[:60].rstrip()!r} is no event of mm-link: TIME + BYTES, # BYTES, "
                    "- BYTES DELAY or d PACKETS BYTES",
                    number,
                )
            if int(event[1]) > LONGEST_MS:
                raise ValueError(f"{event[1]} ms is no time of a log that mm-link writes", number)
            log.event(*(one for one in event.groups() if one is not None))
        if "base" not in stamps:
            raise ValueError('has no "# base timestamp", with which mm-link begins a log')
        contents.has_clock = "init" in stamps
        log.finish()
        return contents


class _Log:
    """What passed, event by event."""

    def __init__(self, contents: Contents, link: str, direction: str) -> None:
        self.began_ms = 0
        self._contents = contents
        self._link = link
        self._direction = direction
        self._times: list[int] = []
        self._arrived = self._dropped = self._left = 0
        self._waiting = [0, 0]
        self._bins: Counter[int] = Counter()

    def event(self, at: str, what: str, first: str, second: str = "0") -> None:
        at_ms = self.began_ms + int(at)
        self._times.append(at_ms)
        size = int(first) - TUN_BYTES
        if what == "+":
            self._arrived += 1
            self._wait(1, size)
        elif what == "d":
            self._dropped += int(first)
            self._wait(-int(first), TUN_BYTES * int(first) - int(second))
        elif what == "-":
            self._left += size
            self._wait(-1, -size)
            self._bins[(at_ms - self._times[0]) // 1000] += size
            self._contents.add(
                "queues",
                link=self._link,
                direction=self._direction,
                element="mm-link",
                at_ns=at_ms * MS,
                queued_bytes=self._waiting[1],
                queued_packets=self._waiting[0],
                queue_delay_ms=float(second),
                marked_packets=0,
            )

    def _wait(self, packets: int, size: int) -> None:
        # A log may begin with a queue that is not empty.
        waiting = (self._waiting[0] + packets, self._waiting[1] + size)
        self._waiting = [max(0, one) for one in waiting]

    def finish(self) -> None:
        if not self._arrived:
            raise ValueError("holds no packet: nothing was sent over this direction of the link")
        start_ns, end_ns = (one * MS for one in (min(self._times), max(self._times)))
        connection = self._contents.connection(
            "unknown",
            start_ns=start_ns,
            end_ns=end_ns,
            began="unknown",
            ended="open",
            vantage="both",
        )
        subflow = connection.subflow(self._link, ended="open")
        row = {"bytes": self._left, "packets": self._arrived, "lost_packets": self._dropped}
        elapsed_s = (end_ns - start_ns) / SECOND
        connection.moved(self._direction, {subflow: row}, elapsed_s=elapsed_s)
        bins = []
        for at_s in range(int(elapsed_s) + 1):
            from_ns = start_ns + at_s * SECOND
            if length := min(SECOND, end_ns - from_ns):
                bins.append((from_ns, length, self._bins[at_s]))
        for each in (None, subflow):
            connection.bins(self._direction, bins, each)
        self._contents.remark(
            "headers_counted",
            "mm-link counts packets of all connections: bytes are with headers, and what was sent "
            "again",
            connection=connection.number,
        )


SOURCE = MahimahiLog()
