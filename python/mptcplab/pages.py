"""Who draws results: they themselves know nothing of pages and figures."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.charts.paper.paper import Paper

#: ``mptcplab.api.pages`` sets them: to ``write_report``, to ``figure``, and to what notebooks show.
write: Callable[..., Path]
draw: Callable[..., Paper]
html: Callable[[Any], str]


def __getattr__(name: str) -> object:
    """Have them set, if nobody has imported who sets them."""
    if name not in __annotations__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import_module("mptcplab.api.pages")
    return globals()[name]
