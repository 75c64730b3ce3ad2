"""The line by which a client knows a server: ``HOST:PORT#FINGERPRINT``."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from mptcplab._core import Error

PORT = 7443
# Version of the control protocol.
PROTOCOL = 1
LINE = re.compile(
    r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[^\s\[\]:#]+))(?::(?P<port>[0-9]{1,5}))?"
    r"#(?P<print>[0-9a-f]{64})"
)
HOST = re.compile(r"[^\s\[\]#]+")
# The shortest token that cannot be guessed, and the longest.
LEAST_TOKEN = 16
MOST_TOKEN = 256


@dataclass(frozen=True)
class ServerLine:
    """Where the server is, and the SHA-256 of its certificate."""

    host: str
    port: int
    fingerprint: str

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}#{self.fingerprint}"


def read(text: str) -> ServerLine:
    """Read it."""
    found = LINE.fullmatch(text)
    if found is None or not 0 < int(found["port"] or PORT) < 1 << 16:
        raise Error(
            f"{text}: is not the line of a server, HOST:PORT#FINGERPRINT: copy the one that "
            "mptcplab serve prints"
        )
    check_host(found["six"] or found["host"])
    return ServerLine(found["six"] or found["host"], int(found["port"] or PORT), found["print"])


def check_host(name: str) -> None:
    """Refuse what cannot be the name or address of a host.

    Raises:
        Error: It cannot stand in a server's line, or a label of it is empty or too long.
    """
    try:
        # As whoever looks it up does.
        name.encode("idna")
        is_host = HOST.fullmatch(name) is not None
    except UnicodeError:
        is_host = False
    if not is_host:
        raise Error(f"{name!r} is not the name or address of a host, such as lab.example.org")


def configuration() -> Path:
    """Give the directory of our configuration."""
    # Unlike Path.home, this leaves the name as it is where there is no home directory.
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111
    return Path(base, "mptcplab")


def token(file: str | None) -> str:
    """Read the token from a file that no other user may read."""
    path = configuration() / "token" if file is None else Path(file).expanduser()
    try:
        if path.stat().st_mode & 0o077:
            raise Error(f"{path}: others may read the token: chmod 600 {path}")
        read = path.read_text("utf-8").strip()
    except FileNotFoundError:
        raise Error(
            f"{path}: there is no token: copy the file that mptcplab serve names, or say where it "
            'is (--token FILE, or token = "FILE" in [field])'
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise Error(f"{path}: cannot read the token: {error}") from None
    if not LEAST_TOKEN <= len(read) <= MOST_TOKEN or not read.isascii() or not read.isprintable():
        raise Error(f"{path}: a token has {LEAST_TOKEN} to {MOST_TOKEN} ASCII characters")
    return read
