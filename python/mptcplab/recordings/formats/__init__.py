"""Formats of recordings: one file each, whose ``FORMAT`` is one.

A format is what :class:`Format` says: its name, what it reads and leaves empty, and how. A file
here is all that a new one takes.
"""

from __future__ import annotations

from functools import cache

from mptcplab.recordings.loading import readers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from mptcplab.recordings.file import File, Options
    from mptcplab.recordings.loading import Reader
    from mptcplab.recordings.recording import Recording

    class Format(Reader, Protocol):
        """How one tool or data set writes what it measured; ``--as`` takes its name."""

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
    return readers(__name__, __path__, "FORMAT")
