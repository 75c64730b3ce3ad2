"""Watches a connection at the server: samples of ``state``, and a summary at the end."""

from __future__ import annotations

import socket
import time
from typing import TextIO

from mptcplab.engines.kernel.agent.diagnosis import Diagnosis, Reader
from mptcplab.engines.kernel.agent.observer import Used
from mptcplab.engines.kernel.agent.samples import Look, Series

HOST = "server"


class Watch:
    """Watches one connection; samples go to a file."""

    def __init__(self, sock: socket.socket, samples: TextIO) -> None:
        #: What its socket turned out to use.
        self.used = Used()
        self._sock = sock
        self._samples = samples
        self._series = Series(HOST, samples)
        self._reader = Reader()
        self._diagnosis = Diagnosis()

    def look(self) -> list[tuple[str, int]]:
        """Sample it; returns the client's end of each subflow that exists."""
        try:
            information = self._reader.read(self._sock)
        except OSError:
            # It has just ended.
            return []
        policies = {one.ends: self._diagnosis.policy(one.ends) for one in information.subflows}
        look = Look(information, policies)
        at_ns = time.time_ns()
        self.used.add(look, at_ns)
        self._series.add(at_ns, self.used.token, look)
        return [one.ends[1] for one in information.subflows]

    def close(self) -> None:
        """Stop watching."""
        self._diagnosis.close()
        self._series.end()
        self._samples.close()
