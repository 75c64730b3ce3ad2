"""Nothing of our own: others transfer in this host, and the observer watches them."""

from __future__ import annotations

from mptcplab.engines.kernel.agent.connection import COMPLETE
from mptcplab.engines.kernel.agent.transfer import nobody


class Watching:
    """In the shape of a transfer."""

    finished = True
    sent = received = corrupt = 0
    congestion_control = None

    def __init__(self) -> None:
        self.opened = self.closing = nobody

    def start(self) -> None:
        """Others do."""

    def abort(self) -> None:
        """Others go on."""

    def reason(self) -> str:
        """Nobody waits."""
        return COMPLETE
