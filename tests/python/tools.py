"""What files of other tools tell, beside what the tools wrote; and what a page holds."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl

from mptcplab import Analysis, analyze

TOOLS = Path(__file__).parents[2] / "examples" / "tools"
DRIVE = """time,throughput,speed,latitude,longtitu
2026-11-26 20:44:26 UTC,18,48,44.9800,-93.2100
2026-11-26 20:44:27 UTC,8,48,44.9801,-93.2101
2026-11-26 20:44:29 UTC,4,48,44.9802,-93.2102
"""


def tool(name: str) -> Analysis:
    """What a file of a tool tells."""
    return analyze(TOOLS / name)


def document(name: str) -> dict[str, Any]:
    """The same as the tool wrote it."""
    content = (TOOLS / name).read_bytes()
    return json.loads(gzip.decompress(content) if name.endswith(".gz") else content)  # type: ignore[no-any-return]


def row(frame: pl.DataFrame, **which: object) -> dict[str, Any]:
    """The only row of that kind."""
    return frame.filter(**which).row(0, named=True)
