"""The server as a whole."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mptcplab.engines.field.server import secrets
from mptcplab.engines.field.server.control import Control
from mptcplab.engines.field.server.limits import Ledger, Limits
from mptcplab.engines.field.server.listeners import CLOSED, Listeners

LEDGER = "served.json"
# Between two log lines about connections that were turned away.
SUMMARY_SECONDS = 60.0


@dataclass(frozen=True)
class Server:
    """What ``mptcplab serve`` is asked for."""

    #: Key, token and ledger.
    state: Path
    addresses: tuple[str, ...]
    ports: tuple[int, ...]
    #: Of TCP alone, for probes.
    tcp_ports: tuple[int, ...]
    limits: Limits


@dataclass(frozen=True)
class Served:
    """What a server did until its end."""

    carried_bytes: int
    #: Why connections were turned away, and how often.
    turned_away: dict[str, int]


def serve(server: Server, begin: Callable[[str], None], log: Callable[[str], None]) -> Served:
    """Serve until SIGINT or SIGTERM.

    ``begin`` is called with the fingerprint once all listen, ``log`` with a line on a fault of ours
    and, now and then, how many connections were turned away.
    """
    return asyncio.run(_serve(server, begin, log))


async def _serve(
    server: Server, begin: Callable[[str], None], log: Callable[[str], None]
) -> Served:
    tls, fingerprint = secrets.context(server.state)
    ledger = Ledger(server.state / LEDGER)
    control = Control(secrets.token(server.state), server.limits, ledger)
    listeners = Listeners(server.limits, tls, control.serve)
    control.listeners = listeners
    control.tcp_ports = list(server.tcp_ports)
    ended = termination()
    asyncio.get_running_loop().set_exception_handler(lambda _, fault: log(_described(fault)))
    try:
        for address in server.addresses:
            for port in server.ports:
                listeners.open(address, port)
            for port in server.tcp_ports:
                listeners.open_tcp(address, port)
        begin(fingerprint)
        turned_away = await log_turned_away(listeners.turned_away, log, ended)
    finally:
        await listeners.close()
    return Served(ledger.carried_bytes, turned_away)


def termination() -> asyncio.Event:
    """Give an event that SIGINT and SIGTERM set from now on."""
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    return ended


async def log_turned_away(
    turned_away: Counter[str], log: Callable[[str], None], ended: asyncio.Event
) -> dict[str, int]:
    """Log now and then which connections were turned away, until the end; returns all of them."""
    counts: dict[str, int] = {}
    while not ended.is_set():
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SUMMARY_SECONDS):
                await ended.wait()
        if summary := summed_up(turned_away):
            log(summary)
        for reason, count in turned_away.items():
            counts[reason] = counts.get(reason, 0) + count
        turned_away.clear()
    return counts


def summed_up(turned_away: Counter[str]) -> str:
    """Summarise turned away connections in a line; empty where there are none."""
    if not turned_away:
        return ""
    closed = turned_away[CLOSED]
    others = [(reason, count) for reason, count in turned_away.most_common() if reason != CLOSED]
    parts = []
    if others:
        reasons = ", ".join(f"{count} {reason}" for reason, count in others)
        parts.append(f"{_connections(turned_away.total() - closed)} turned away: {reasons}")
    if closed:
        parts.append(f"{_connections(closed)} {CLOSED}")
    return "; ".join(parts)


def _connections(count: int) -> str:
    return "1 connection was" if count == 1 else f"{count} connections were"


def _described(fault: dict[str, Any]) -> str:
    exception = fault.get("exception")
    return fault["message"] if exception is None else f"{fault['message']}: {exception!r}"
