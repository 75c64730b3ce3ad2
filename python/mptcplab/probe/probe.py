"""All probes of a path."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from mptcplab.probe import data, handshake, idle, join, ports
from mptcplab.probe.client import Way
from mptcplab.probe.row import BLOCKED, CLEAR, UNKNOWN, Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

TRIES = 3


def probe(
    way: Way,
    *,
    beside: Way | None = None,
    other_ports: Sequence[int] = (),
    idle_seconds: float = 30.0,
) -> list[Row]:
    """Find out what stands in a path.

    Args:
        way: The path, and the server that ``mptcplab probe --serve`` answers at.
        beside: Another path, over which connections begin that this one is to join.
        other_ports: Ports of the server to compare with the first.
        idle_seconds: How long connections are silent at most; 0 leaves that out.
    """
    try:
        reach(way)
    except OSError as error:
        return [Row(way.name, "TCP", BLOCKED, f"port {way.port}", "nothing", str(error))]
    found = [Row(way.name, "TCP", CLEAR, f"port {way.port}", "answered", "")]
    steps: list[tuple[str, Callable[[], Iterable[Row]]]] = [
        ("SYN", lambda: handshake.syn_options(way)),
        ("MP_CAPABLE", lambda: handshake.multipath(way)),
        ("MP_JOIN", lambda: [join.join(way, beside)] if beside else []),
        ("payload", lambda: [data.payload(way)]),
        ("window", lambda: [data.windows(way)]),
        ("split connection", lambda: [data.split(way)]),
        ("large packets", lambda: data.large_packets(way)),
        ("port", lambda: ports.alike(way, other_ports)),
    ]
    with ThreadPoolExecutor(1) as pool:
        # Silence takes longest, and disturbs nobody.
        silent = pool.submit(lambda: list(idle.silence(way, idle_seconds)) if idle_seconds else [])
        for name, step in steps:
            try:
                found += step()
            except OSError as error:
                found.append(Row(way.name, name, UNKNOWN, "", "", f"no answer: {error}"))
        return found + silent.result()


def reach(way: Way) -> None:
    """Ask for an echo, and again where none comes. Raises OSError."""
    for attempt in reversed(range(TRIES)):
        try:
            with way.connect() as connection:
                connection.ask("echo")
                return
        except OSError:
            if attempt == 0:
                raise
