"""What happens to data: contents, windows, and who acknowledges."""

from __future__ import annotations

import hashlib
import socket
import time
from contextlib import suppress

from mptcplab.engines.field import probe_protocol, sockets
from mptcplab.probing import syn
from mptcplab.probing.client import ProbedPath
from mptcplab.probing.row import ALTERED, CLEAR, UNKNOWN, Row

TYPE_CHECKING = False
BYTES = 100_000
SMALL_MSS = 536
TRIES = 4
HANDSHAKES, ECHOES = 5, 20
# How much longer than a handshake the shortest echo takes where a box in between is suspected.
LONGER, LONGER_MS = 1.5, 5.0
HOLD_SECONDS = 3.0
EXPIRED_SECONDS = 2.0
HELD_BYTES = 4_000_000
# Three times the largest window that Linux announces at first.
BEYOND_BYTES = 200_000


def payload(path: ProbedPath) -> Row:
    """Compare data sent and received, both ways; again where a request does not arrive."""
    for _ in range(TRIES):
        row = _payload(path)
        if row.verdict != UNKNOWN:
            break
    return row


def _payload(path: ProbedPath) -> Row:
    sent = probe_protocol.pattern(BYTES)
    expected = hashlib.sha256(sent).hexdigest()
    try:
        with path.connect(mss=SMALL_MSS) as connection:
            up = connection.ask("take", bytes=BYTES, payload=sent)["sha256"] == expected
            connection.ask("give", bytes=BYTES)
            down = connection.read(BYTES) == sent
    except OSError as error:
        return Row(path.name, "payload", UNKNOWN, f"{BYTES} B", "", f"did not arrive: {error}")
    arrived = ", ".join(
        f"{'same' if same else 'other'} {direction}"
        for direction, same in (("up", up), ("down", down))
    )
    return Row(
        path.name, "payload", CLEAR if up and down else ALTERED, f"{BYTES} B", arrived, "SHA-256"
    )


def windows(path: ProbedPath) -> Row:
    """Compare the windows that each end announces with those that the other received."""
    try:
        with path.connect() as connection:
            connection.ask("echo")
            ours = sockets.tcp_info(connection.socket)
            theirs = connection.ask("look")
            later = sockets.tcp_info(connection.socket)
    except OSError as error:
        return Row(path.name, "window", UNKNOWN, "", "", f"no answer: {error}")
    up = (ours.receive_window, theirs["send_window"])
    down = (theirs["receive_window"], later.send_window)
    known = [(sent, seen) for sent, seen in (up, down) if sent is not None and seen is not None]
    if len(known) < 2:
        return Row(path.name, "window", UNKNOWN, "", "", "a kernel before Linux 6.2 does not tell")
    # The window of an end grows while it is reported: a clamp is far below.
    same = all(sent <= 2 * seen for sent, seen in known)
    sent, arrived = (f"{up[i]} up, {down[i]} down" for i in (0, 1))
    verdict = CLEAR if same else ALTERED
    return Row(path.name, "window", verdict, sent, arrived, "bytes; TCP_INFO at both ends")


def split(path: ProbedPath) -> Row:
    """Look for a proxy, which answers in the server's place and takes data that nobody reads."""
    try:
        handshake, echo = _round_trips(path)
        acknowledged = _acknowledged_unread(path)
        expired = _acknowledged_expired(path)
    except OSError as error:
        return Row(path.name, "split connection", UNKNOWN, "", "", f"no answer: {error}")
    evidence = (
        f"handshake {handshake:.1f} ms, echo {echo:.1f} ms; {acknowledged / 1000:.0f} kB were "
        "acknowledged that the server did not read"
    )
    if expired is not None:
        verb = "was" if expired else "was not"
        evidence += f"; data that expires before the server {verb} acknowledged"
    longer = echo > handshake * LONGER + LONGER_MS
    buffered = acknowledged > BEYOND_BYTES
    if buffered or expired:
        return Row(path.name, "split connection", ALTERED, "", "", evidence)
    # The round trips of a box that delays acknowledgements alone look the same.
    verdict = UNKNOWN if longer else CLEAR
    return Row(path.name, "split connection", verdict, "", "", evidence)


def _round_trips(path: ProbedPath) -> tuple[float, float]:
    """Give the shortest handshake and the shortest echo, in ms."""
    handshakes = []
    for _ in range(HANDSHAKES):
        with path.connect() as connection:
            handshakes.append(connection.connect_ms)
            connection.ask("echo")
    echoes = []
    with path.connect() as connection:
        connection.ask("echo")
        for _ in range(ECHOES):
            began = time.perf_counter()
            connection.ask("echo")
            echoes.append((time.perf_counter() - began) * 1000)
    return min(handshakes), min(echoes)


def _acknowledged_unread(path: ProbedPath) -> int:
    """Write while the server does not read; give the bytes that were acknowledged."""
    with path.connect() as connection:
        connection.ask("hold", seconds=HOLD_SECONDS)
        sending = connection.socket
        sending.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, HELD_BYTES)
        before = sockets.tcp_info(sending).bytes_acked
        sending.settimeout(0)
        until, block = time.monotonic() + HOLD_SECONDS - 0.5, bytes(65536)
        written = 0
        while time.monotonic() < until:
            with suppress(BlockingIOError):
                written += sending.send(block) if written < HELD_BYTES else 0
            time.sleep(0.01)
        return sockets.tcp_info(sending).bytes_acked - before


def _acknowledged_expired(path: ProbedPath) -> bool | None:
    """Send data whose time to live ends before the server; say whether it was acknowledged.

    ``None`` where no router stands between, as far as the server sees.
    """
    with path.connect() as connection:
        reply = connection.ask("look")
        routers = syn.parse(bytes.fromhex(reply["syn"])).routers
        if not routers:
            return None
        sending = connection.socket
        option = sockets.hop_limit(sending.family)
        usual = sending.getsockopt(*option)
        before = sockets.tcp_info(sending).bytes_acked
        sending.setsockopt(*option, routers)
        sending.sendall(probe_protocol.line({"do": "echo"}))
        time.sleep(EXPIRED_SECONDS)
        acknowledged = sockets.tcp_info(sending).bytes_acked > before
        sending.setsockopt(*option, usual)
        return acknowledged
