"""A page as one HTML file that asks for nothing else."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
from array import array
from importlib import resources
from pathlib import Path
from typing import Any

from mptcplab._core import Error
from mptcplab.charts.campaign.shape import CampaignPage
from mptcplab.charts.shape import Page, StudyPage, plain
from mptcplab.writing import write_whole

# The title comes before the style.
MOST_HEAD_BYTES = 10_000
# What the build of the page leaves here.
SCRIPT, STYLE = "report.js", "report.css"

# The page asks for nothing, and runs our script alone (W3C, Content Security Policy Level 3).
POLICY = (
    "default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; script-src 'sha256-{hash}'"
)
# In the title of every page of ours.
MARK = "· mptcplab</title>"

TEMPLATE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<noscript>This page draws its charts with JavaScript, which is switched off here.</noscript>
<script type="application/json" id="page">{page}</script>
<script type="text/plain" id="columns">{columns}</script>
<script>{script}</script>
</body>
</html>
"""


def write(page: Page | CampaignPage | StudyPage, target: Path) -> None:
    """Write a page; an earlier one stays until the new one is complete."""
    write_whole(target, _html(page).encode())


def _html(page: Page | CampaignPage | StudyPage) -> str:
    columns = _Columns()
    described = json.dumps(page, default=columns.take, ensure_ascii=False, separators=(",", ":"))
    script = _built(SCRIPT)
    return TEMPLATE.format(
        policy=POLICY.format(hash=_hash(script)),
        title=html.escape(f"{page.title} · mptcplab"),
        style=_built(STYLE),
        # Nothing within may end the element early.
        page=described.replace("<", "\\u003c"),
        columns=base64.b64encode(gzip.compress(bytes(columns.bytes), 6, mtime=0)).decode(),
        script=script,
    )


def refuse_foreign(target: Path) -> None:
    """Refuse to replace by a page what is none. A device or a pipe is written to.

    Raises:
        Error: There is a file with something in it, and it is no page of ours.
    """
    try:
        if not target.is_file():
            return
        with target.open("rb") as file:
            begins = file.read(MOST_HEAD_BYTES)
    except FileNotFoundError:
        return
    except OSError as error:
        raise Error(f"cannot read {target}: {error.strerror}") from None
    if begins and MARK.encode() not in begins:
        raise Error(f"{target} is there and is not a page of mptcplab: move it elsewhere")


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


class _Columns:
    """Takes arrays out of what becomes JSON, and leaves where their bytes are."""

    def __init__(self) -> None:
        self.bytes = bytearray()

    def take(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, array):
            return plain(value)
        # Typed arrays begin at multiples of their items' size.
        self.bytes += bytes(-len(self.bytes) % 8)
        span = {"type": value.typecode, "at": len(self.bytes), "length": len(value)}
        self.bytes += value.tobytes()
        return span


def _built(name: str) -> str:
    try:
        return (resources.files("mptcplab.charts") / name).read_text("utf-8")
    except FileNotFoundError:
        raise Error(
            f"this installation of mptcplab lacks {name}, which its build makes: install it again"
        ) from None
