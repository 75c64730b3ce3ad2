"""The server as a whole."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass
from pathlib import Path

from mptcplab.engines.field.server import secrets
from mptcplab.engines.field.server.control import Control
from mptcplab.engines.field.server.door import Door
from mptcplab.engines.field.server.limits import Ledger, Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LEDGER = "served.json"


@dataclass(frozen=True)
class Server:
    """What ``mptcplab serve`` is asked for."""

    #: Key, token and ledger.
    state: Path
    addresses: tuple[str, ...]
    ports: tuple[int, ...]
    limits: Limits


def serve(server: Server, begin: Callable[[str], None], fault: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM.

    ``begin`` is told the fingerprint when all listen, ``fault`` what went wrong with us in a line.
    """
    asyncio.run(_serve(server, begin, fault))


async def _serve(
    server: Server, begin: Callable[[str], None], fault: Callable[[str], None]
) -> None:
    tls, fingerprint = secrets.context(server.state)
    ledger = Ledger(server.state / LEDGER)
    control = Control(secrets.token(server.state), server.limits, ledger)
    door = Door(server.limits, tls, control.serve)
    control.door = door
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    loop.set_exception_handler(lambda _, about: fault(_said(about)))
    try:
        for address in server.addresses:
            for port in server.ports:
                door.open(address, port)
        begin(fingerprint)
        await ended.wait()
    finally:
        await door.close()


def _said(about: dict[str, Any]) -> str:
    exception = about.get("exception")
    return about["message"] if exception is None else f"{about['message']}: {exception!r}"
