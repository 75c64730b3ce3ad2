"""Whether ports are treated alike, and whether a cache answers HTTP in the server's place."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

from mptcplab.engines.field import probe_protocol
from mptcplab.probing import syn
from mptcplab.probing.client import ANSWER_SECONDS, ProbedPath
from mptcplab.probing.row import ALTERED, BLOCKED, CLEAR, UNKNOWN, Row

TRIES = 3
MOST_ANSWER_BYTES = 1 << 16
SENT_HEADERS = ("Host", "Connection")


def alike(path: ProbedPath) -> Iterator[Row]:
    """Compare the SYNs that arrive at each further port with that at the first."""
    mptcp = _has_mptcp()
    first = _options(path, path.port, mptcp=mptcp)
    for port in path.session.tcp_ports[1:]:
        probe = f"port {port}"
        try:
            arrived = _options(path, port, mptcp=mptcp)
        except OSError as error:
            yield _silent(path, probe, error)
            continue
        verdict = CLEAR if arrived == first else ALTERED
        evidence = f"kinds of options in SYNs, beside those at port {path.port}"
        yield Row(path.name, probe, verdict, _listed(first), _listed(arrived), evidence)


def http(path: ProbedPath) -> Iterator[Row]:
    """Request a page twice at each port; the server's answers differ."""
    for port in path.session.tcp_ports:
        probe = f"HTTP, port {port}"
        try:
            first, second = _page(path, port), _page(path, port)
        except (OSError, ValueError, KeyError) as error:
            yield Row(path.name, probe, UNKNOWN, "GET, twice", "", f"no answer: {error}")
            continue
        added = {name for one in (first, second) for name in one["headers"]} - {*SENT_HEADERS}
        if first["request"] == second["request"]:
            evidence = "the server was asked once: a cache answered"
            yield Row(path.name, probe, ALTERED, "GET, twice", "GET, once", evidence)
        elif added:
            evidence = f"headers on the way: {', '.join(sorted(added))[:200]}"
            yield Row(path.name, probe, ALTERED, "GET, twice", "other requests", evidence)
        else:
            yield Row(path.name, probe, CLEAR, "GET, twice", "GET, twice", "both answered anew")


def _silent(path: ProbedPath, probe: str, error: OSError) -> Row:
    """Distinguish a blocked port from a server that is gone."""
    if not path.session.is_alive():
        return Row(path.name, probe, UNKNOWN, "", "", f"the server is gone: {error}")
    evidence = f"port {path.port} answers, this does not: {error}"
    return Row(path.name, probe, BLOCKED, "", "", evidence)


def _has_mptcp() -> bool:
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP).close()
    except OSError:
        return False
    return True


def _options(path: ProbedPath, port: int, *, mptcp: bool) -> list[int]:
    """Give the kinds of options in a SYN that arrived; in one of several, where some are lost."""
    for attempt in reversed(range(TRIES)):
        try:
            with path.connect(port=port, mptcp=mptcp) as connection:
                reply = connection.ask("look")
        except OSError:
            if attempt == 0:
                raise
            continue
        found = sorted(syn.parse(bytes.fromhex(reply["syn"])).options)
        # Linux sends a SYN that was lost twice without MPTCP.
        if syn.MPTCP in found or not mptcp:
            break
    return found


def _listed(kinds: list[int]) -> str:
    return ", ".join(map(str, kinds)) or "none"


def _page(path: ProbedPath, port: int) -> dict[str, Any]:
    sock, _ = path.socket(port)
    session = path.session
    with sock:
        sock.settimeout(ANSWER_SECONDS)
        host = f"[{session.host}]" if ":" in session.host else session.host
        head = (
            f"GET /mptcplab/{session.run.hex()} HTTP/1.1\r\nHost: {host}:{port}\r\n"
            f"{probe_protocol.PROOF}: {session.preamble().hex()}\r\nConnection: close\r\n\r\n"
        )
        sock.sendall(head.encode())
        received = b""
        while len(received) < MOST_ANSWER_BYTES and (piece := sock.recv(4096)):
            received += piece
    page: dict[str, Any] = json.loads(received.partition(b"\r\n\r\n")[2])
    if not isinstance(page["request"], int) or not isinstance(page["headers"], list):
        raise ValueError("another answer than the server's")
    return page
