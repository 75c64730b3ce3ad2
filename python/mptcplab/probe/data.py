"""What becomes of data: contents, windows, large packets, and who acknowledges."""

from __future__ import annotations

import hashlib
import socket
import time
from contextlib import suppress

from mptcplab.probe import kernel, protocol
from mptcplab.probe.client import Way
from mptcplab.probe.row import ALTERED, BLOCKED, CLEAR, UNKNOWN, Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

BYTES = 100_000
SIZES = (1400, 1300, 1200, 1000, 536)
TRIES = 4
HANDSHAKES, ECHOES = 5, 20
# So much longer than a handshake must the shortest echo take before a box in between is suspected.
LONGER, LONGER_MS = 1.5, 5.0
HOLD_SECONDS = 3.0
HELD_BYTES = 4_000_000
# Three times the largest window that Linux announces at first.
BEYOND_BYTES = 200_000


def payload(way: Way) -> Row:
    """Compare what was sent with what arrived, both ways; again where a request does not arrive."""
    rows = (_payload(way) for _ in range(TRIES))
    return next((row for row in rows if row.verdict != UNKNOWN), _payload(way))


def _payload(way: Way) -> Row:
    sent = protocol.pattern(BYTES)
    wanted = hashlib.sha256(sent).hexdigest()
    try:
        with way.connect(mss=SIZES[-1]) as connection:
            up = connection.ask("take", bytes=BYTES, payload=sent)["sha256"] == wanted
            connection.ask("give", bytes=BYTES)
            down = connection.read(BYTES) == sent
    except OSError as error:
        return Row(way.name, "payload", UNKNOWN, f"{BYTES} B", "", f"did not arrive: {error}")
    came = ", ".join(
        f"{'same' if same else 'other'} {way}" for way, same in (("up", up), ("down", down))
    )
    return Row(
        way.name, "payload", CLEAR if up and down else ALTERED, f"{BYTES} B", came, "SHA-256"
    )


def windows(way: Way) -> Row:
    """Compare the windows that each end announces with those that the other heard."""
    try:
        with way.connect() as connection:
            connection.ask("echo")
            mine = kernel.tcp_info(connection.socket)
            looked = connection.ask("look")
            heard = kernel.tcp_info(connection.socket)
    except OSError as error:
        return Row(way.name, "window", UNKNOWN, "", "", f"no answer: {error}")
    up = (mine.receive_window, looked["send_window"])
    down = (looked["receive_window"], heard.send_window)
    known = [(told, came) for told, came in (up, down) if told is not None and came is not None]
    if len(known) < 2:
        return Row(way.name, "window", UNKNOWN, "", "", "a kernel before Linux 6.2 does not tell")
    # The window of an end grows while it is told of: a clamp is far below.
    same = all(told <= 2 * came for told, came in known)
    sent, came = (f"{up[i]} up, {down[i]} down" for i in (0, 1))
    return Row(
        way.name, "window", CLEAR if same else ALTERED, sent, came, "bytes; TCP_INFO at both ends"
    )


def large_packets(way: Way) -> Iterator[Row]:
    """Find the largest segments that get through, up and down."""
    for probe, arrives in (("large packets up", _up), ("large packets down", _down)):
        if any(arrives(way, None) for _ in range(2)):
            yield Row(way.name, probe, CLEAR, "full segments", "all", f"{BYTES} B arrived")
            continue
        fits = next((size for size in SIZES if arrives(way, size)), None)
        if fits is None:
            yield Row(
                way.name,
                probe,
                UNKNOWN,
                "full segments",
                "none",
                "smaller ones do not arrive either",
            )
        else:
            evidence = "a black hole: larger ones vanish without a word"
            yield Row(way.name, probe, BLOCKED, "full segments", f"MSS {fits}", evidence)


def _up(way: Way, mss: int | None) -> bool:
    with suppress(OSError), way.connect(mss=mss) as connection:
        connection.ask("take", bytes=BYTES, payload=bytes(BYTES))
        return True
    return False


def _down(way: Way, mss: int | None) -> bool:
    with suppress(OSError), way.connect(mss=mss) as connection:
        connection.ask("give", bytes=BYTES)
        connection.read(BYTES)
        return True
    return False


def split(way: Way) -> Row:
    """Look for somebody who answers in the server's place, and takes data that nobody reads."""
    try:
        handshake, echo = _round_trips(way)
        acknowledged = _acknowledged_unread(way)
    except OSError as error:
        return Row(way.name, "split connection", UNKNOWN, "", "", f"no answer: {error}")
    evidence = (
        f"handshake {handshake:.1f} ms, echo {echo:.1f} ms; {acknowledged / 1000:.0f} kB were "
        "acknowledged that the server did not read"
    )
    longer = echo > handshake * LONGER + LONGER_MS
    buffered = acknowledged > BEYOND_BYTES
    if buffered:
        return Row(way.name, "split connection", ALTERED, "", "", evidence)
    # The round trips of a box that delays acknowledgements alone look the same.
    verdict = UNKNOWN if longer else CLEAR
    return Row(way.name, "split connection", verdict, "", "", evidence)


def _round_trips(way: Way) -> tuple[float, float]:
    """Give the shortest handshake and the shortest echo, in ms."""
    handshakes = []
    for _ in range(HANDSHAKES):
        with way.connect() as connection:
            handshakes.append(connection.connect_ms)
            connection.ask("echo")
    echoes = []
    with way.connect() as connection:
        connection.ask("echo")
        for _ in range(ECHOES):
            began = time.perf_counter()
            connection.ask("echo")
            echoes.append((time.perf_counter() - began) * 1000)
    return min(handshakes), min(echoes)


def _acknowledged_unread(way: Way) -> int:
    """Write while the server does not read; give the bytes that were acknowledged."""
    with way.connect() as connection:
        connection.ask("hold", seconds=HOLD_SECONDS)
        sending = connection.socket
        sending.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, HELD_BYTES)
        before = kernel.tcp_info(sending).bytes_acked
        sending.settimeout(0)
        until, block = time.monotonic() + HOLD_SECONDS - 0.5, bytes(65536)
        written = 0
        while time.monotonic() < until:
            with suppress(BlockingIOError):
                written += sending.send(block) if written < HELD_BYTES else 0
            time.sleep(0.01)
        return kernel.tcp_info(sending).bytes_acked - before
