"""UDP datagrams of one size at even times, or who counts them."""

from __future__ import annotations

from mptcplab.engines.kernel.agent import pattern, sockets
from mptcplab.engines.kernel.agent.connection import COMPLETE
from mptcplab.engines.kernel.agent.loop import IN, now
from mptcplab.engines.kernel.agent.ticks import Ticks
from mptcplab.engines.kernel.agent.transfer import nobody

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.engines.kernel.agent.job import Job
    from mptcplab.engines.kernel.agent.loop import Loop

IPV4_AND_UDP_BYTES = 28
IPV6_AND_UDP_BYTES = 48
MOST_BYTES = 1 << 16

_received = memoryview(bytearray(MOST_BYTES))


class Datagrams:
    """Who connects sends IP packets of one size at a rate of their bits, who listens counts."""

    finished = True
    corrupt = 0
    congestion_control = None

    def __init__(self, loop: Loop, job: Job) -> None:
        self.sent = self.received = 0
        self._loop = loop
        self._job = job
        connect = job.connect or {}
        self._socket = sockets.datagrams(job.listen or connect.get("local"), connect.get("remote"))
        self._stopped = False
        self._payload = memoryview(b"")
        self._ticks: Ticks | None = None
        # As of a transfer; datagrams have no connections.
        self.opened = self.closing = nobody

    def start(self) -> None:
        """Send from now on, or count what comes."""
        if self._stopped:
            return
        if self._job.connect is None:
            self._loop.watch(self._socket.fileno(), IN, self._receive)
            return
        packet_bytes = self._job.transfer["packet_bytes"]
        v6 = ":" in self._socket.getsockname()[0]
        headers_bytes = IPV6_AND_UDP_BYTES if v6 else IPV4_AND_UDP_BYTES
        self._payload = pattern.part(0, packet_bytes - headers_bytes)
        rate, start, stop_ns = self._job.transfer["rate_bits_per_second"], now(), self._job.stop_ns
        stop = None if stop_ns is None else start + stop_ns - self._job.start_ns
        self._ticks = Ticks(start, packet_bytes, rate, stop)
        self._send()

    def abort(self) -> None:
        """Send no more than what is due by now; what comes is still counted."""
        self._send()
        self._stopped = True

    def reason(self) -> str:
        """Nobody waits for datagrams."""
        return COMPLETE

    def _send(self) -> None:
        if self._ticks is None or self._stopped:
            return
        for _ in range(self._ticks.due(now())):
            try:
                self.sent += self._socket.send(self._payload)
            except OSError:
                # A full queue loses datagrams, and so does a peer that is not there yet.
                continue
        if (after := self._ticks.next()) is not None:
            self._loop.at(after, self._send)

    def _receive(self, mask: int) -> None:
        del mask
        try:
            while True:
                self.received += self._socket.recv_into(_received)
        except OSError:
            return
