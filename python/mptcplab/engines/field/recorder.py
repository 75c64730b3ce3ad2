"""The recorder: writes the TCP packets of one port as they pass interfaces of this host.

``python -m mptcplab.engines.field.recorder`` reads a JSON line: ``{"file": path, "host":
"client", "interfaces": {name: as it is called}, or null for all, "port": n, "snap": n, "most": n}``
(bytes of the file; null: no limit). It writes ``{"ready": who captures}`` or ``{"error": "one
line"}``, and ends with its input. Before that it may read ``{"without": [[address, port],
...]}``: connections with these are none of the run's, and their packets are left out. At its end
it writes ``{"captured": {"dropped": n, "left_out": n}}``: packets that the kernel dropped, and
that came once the file was full; or ``{"error": "one line"}``, and leaves no file.
"""

from __future__ import annotations

import json
import os
import select
import socket
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from mptcplab._core import Error
from mptcplab.engines.field.captures import source
from mptcplab.engines.field.captures.packet import Packet
from mptcplab.engines.field.captures.pcapng import Writer, leave_out

SNAP_BYTES = 128
WHOLE_BYTES = 1 << 16
INPUT, OUTPUT = 0, 1


class Recorder:
    """A source of packets, and the capture that they are written to."""

    def __init__(self, job: dict[str, Any]) -> None:
        interfaces: dict[str, str] | None = job["interfaces"]
        if interfaces is None:
            interfaces = {name: name for _, name in socket.if_nameindex()}
        self._source = source.opened(job["port"], job["snap"])
        #: As a run says who captures.
        self.by = self._source.by
        self._file = Path(job["file"])
        self._names = [f"{job['host']}:{label}" for label in interfaces.values()]
        self._numbers = {name: number for number, name in enumerate(interfaces)}
        self._left: int | None = job["most"]
        self._left_out = 0
        self._input = b""
        self._raw = open(self._file, "xb", buffering=1 << 20)  # noqa: SIM115, PTH123 - to the end
        os.fchmod(self._raw.fileno(), 0o600)
        self._writer = Writer(self._raw, self._names, job["snap"])

    def run(self) -> dict[str, int]:
        """Write until the input ends; gives how many packets were not written."""
        poll = select.epoll()
        poll.register(self._source, select.EPOLLIN)
        poll.register(INPUT, select.EPOLLIN)
        while True:
            ready = {fd for fd, _ in poll.poll()}
            if self._source.fileno() in ready:
                self._write(self._source.take())
            if INPUT in ready:
                received = os.read(INPUT, 1 << 16)
                self._input += received
                if not received:
                    break
        poll.close()
        last, dropped = self._source.finish()
        self._write(last)
        # Which interface they belonged to is not known.
        drops = [dropped + self._left_out, *[0] * (len(self._names) - 1)]
        self._writer.finish(time.time_ns(), drops)
        self._raw.close()
        lines = [json.loads(line) for line in self._input.splitlines()]
        others = {(str(address), int(port)) for one in lines for address, port in one["without"]}
        if others:
            leave_out(self._file, others)
        return {"dropped": dropped, "left_out": self._left_out}

    def discard(self) -> None:
        """Remove the capture, with what could not be written."""
        with suppress(OSError):
            self._raw.close()
        self._file.unlink(missing_ok=True)

    def _write(self, packets: Iterable[Packet]) -> None:
        for one in packets:
            number = self._numbers.get(one.interface)
            if number is None:
                continue
            if self._left is not None and self._left < len(one.data):
                self._left_out += 1
                continue
            count = self._writer.packet(number, one.at_ns, one.length, one.data, out=one.out)
            if self._left is not None:
                self._left -= count


def main() -> int:
    """Serve one job."""
    line = b""
    while (byte := os.read(INPUT, 1)) not in (b"", b"\n"):
        line += byte
    try:
        recorder = Recorder(json.loads(line))
    except (Error, OSError) as error:
        _send({"error": reason(error)})
        return 1
    _send({"ready": recorder.by})
    try:
        _send({"captured": recorder.run()})
    except OSError as error:
        # What it holds is no whole capture.
        recorder.discard()
        _send({"error": f"cannot write the capture: {reason(error)}"})
        return 1
    return 0


def _send(line: dict[str, Any]) -> None:
    """Send a line to the process that started us, unless it has ended."""
    with suppress(BrokenPipeError):
        os.write(OUTPUT, json.dumps(line).encode() + b"\n")


def reason(error: Error | OSError) -> str:
    """Describe an error in a line."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


if __name__ == "__main__":
    sys.exit(main())
