"""Who draws results: they themselves know nothing of pages and figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

#: ``mptcplab.api.pages`` sets them: to ``write_report``, to ``figure``, and to what notebooks show.
write: Callable[..., Path]
draw: Callable[..., Any]
html: Callable[[Any], str]
