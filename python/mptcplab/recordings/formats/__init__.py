"""Formats of recordings: one file each, whose ``FORMAT`` is one.

A format is what :class:`Format` says: its name, what it reads and leaves empty, and how. A file
here is all that a new one takes.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from mptcplab.recordings.file import File, Options
    from mptcplab.recordings.recording import Recording

    class Format(Protocol):
        """How one tool or data set writes what it measured."""

        @property
        def name(self) -> str:
            """Its name, for ``--as``."""

        @property
        def title(self) -> str:
            """What it is, in a line."""

        @property
        def reads(self) -> str:
            """What is read, and what it becomes."""

        @property
        def empty(self) -> str:
            """What it does not say."""

        @property
        def licence(self) -> str:
            """The licence of the data set, as far as the format implies one."""

        def matches(self, file: File) -> bool:
            """Say whether a file is of this format."""

        def read(self, file: File, options: Options) -> list[Recording]:
            """Give a recording for each path in it.

            Raises:
                ValueError: Something is wrong; its second argument is the number of the line.
            """


@cache
def formats() -> dict[str, Format]:
    """Give all formats by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    found = [importlib.import_module(f"{__name__}.{name}").FORMAT for name in names]
    return {one.name: one for one in found}
