"""The links, scenarios and campaigns that ship with mptcplab, as TOML files beside this one."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.scenario.source import Source

HERE = Path(__file__).parent


@cache
def names(what: str) -> list[str]:
    """Name all ``"links"``, ``"scenarios"`` or ``"campaigns"``."""
    return sorted(_files(what))


def text(what: str, name: str) -> str:
    """Give one as it is written."""
    return _files(what)[name].read_text("utf-8")


def table(what: str, name: str) -> dict[str, Any]:
    """Give one as a table."""
    return tomllib.loads(text(what, name))


def source(what: str, name: str) -> Source:
    """Give one for reading."""
    from mptcplab.scenario.source import Source

    return Source.of_text(text(what, name), f"{name} ({what} that ship)", _files(what)[name].parent)


@cache
def _files(what: str) -> dict[str, Path]:
    """Give the file of each name, in whichever directory it is."""
    return {path.stem: path for path in (HERE / what).rglob("*.toml")}
