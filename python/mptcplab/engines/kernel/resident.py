"""An end that is an endpoint of mptcplab: in the emulator, where others have agents."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab._core import Emulator

COMPLETE = "complete"
# How often it is asked how far it has come.
LOOK_NS = 20_000_000
# How long it may take to say goodbye when all is transferred and a path is dead.
LINGER_NS = 3 * 10**9


class Resident:
    """What it says, in the words of an agent."""

    def __init__(self, end: str) -> None:
        self.end = end
        #: What it has to say, once it is done.
        self.done: dict[str, Any] | None = None
        #: Bytes that it has written and read.
        self.bytes = 0
        self._transferred_ns: int | None = None

    def look(self, emulator: Emulator, *, stop: bool = False) -> None:
        """See how far it has come; it is done at the latest when it is to stop."""
        if self.done is not None:
            return
        connections = emulator.connections()[self.end]
        self.bytes = sum(one["bytes_written"] + one["bytes_read"] for one in connections)
        closed = bool(connections) and all(one["end"] is not None for one in connections)
        lingering = not closed and self._lingers(connections)
        if closed or lingering or stop:
            self.done = _told(connections) | {"lingering": lingering}

    def _lingers(self, connections: list[dict[str, Any]]) -> bool:
        """Whether all has been transferred for so long that it need not close."""
        if not connections or not all(one["done"] for one in connections):
            return False
        now_ns = time.monotonic_ns()
        if self._transferred_ns is None:
            self._transferred_ns = now_ns
        return now_ns - self._transferred_ns >= LINGER_NS


def _told(connections: list[dict[str, Any]]) -> dict[str, Any]:
    lacking = [lacks for one in connections if (lacks := _lacks(one)) is not None]
    return {
        "bytes_sent": sum(one["bytes_written"] for one in connections),
        "bytes_received": sum(one["bytes_read"] for one in connections),
        "corrupt_bytes": sum(one["corrupt_bytes"] for one in connections),
        "finished": bool(connections) and not lacking,
        "reason": "; ".join(lacking)
        or (COMPLETE if connections else "waits for a connection to come"),
        "sockets": [
            {"mptcp": one["mptcp"], "most_subflows": one["subflows"]} for one in connections
        ],
    }


def _lacks(connection: dict[str, Any]) -> str | None:
    bytes_ = f"{connection['bytes_written']} bytes written and {connection['bytes_read']} read"
    if connection["end"] not in (None, COMPLETE):
        return f"gave up after {bytes_}: {connection['end']}"
    return None if connection["done"] else f"goes on after {bytes_}"
