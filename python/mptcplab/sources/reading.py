"""Files → what they tell."""

from __future__ import annotations

from pathlib import Path

from mptcplab._core import CaptureError, Error
from mptcplab.reading import dangling
from mptcplab.sources.file import look

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike

    from mptcplab.sources.contents import Contents
    from mptcplab.sources.file import File
    from mptcplab.sources.formats import Source


def read(path: str | PathLike[str]) -> Contents | None:
    """Read a file of another tool; None if it may be a capture.

    Raises:
        CaptureError: It is text, but of no tool that is known.
        Error: Something in it is wrong: which line.
    """
    file = look(path)
    if file is None:
        if nowhere := dangling(Path(path)):
            raise CaptureError(nowhere)
        return None
    from mptcplab.sources.formats import sources

    for source in sources().values():
        if source.matches(file):
            return _contents(source, file)
    raise CaptureError(
        f"{path} is neither pcap nor pcapng, nor of a tool that is known: {', '.join(sources())} "
        "(mptcplab analyze --sources)"
    )


def is_known(path: str | PathLike[str]) -> bool:
    """Say whether a file is of a tool that is known."""
    file = look(path)
    if file is None:
        return False
    from mptcplab.sources.formats import sources

    return any(source.matches(file) for source in sources().values())


def _contents(source: Source, file: File) -> Contents:
    try:
        return source.read(file)
    except ValueError as error:
        message, *line = error.args
        where = f", line {line[0]}" if line else ""
        raise Error(f"{file.path}{where}: {message}") from error
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        reason = f"has no {error}" if isinstance(error, KeyError) else str(error)
        raise Error(f"{file.path} is not as {source.name} writes it: {reason}") from error
