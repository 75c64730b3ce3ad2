"""Who draws results: they themselves know nothing of pages and figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.charts.paper.paper import Paper

#: ``mptcplab.api.pages`` sets them: to ``write_report``, to ``figure``, and to what notebooks show.
write: Callable[..., Path]
draw: Callable[..., Paper]
html: Callable[[Any], str]
