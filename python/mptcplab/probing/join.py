"""Whether a subflow over a path joins a connection that began over another."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from mptcplab.engines.field import sockets
from mptcplab.probing.client import ProbedPath
from mptcplab.probing.row import ALTERED, BLOCKED, CLEAR, UNKNOWN, Row

TRIES = 3
SECONDS = 2.0
STEP_SECONDS = 0.02


@dataclass(frozen=True)
class Tried:
    """The result of a connection's join."""

    #: Whether this host asked for it over the path.
    left: bool
    #: Whether the subflow is open at both ends.
    joined: bool
    #: SYNs with MP_JOIN that the server's host received meanwhile, of all connections, and, where
    #: it was not joined, in a time as long afterwards.
    syns: int
    others: int


def join(path: ProbedPath, beside: ProbedPath) -> Row:
    """Open connections over the other path, and check their joins over this one."""
    try:
        return judged(path.name, [_tried(path, beside) for _ in range(TRIES)])
    except OSError as error:
        return Row(path.name, "MP_JOIN", UNKNOWN, "", "", f"no connection beside: {error}")


def judged(path: str, tries: Sequence[Tried]) -> Row:
    """Judge by all tries: a single join may be lost, and other clients may join."""
    joined, left = sum(one.joined for one in tries), sum(one.left for one in tries)
    evidence = f"{joined} of {len(tries)} connections were joined"
    if joined == len(tries):
        return Row(path, "MP_JOIN", CLEAR, "MP_JOIN", "joined", evidence)
    if joined or left < len(tries):
        reason = (
            "some joins may have been lost"
            if joined
            else f"this host asked for {left or 'none'}: no endpoint, a limit, or, across "
            "versions of IP, no address that the server announces"
        )
        return Row(path, "MP_JOIN", UNKNOWN, "", "", f"{evidence}; {reason}")
    sent = f"{left} joins"
    if not any(one.syns for one in tries):
        return Row(path, "MP_JOIN", BLOCKED, sent, "none", evidence)
    if any(one.others for one in tries) or not all(one.syns for one in tries):
        reason = "others join at the server: whose SYNs arrived is not known"
        return Row(path, "MP_JOIN", UNKNOWN, sent, "", f"{evidence}; {reason}")
    evidence += "; SYNs arrived, but the handshake did not end"
    arrived = f"{sum(one.syns for one in tries)} SYNs"
    return Row(path, "MP_JOIN", ALTERED, sent, arrived, evidence)


def _tried(path: ProbedPath, beside: ProbedPath) -> Tried:
    """Open one connection. Raises OSError."""
    with path.connect() as counting:
        local = str(counting.socket.getsockname()[0]).removeprefix("::ffff:")
        before = _joins(counting.ask("look"))
        port = path.session.mptcp_port
        # Subflows over either version of IP may join it.
        with beside.connect(port=port, mptcp=True, mapped=True) as connection:
            # The server accepts joins once data has arrived.
            connection.ask("echo")
            left, until = False, time.monotonic() + SECONDS
            while time.monotonic() < until:
                left |= local in dict(sockets.subflows(connection.socket))
                time.sleep(STEP_SECONDS)
            is_open = dict(sockets.subflows(connection.socket)).get(local, False)
            joined = is_open and bool(connection.ask("look")["further_subflows"])
        after = _joins(counting.ask("look"))
        if joined:
            return Tried(left, joined, after - before, 0)
        # SYNs of this connection that were on their way have arrived meanwhile.
        time.sleep(SECONDS)
        last = _joins(counting.ask("look"))
        time.sleep(SECONDS)
        return Tried(left, joined, last - before, _joins(counting.ask("look")) - last)


def _joins(reply: dict[str, object]) -> int:
    joins = reply["joins"]
    if not isinstance(joins, int):
        raise OSError("the server's kernel does not count joins")
    return joins
