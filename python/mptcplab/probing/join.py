"""Whether a subflow over a path joins a connection that began over another."""

from __future__ import annotations

import time

from mptcplab.engines.field import sockets
from mptcplab.probing.client import ProbedPath
from mptcplab.probing.row import ALTERED, BLOCKED, CLEAR, UNKNOWN, Row

TRIES = 3
SECONDS = 2.0
JOINS_SENT = "MPJoinSynTx"


def join(path: ProbedPath, beside: ProbedPath) -> Row:
    """Open connections over the other path, and see what becomes of their joins over this one.

    Both hosts count the SYNs with MP_JOIN that they sent and got, of all programs.
    """
    left = came = joined = 0
    for _ in range(TRIES):
        try:
            with beside.connect(port=path.session.mptcp_port, mptcp=True) as connection:
                sent = sockets.counter(JOINS_SENT) or 0
                before = connection.ask("look")["joins"] or 0
                time.sleep(SECONDS)
                looked = connection.ask("look")
                came += (looked["joins"] or 0) - before
                left += max((sockets.counter(JOINS_SENT) or 0) - sent, 0)
                # The client counts subflows that it only asked for, too.
                joined += bool(looked["further_subflows"])
        except OSError as error:
            return Row(path.name, "MP_JOIN", UNKNOWN, "", "", f"no connection beside: {error}")
    told = f"{joined} of {TRIES} connections were joined"
    if joined == TRIES:
        return Row(path.name, "MP_JOIN", CLEAR, "MP_JOIN", "joined", told)
    if joined or not left:
        why = (
            "some joins may have been lost"
            if joined
            else "this host sent none: no endpoint, or a limit"
        )
        return Row(path.name, "MP_JOIN", UNKNOWN, "", "", f"{told}; {why}")
    if came:
        evidence = f"{told}; SYNs arrived, but the handshake did not end"
        return Row(path.name, "MP_JOIN", ALTERED, f"{left} SYNs", f"{came} SYNs", evidence)
    return Row(path.name, "MP_JOIN", BLOCKED, f"{left} SYNs", "none", told)
