"""The writer of pages: it reads results, so it registers itself here instead of being imported."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

write: Callable[..., Path]
