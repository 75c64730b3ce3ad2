"""Watches a connection at the server: samples of ``state``, and what it turned out to be."""

from __future__ import annotations

import time

from mptcplab.engines.kernel.agent.diagnosis import Diagnosis, Reader
from mptcplab.engines.kernel.agent.observer import Used
from mptcplab.engines.kernel.agent.samples import Look, Series

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from typing import TextIO

HOST = "server"


class Watch:
    """One connection's; what is sampled goes to a file."""

    def __init__(self, sock: socket.socket, samples: TextIO) -> None:
        #: What it turned out to be.
        self.used = Used()
        self._sock = sock
        self._samples = samples
        self._series = Series(HOST, samples)
        self._reader = Reader()
        self._diagnosis = Diagnosis()

    def look(self) -> list[tuple[str, int]]:
        """Look at it; gives the client's end of each subflow there is."""
        try:
            information = self._reader.read(self._sock)
        except OSError:
            # It ended just now.
            return []
        policies = {one.ends: self._diagnosis.policy(one.ends) for one in information.subflows}
        look = Look(information, policies)
        self.used.add(look)
        self._series.add(time.time_ns(), self.used.token, look)
        return [one.ends[1] for one in information.subflows]

    def close(self) -> None:
        """Look no more."""
        self._diagnosis.close()
        self._series.end()
        self._samples.close()
