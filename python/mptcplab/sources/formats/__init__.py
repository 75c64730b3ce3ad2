"""Formats of other tools: one file each, whose ``SOURCE`` is one.

A source is what :class:`Source` says: its name, how it knows its files, and how it reads them. A
file here is all that a new one takes. Sources of users are entry points of the group
``mptcplab.sources``, looked for once a file is no capture.
"""

from __future__ import annotations

from functools import cache

from mptcplab._core import Error
from mptcplab.recordings.loading import readers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from mptcplab.recordings.loading import Reader
    from mptcplab.sources.contents import Contents
    from mptcplab.sources.file import File

    class Source(Reader, Protocol):
        """What one tool writes; column ``source`` of ``connections`` has its name."""

        def matches(self, file: File) -> bool:
            """Say whether a file is of it, by its ``head``."""

        def read(self, file: File) -> Contents:
            """Give what the file tells.

            Raises:
                ValueError: Something is wrong; its second argument is the number of the line.
            """


GROUP = "mptcplab.sources"
NEEDED = ("name", "title", "reads", "empty", "matches", "read")


@cache
def sources() -> dict[str, Source]:
    """Give all sources by name, those of users first: of two that know a file, theirs reads it.

    Raises:
        Error: A user's cannot be loaded.
    """
    # Slow, and of no use for captures.
    from importlib.metadata import entry_points

    found: dict[str, Source] = {}
    for point in entry_points(group=GROUP):
        try:
            found[point.name] = point.load()
        except Exception as error:
            raise Error(
                f"the source {point.name} ({point.value}) cannot be loaded: {error}"
            ) from error
        missing = [name for name in NEEDED if not hasattr(found[point.name], name)]
        if missing:
            raise Error(f"the source {point.name} ({point.value}) has no {', '.join(missing)}")
    own = readers(__name__, __path__, "SOURCE")
    return found | {name: one for name, one in own.items() if name not in found}
