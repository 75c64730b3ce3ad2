"""A session of probes with a server: where it answers, and the key that proves who asks."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

from mptcplab._core import Error
from mptcplab.engines.field import control, preamble
from mptcplab.engines.field.control import Control
from mptcplab.engines.field.server_line import ServerLine


class Session:
    """What connections of probes need; it lasts as long as the control connection."""

    def __init__(self, host: str, mptcp_port: int, tcp_ports: list[int], control: Control) -> None:
        self.host = host
        self.mptcp_port = mptcp_port
        #: Ports of TCP alone, at which the server's kernel keeps SYNs.
        self.tcp_ports = tcp_ports
        self.run = b""
        self.key = b""
        self._control = control
        self._numbers = itertools.count()

    def preamble(self) -> bytes:
        """Make the preamble of a new connection; safe from several threads."""
        return preamble.preamble(self.run, self.key, next(self._numbers))

    def is_alive(self) -> bool:
        """Ask whether the server is still there, on the connection that was there before."""
        try:
            self._control.send({"alive": True})
            return bool(self._control.receive().get("alive"))
        except Error:
            return False


@contextmanager
def opened(line: ServerLine, token: str, seconds: int) -> Iterator[Session]:
    """Have a server answer probes.

    Raises:
        Error: It is not there, another one, or answers none.
    """
    with control.connected(line, token) as control_:
        ready = control_.ask_to_probe(seconds)
        session = Session(line.host, line.port, list(ready["ports"]), control_)
        session.run, session.key = bytes.fromhex(ready["run"]), bytes.fromhex(ready["key"])
        yield session
