"""Who writes the pages of runs and campaigns: results themselves know nothing of pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

#: ``mptcplab.api`` sets it to ``write_report``.
write: Callable[..., Path]
