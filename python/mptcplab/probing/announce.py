"""Whether addresses that a host announces (ADD_ADDR, RFC 8684 §3.4.1) reach the other."""

from __future__ import annotations

import time

from mptcplab.engines.field import sockets
from mptcplab.probing.client import ProbedPath
from mptcplab.probing.row import BLOCKED, CLEAR, Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

TRIES = 3
SECONDS = 1.0


def announced(path: ProbedPath) -> Iterator[Row]:
    """Open connections, and see which announcements left and came, where a host makes any.

    Both hosts count those that they sent and got, of all programs. Raises OSError.
    """
    counted: list[tuple[list[int], list[int]]] = []
    for _ in range(TRIES):
        with path.connect() as first:
            mine, theirs = sockets.announcements(), first.ask("look")["announcements"]
        with path.connect(port=path.session.mptcp_port, mptcp=True):
            time.sleep(SECONDS)
        # Not on that connection: what it carries is not to be trusted where it fell back.
        with path.connect() as last:
            its = last.ask("look")["announcements"]
            counted.append((_more(sockets.announcements(), mine), _more(its, theirs)))
    for probe, sent, came in (
        ("ADD_ADDR up", [mine[0] for mine, _ in counted], [its[1] for _, its in counted]),
        ("ADD_ADDR down", [its[0] for _, its in counted], [mine[1] for mine, _ in counted]),
    ):
        if any(sent):
            yield judged(path.name, probe, sum(sent), sum(came))


def judged(path: str, probe: str, sent: int, came: int) -> Row:
    """Judge by how many left and came: one alone may be lost, and is not sent again for minutes."""
    verdict = CLEAR if came else BLOCKED
    return Row(path, probe, verdict, str(sent), str(came), f"in {TRIES} connections")


def _more(now: list[int], before: list[int]) -> list[int]:
    return [max(0, one - other) for one, other in zip(now, before, strict=True)]
