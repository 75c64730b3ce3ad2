"""What is wrong with a scenario, in one line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from mptcplab._core import Error

# The key path of a value: names of tables and keys, and indices in lists.
KeyPath = tuple[str | int, ...]


class ScenarioError(Error):
    """A scenario cannot be; says where and why, in a line for each fault."""

    #: How far into its file the fault is, in bytes; 0 where that is not known.
    offset = 0

    def __str__(self) -> str:
        return "\n".join(self.args)


class Faults:
    """Collects the faults of parts that can be read apart, so that all are reported at once."""

    def __init__(self) -> None:
        self._found: list[ScenarioError] = []

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Read a part; :meth:`raise_found` raises what is wrong with it."""
        try:
            yield
        except ScenarioError as error:
            self._found.append(error)

    def raise_found(self) -> None:
        """Raise what was found, in the order of the file."""
        if self._found:
            raise together(self._found)


def together(errors: Iterable[ScenarioError]) -> ScenarioError:
    """Make one error of several, in the order of the file."""
    ordered = sorted(errors, key=lambda error: error.offset)
    whole = ScenarioError(*(line for error in ordered for line in error.args))
    whole.offset = ordered[0].offset
    return whole
