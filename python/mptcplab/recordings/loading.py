"""Readers of what other tools write, a file each in a folder of their own."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Reader(Protocol):
        """What a reader says of itself."""

        @property
        def name(self) -> str:
            """Its name, which users type and tables hold."""

        @property
        def title(self) -> str:
            """What it is, in a line."""

        @property
        def reads(self) -> str:
            """What is read, and what it becomes."""

        @property
        def empty(self) -> str:
            """What it does not tell."""


def readers(package: str, path: Iterable[str], constant: str) -> dict[str, Any]:
    """Give by name what each module of a package calls ``constant``."""
    names = sorted(module.name for module in pkgutil.iter_modules(path))
    found = [getattr(importlib.import_module(f"{package}.{name}"), constant) for name in names]
    return {one.name: one for one in found}
