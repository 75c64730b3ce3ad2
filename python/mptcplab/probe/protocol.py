"""What both ends of a probe agree on: who may ask, and how.

The client proves in its first line that it has the token; until then the server sends nothing.
Each further line is a request as JSON, and has one line of JSON, and what that announces, as its
answer.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from pathlib import Path

from mptcplab._core import Error

PORT = 8484
NAME = "mptcplab-probe-1"
LONGEST_LINE = 512
# A first line is good for so long, and once.
VALID_SECONDS = 3600
LEAST_TOKEN_BYTES = 16
# What one request may ask for.
MOST_BYTES = 4_000_000
MOST_SECONDS = 3600.0


def read_token(file: str) -> bytes:
    """Read the token that both ends have."""
    token = Path(file).read_bytes().strip()
    if len(token) < LEAST_TOKEN_BYTES:
        raise Error(
            f"{file}: a token of {len(token)} bytes can be guessed; make one of "
            f"{LEAST_TOKEN_BYTES} or more: head -c 24 /dev/urandom | base64 > {file}"
        )
    return token


def greeting(token: bytes) -> bytes:
    """Make a first line."""
    said = f"{NAME} {secrets.token_hex(16)} {int(time.time())}"
    return f"{said} {_proof(token, said)}\n".encode()


class Guard:
    """Knows who may ask: whoever has the token, and each first line once."""

    def __init__(self, token: bytes) -> None:
        self._token = token
        self._seen: dict[str, int] = {}

    def admits(self, line: bytes) -> bool:
        """Say whether a first line is good."""
        words = line.decode("ascii", "replace").split()
        if len(words) != 4 or words[0] != NAME:
            return False
        said, now = " ".join(words[:3]), int(time.time())
        if not hmac.compare_digest(_proof(self._token, said), words[3]):
            return False
        self._seen = {one: at for one, at in self._seen.items() if now - at <= 2 * VALID_SECONDS}
        fresh = words[2].isdigit() and abs(now - int(words[2])) <= VALID_SECONDS
        if not fresh or words[1] in self._seen:
            return False
        self._seen[words[1]] = now
        return True


def line(message: dict[str, object]) -> bytes:
    """Make a line of a request or an answer."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def pattern(count: int) -> bytes:
    """Give the bytes that are sent either way, which repeat nowhere."""
    blocks = range(count // 32 + 1)
    return b"".join(hashlib.sha256(block.to_bytes(4)).digest() for block in blocks)[:count]


def _proof(token: bytes, said: str) -> str:
    return hmac.new(token, said.encode(), hashlib.sha256).hexdigest()
