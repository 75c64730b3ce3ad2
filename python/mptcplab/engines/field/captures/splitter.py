"""Writes the packets of one port as a capture for each connection that is asked for.

``python -m mptcplab.engines.field.captures.splitter`` reads a JSON line: ``{"port": n, "snap": n,
"most": n}`` (bytes of each file), and writes ``{"ready": who captures}`` or ``{"error": "line"}``.
Packets wait by the client's end that they are of, until ``{"claim": n, "file": path, "ends":
[[address, port, path's name], ...]}`` says that it belongs to capture ``n``; ``{"finish": n}`` ends
that, and it writes ``{"finished": n, "dropped": n or null, "left_out": n}``. Its input ends it.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from collections.abc import Iterable
from ipaddress import ip_address
from typing import Any, NamedTuple, TypeAlias

from mptcplab._core import Error
from mptcplab.engines.field.captures import source
from mptcplab.engines.field.captures.packet import Packet, ends
from mptcplab.engines.field.captures.pcapng import Writer

#: The client's address and port.
End: TypeAlias = tuple[bytes, int]

INPUT = 0
HOST = "server"
# Packets that wait, in all and of one end.
MOST_WAITING = 1 << 16
MOST_WAITING_OF_ONE = 1 << 12


class Capture:
    """A file, with an interface for each path."""

    def __init__(self, path: str, snap: int, most_bytes: int, dropped: int | None) -> None:
        #: Packets that the source had dropped when this began.
        self.dropped_before = dropped
        self.left_out = 0
        self._left = most_bytes
        self._numbers: dict[str, int] = {}
        self._raw = open(path, "xb", buffering=1 << 16)  # noqa: SIM115, PTH123 - to the end
        os.fchmod(self._raw.fileno(), 0o600)
        self._writer = Writer(self._raw, [], snap)

    def write(self, name: str, packet: Packet) -> None:
        """Write a packet of a path."""
        if self._left < len(packet.data):
            self.left_out += 1
            return
        if name not in self._numbers:
            self._numbers[name] = len(self._numbers)
            self._writer.interface(f"{HOST}:{name}")
        number = self._numbers[name]
        self._left -= self._writer.packet(
            number, packet.at_ns, packet.length, packet.data, out=packet.out
        )

    def finish(self, dropped: int) -> None:
        """Write what is missing, and end."""
        lost = dropped + self.left_out
        # Which interface they belonged to is not known.
        drops = [lost, *[0] * (len(self._numbers) - 1)] if self._numbers else []
        self._writer.finish(time.time_ns(), drops)
        self._raw.close()


class Claimed(NamedTuple):
    """The capture and the path of a client's end."""

    capture: Capture
    path: str


class Splitter:
    """Gives packets to the captures that they belong to."""

    def __init__(self, port: int, snap: int, most_bytes: int) -> None:
        self._port = port
        self._snap = snap
        self._most_bytes = most_bytes
        self._captures: dict[int, Capture] = {}
        self._claimed: dict[End, Claimed] = {}
        self._waiting: dict[End, list[Packet]] = {}
        self._count = 0

    def add(self, packets: Iterable[Packet]) -> None:
        """Write packets of claimed ends, and keep the others for a while."""
        for one in packets:
            from_, to = ends(one.data)
            end = to if from_[1] == self._port else from_
            claimed = self._claimed.get(end)
            if claimed is not None:
                claimed.capture.write(claimed.path, one)
            else:
                self._wait(end, one._replace(data=bytes(one.data)))

    def claim(
        self, number: int, file: str, named: list[tuple[str, int, str]], dropped: int | None
    ) -> None:
        """Write the packets of these ends to a capture, those that wait first."""
        if number not in self._captures:
            self._captures[number] = Capture(file, self._snap, self._most_bytes, dropped)
        capture = self._captures[number]
        early: list[tuple[str, Packet]] = []
        for address, port, path in named:
            end = ip_address(address).packed, port
            self._claimed[end] = Claimed(capture, path)
            waiting = self._waiting.pop(end, [])
            self._count -= len(waiting)
            early += [(path, packet) for packet in waiting]
        for path, packet in sorted(early, key=lambda one: one[1].at_ns):
            capture.write(path, packet)

    def finish(self, number: int, dropped: int | None) -> dict[str, Any]:
        """End a capture."""
        capture = self._captures.pop(number)
        for end in [end for end, one in self._claimed.items() if one.capture is capture]:
            del self._claimed[end]
        before = capture.dropped_before
        lost = None if dropped is None or before is None else dropped - before
        capture.finish(lost or 0)
        return {"finished": number, "dropped": lost, "left_out": capture.left_out}

    def _wait(self, end: End, packet: Packet) -> None:
        waiting = self._waiting.setdefault(end, [])
        if len(waiting) < MOST_WAITING_OF_ONE:
            waiting.append(packet)
            self._count += 1
        while self._count > MOST_WAITING:
            # The oldest are the least likely to be claimed.
            oldest = next(iter(self._waiting))
            self._count -= len(self._waiting.pop(oldest))


def main() -> int:
    """Serve one job."""
    line = b""
    while (byte := os.read(INPUT, 1)) not in (b"", b"\n"):
        line += byte
    job = json.loads(line)
    try:
        packets = source.opened(job["port"], job["snap"])
    except (Error, OSError) as error:
        _send({"error": str(error)})
        return 1
    _send({"ready": packets.by})
    splitter = Splitter(job["port"], job["snap"], job["most"])
    poll = select.epoll()
    poll.register(packets, select.EPOLLIN)
    poll.register(INPUT, select.EPOLLIN)
    partial = b""
    while True:
        ready = {fd for fd, _ in poll.poll()}
        if packets.fileno() in ready:
            splitter.add(packets.take())
        if INPUT not in ready:
            continue
        received = os.read(INPUT, 1 << 16)
        if not received:
            break
        *lines, partial = (partial + received).split(b"\n")
        for request in map(json.loads, lines):
            if "claim" in request:
                named = request["ends"]
                splitter.claim(request["claim"], request["file"], named, packets.dropped())
            else:
                _send(splitter.finish(request["finish"], packets.dropped()))
    packets.finish()
    return 0


def _send(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    sys.exit(main())
