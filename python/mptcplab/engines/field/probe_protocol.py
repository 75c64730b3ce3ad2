"""What both ends of a probe agree on: requests and answers on a connection that has proven itself.

Each line is a request as JSON, and has one line of JSON, and what that announces, as its answer.
``{"do": "echo"}`` is answered, ``look`` tells what the server's kernel knows of the connection,
``wait`` answers after ``seconds``, ``take`` reads ``bytes`` and ``give`` sends them, ``hold`` reads
nothing for ``seconds``. ``withheld`` sends a little after a while, and says after how long it was
acknowledged, in ``seconds`` or not at all.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from itertools import chain, repeat

LONGEST_LINE = 512
# What one request may ask for.
MOST = {
    "echo": ("", 0.0),
    "look": ("", 0.0),
    "wait": ("seconds", 4000.0),
    "hold": ("seconds", 60.0),
    "withheld": ("seconds", 60.0),
    "take": ("bytes", 4e6),
    "give": ("bytes", 4e6),
}
# What "withheld" sends, and how long after it was asked for it.
WITHHELD_BYTES, LEAD_SECONDS = 400, 1.0
# Of a session, so that silences of an hour fit into it.
MOST_SESSION_SECONDS = 3 * 3600
BLOCK_BYTES = 32
# The HTTP header that authenticates a request.
PROOF = "X-Mptcplab-Proof"


@dataclass(frozen=True)
class Request:
    """What a line asks for: so many seconds or bytes."""

    do: str
    amount: float = 0.0


def read(line: bytes) -> Request:
    """Read a request, strictly.

    Raises:
        ValueError: It is none, or asks for too much.
    """
    try:
        fields = json.loads(line)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(fields, dict) or not isinstance(fields.get("do"), str):
        raise ValueError("no request")
    do = fields["do"]
    if do not in MOST:
        raise ValueError("no such request")
    key, most = MOST[do]
    if fields.keys() != ({"do", key} if key else {"do"}):
        raise ValueError("other keys than those of the request")
    amount = fields.get(key, 0)
    if isinstance(amount, bool) or not isinstance(amount, int | float) or not 0 <= amount <= most:
        raise ValueError("an amount beyond what one may ask for")
    return Request(do, amount)


def line(message: dict[str, object]) -> bytes:
    """Make a line of a request or an answer."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def pattern(count: int, first_block: int = 0) -> bytes:
    """Give the bytes that are sent either way, from a block of 32 bytes on; they repeat nowhere."""
    blocks = range(first_block, first_block + count // BLOCK_BYTES + 1)
    return b"".join(hashlib.sha256(block.to_bytes(4)).digest() for block in blocks)[:count]


def pieces(count: int, most: int) -> chain[int]:
    """Cut a number of bytes into pieces of a size."""
    return chain(repeat(most, count // most), [count % most] if count % most else [])
