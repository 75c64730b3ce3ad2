"""HTTP requests: for the page, or a number of bytes. No request names a file."""

from __future__ import annotations

import re
from dataclasses import dataclass

# How long the head of a request may be.
MOST_BYTES = 4096
_LINE = re.compile(rb"([A-Z]{1,10}) (/[!-~]*) HTTP/1\.[01]")
_SIZE = re.compile(r"/([1-9][0-9]{0,11})(B|kB|MB|GB)?")
UNITS = {None: 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}
PAGE = "/"
REASONS = {
    200: "OK",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}


@dataclass(frozen=True)
class Request:
    """What is asked for: the page where ``size_bytes`` is ``None``; only the head for HEAD."""

    size_bytes: int | None
    head_only: bool


@dataclass(frozen=True)
class Refusal:
    """Why a request is refused."""

    status: int
    why: str


def read(raw: bytes, most_bytes: int) -> Request | Refusal:
    """Read the head of a request."""
    head, end, _ = raw.partition(b"\r\n\r\n")
    if not end:
        if len(raw) >= MOST_BYTES:
            return Refusal(431, f"a request has {MOST_BYTES} bytes at most")
        return Refusal(400, "the request ends in the middle")
    found = _LINE.fullmatch(head.partition(b"\r\n")[0])
    if found is None:
        return Refusal(400, "this is no request of HTTP/1.1")
    method, target = found[1].decode("ascii"), found[2].decode("ascii")
    if method not in ("GET", "HEAD"):
        return Refusal(405, "this server takes GET and HEAD")
    path = target.partition("?")[0]
    if path == PAGE:
        return Request(None, method == "HEAD")
    size = _SIZE.fullmatch(path)
    if size is None:
        return Refusal(404, "there are / and /SIZE, such as /10MB")
    count = int(size[1]) * UNITS[size[2]]
    if count > most_bytes:
        return Refusal(403, f"this server gives {most_bytes / 1e6:g} MB at most")
    return Request(count, method == "HEAD")


def answer(status: int, kind: str, size_bytes: int) -> bytes:
    """Give the head of an answer; the connection ends with its body."""
    lines = [
        f"HTTP/1.1 {status} {REASONS[status]}",
        f"Content-Type: {kind}",
        f"Content-Length: {size_bytes}",
        "Cache-Control: no-store, no-transform",
        "X-Content-Type-Options: nosniff",
        "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'",
        *(["Allow: GET, HEAD"] if status == 405 else []),
        *(["Retry-After: 60"] if status in (429, 503) else []),
        "Connection: close",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")
