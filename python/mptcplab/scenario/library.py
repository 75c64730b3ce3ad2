"""The links, scenarios and campaigns that ship with mptcplab, as TOML files beside this one."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


@cache
def names(what: str) -> list[str]:
    """Name all ``"links"``, ``"scenarios"`` or ``"campaigns"``."""
    return sorted(_files(what))


def text(what: str, name: str) -> str:
    """Give one as it is written."""
    return file(what, name).read_text("utf-8")


def table(what: str, name: str) -> dict[str, Any]:
    """Give one as a table."""
    return tomllib.loads(text(what, name))


def file(what: str, name: str) -> Path:
    """Give the file of one."""
    return _files(what)[name]


@cache
def _files(what: str) -> dict[str, Path]:
    """Give the file of each name, in whichever directory it is."""
    return {path.stem: path for path in (HERE / what).rglob("*.toml")}
