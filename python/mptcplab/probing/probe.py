"""All probes of a path."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from mptcplab.probing import announce, data, handshake, idle, join, large, ports, withheld
from mptcplab.probing.client import ProbedPath
from mptcplab.probing.row import BLOCKED, CLEAR, UNKNOWN, Row

TRIES = 3
TCP = "TCP"
# Nothing left this host.
LOCAL = (errno.ENODEV, errno.EADDRNOTAVAIL, errno.ENETUNREACH)


def probe(
    path: ProbedPath, *, beside: ProbedPath | None = None, idle_seconds: float = 30.0
) -> list[Row]:
    """Find out what stands in a path.

    Args:
        path: The path, and the session with a server.
        beside: Another path, over which connections begin that this one is to join.
        idle_seconds: How long connections are silent at most; 0 leaves that out.
    """
    try:
        reach(path)
    except OSError as error:
        if error.errno in LOCAL:
            return [Row(path.name, TCP, UNKNOWN, "", "", f"this host cannot send by it: {error}")]
        # The control connection may go another way: it tells a path from a server.
        alive = path.session.is_alive()
        reason = f"{error}" if alive else f"the server is gone: {error}"
        verdict = BLOCKED if alive else UNKNOWN
        return [Row(path.name, TCP, verdict, f"port {path.port}", "nothing", reason)]
    found = [Row(path.name, TCP, CLEAR, f"port {path.port}", "answered", "")]
    steps: list[tuple[str, Callable[[], Iterable[Row]]]] = [
        ("SYN", lambda: handshake.syn_options(path)),
        ("MP_CAPABLE", lambda: handshake.multipath(path)),
        ("MP_JOIN", lambda: [join.join(path, beside)] if beside else []),
        ("ADD_ADDR", lambda: announce.announced(path)),
        ("payload", lambda: [data.payload(path)]),
        ("window", lambda: [data.windows(path)]),
        ("split connection", lambda: [data.split(path)]),
        ("large packets", lambda: large.large_packets(path)),
        ("port", lambda: ports.alike(path)),
        ("HTTP", lambda: ports.http(path)),
    ]
    with ThreadPoolExecutor(2) as pool:
        # Silence takes longest, and disturbs no other probe.
        silent = pool.submit(lambda: list(idle.silence(path, idle_seconds)) if idle_seconds else [])
        quiet = pool.submit(lambda: withheld.acknowledgements(path))
        for name, step in steps:
            try:
                found += step()
            except (OSError, KeyError, TypeError, ValueError) as error:
                # Nothing came, or an answer that was altered on the way.
                found.append(Row(path.name, name, UNKNOWN, "", "", f"no answer: {error}"))
        return found + quiet.result() + silent.result()


def reach(path: ProbedPath) -> None:
    """Ask for an echo, and again where none comes. Raises OSError."""
    for attempt in reversed(range(TRIES)):
        try:
            with path.connect() as connection:
                connection.ask("echo")
                return
        except OSError:
            if attempt == 0:
                raise
