"""Whether addresses that a host announces (ADD_ADDR, RFC 8684 §3.4.1) reach the other."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from mptcplab.engines.field import sockets
from mptcplab.probing.client import Connection, ProbedPath
from mptcplab.probing.row import BLOCKED, CLEAR, UNKNOWN, Row

TRIES = 3
SECONDS = 1.0
UP, DOWN = "ADD_ADDR up", "ADD_ADDR down"


@dataclass(frozen=True)
class Tried:
    """The result of a connection's announcements, in one direction."""

    #: How many were sent on it, as its end knows, or else by its host's count of all.
    sent: int
    #: How many the other end accepted, within its limit.
    taken: int
    #: How many the other host received, of all connections; and in a time as long before.
    received: int
    others: int


def announced(path: ProbedPath) -> Iterator[Row]:
    """Open connections, and count announcements sent and received, where a host makes any.

    Raises OSError.
    """
    tries = [_tried(path)]
    if not any(one.sent for one in tries[0].values()):
        return
    tries += [_tried(path) for _ in range(TRIES - 1)]
    for probe in (UP, DOWN):
        of = [one[probe] for one in tries]
        if any(one.sent for one in of):
            yield judged(path.name, probe, of)


def judged(path: str, probe: str, tries: Sequence[Tried]) -> Row:
    """Judge by all tries: a single one may be lost, and is not sent again for minutes."""
    with_sent = [one for one in tries if one.sent]
    sent, received = sum(one.sent for one in with_sent), sum(one.received for one in with_sent)
    evidence = f"on {len(with_sent)} of {len(tries)} connections"
    if any(one.taken for one in with_sent):
        return Row(path, probe, CLEAR, str(sent), str(received), evidence)
    if not received:
        if len(with_sent) == len(tries):
            return Row(path, probe, BLOCKED, str(sent), "0", evidence)
        return Row(path, probe, UNKNOWN, str(sent), "0", f"{evidence}; it may have been lost")
    if any(one.others for one in tries) or sum(bool(one.received) for one in with_sent) < 2:
        reason = "other programs' may be among what came"
        return Row(path, probe, UNKNOWN, str(sent), str(received), f"{evidence}; {reason}")
    return Row(path, probe, CLEAR, str(sent), str(received), evidence)


def _tried(path: ProbedPath) -> dict[str, Tried]:
    """Open one connection. Raises OSError."""
    # Counts are read over a connection of their own: this one may have fallen back.
    with path.connect() as counting:
        first = _counted(counting)
        time.sleep(SECONDS)
        before = _counted(counting)
        with path.connect(port=path.session.mptcp_port, mptcp=True) as connection:
            time.sleep(SECONDS)
            ours = sockets.announced(connection.socket), sockets.accepted(connection.socket)
            theirs: tuple[int | None, int | None] = None, None
            with suppress(OSError):
                reply = connection.ask("look")
                theirs = reply["announced"], reply["accepted"]
        after = _counted(counting)
    return {
        UP: _one_way(ours[0], theirs[1], first[0], before[0], after[0]),
        DOWN: _one_way(theirs[0], ours[1], first[1], before[1], after[1]),
    }


def _one_way(
    sent: int | None,
    taken: int | None,
    first: tuple[int, int],
    before: tuple[int, int],
    after: tuple[int, int],
) -> Tried:
    others = before[1] - first[1]
    if sent is None:
        # Where others announce, too, it is not known whose it was.
        sent = 0 if before[0] > first[0] else after[0] - before[0]
    return Tried(sent, taken or 0, after[1] - before[1], others)


def _counted(counting: Connection) -> tuple[tuple[int, int], tuple[int, int]]:
    """Give what hosts have sent and received, up and down."""
    theirs = counting.ask("look")["announcements"]
    ours = sockets.announcements()
    return (ours[0], theirs[1]), (theirs[0], ours[1])
