"""The page at ``/`` of ``serve --open``: sizes to load, and the result of the last download."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

# The page has links for those up to the limit.
SIZES = ("1MB", "10MB", "50MB", "100MB", "1GB")
_BYTES = {"1MB": 10**6, "10MB": 10**7, "50MB": 5 * 10**7, "100MB": 10**8, "1GB": 10**9}
HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>mptcplab: a download over MPTCP</title>
<style>
body {{ font: 1.1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 2rem; }}
a {{ display: inline-block; margin: 0 .6rem .6rem 0; padding: .4rem .8rem; border: 1px solid; }}
</style>
</head>
<body>
<h1>A download over MPTCP</h1>
<p>This page came over <strong>{protocol}</strong>.</p>
<h2>Load</h2>
<p>{links}</p>
<h2>Your last download</h2>
<p>{last}</p>
<p>What is loaded has no meaning. The server records the packets' headers of what it gives.</p>
</body>
</html>
"""


@dataclass(frozen=True)
class Result:
    """The result of a download."""

    size_bytes: int
    elapsed_s: float
    finished: bool
    mptcp: bool
    fallback: bool
    subflows: int

    @property
    def protocol(self) -> str:
        """Name the protocol that it came over."""
        return protocol(mptcp=self.mptcp, fallback=self.fallback)


def protocol(*, mptcp: bool, fallback: bool) -> str:
    """Name the protocol of a connection."""
    if fallback:
        return "plain TCP: MPTCP fell back"
    return "MPTCP" if mptcp else "plain TCP"


def page(over: str, last: Result | None, most_bytes: int) -> bytes:
    """Give the page."""
    links = "\n".join(
        f'<a href="/{size}">{size.replace("MB", " MB").replace("GB", " GB")}</a>'
        for size in SIZES
        if _BYTES[size] <= most_bytes
    )
    text = _PAGE.format(protocol=escape(over), links=links, last=escape(described(last)))
    return text.encode()


def described(result: Result | None) -> str:
    """Describe a download in a line."""
    if result is None:
        return "none from this address"
    rate = result.size_bytes * 8 / result.elapsed_s / 1e6 if result.elapsed_s > 0 else 0.0
    description = f"{result.size_bytes / 1e6:g} MB in {result.elapsed_s:.1f} s, {rate:.3g} Mbit/s"
    subflows = f"{result.subflows} subflow{'s' * (result.subflows != 1)}"
    paths = f", {subflows}" if result.mptcp and not result.fallback else ""
    ending = "" if result.finished else "; it did not finish"
    return f"{description}, over {result.protocol}{paths}{ending}"
