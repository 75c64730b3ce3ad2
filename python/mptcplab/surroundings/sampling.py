"""Samples sources during a run, each in a thread of its own: none of them can fail the run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Event, Thread
from typing import Any, Protocol, TypeAlias

Row: TypeAlias = dict[str, Any]

# A source that answers nothing for so long has stopped.
PATIENCE_SECONDS = 5.0


class UnavailableError(Exception):
    """A source is not there, or has stopped; says why."""


class Source(Protocol):
    """Whatever can be asked for rows of a table."""

    #: As the column ``source`` has it.
    name: str
    #: ``radio`` or ``positions``.
    table: str

    @property
    def path(self) -> str | None:
        """The path of the radio; ``None`` for positions."""
        ...

    def follow(self, stop: Event, add: Callable[[Row], None]) -> None:
        """Add rows, without source and times, until it is to stop.

        Raises:
            UnavailableError: It is not there, or has stopped.
        """
        ...


class Radio:
    """A radio that is asked periodically: a source but for its name and how it is asked."""

    table = "radio"

    def __init__(self, path: str, interface: str, every_s: float) -> None:
        self.path = path
        self._interface = interface
        self._every_s = every_s


class Sampler:
    """Follows sources from when it is made until it ends."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._stop = Event()
        self._followed = [_Followed(source, self._stop) for source in sources]
        for one in self._followed:
            one.thread.start()

    def end(self) -> list[tuple[Source, list[Row], str | None]]:
        """Give each source with its rows, and why there are no more of them if it stopped."""
        self._stop.set()
        until = time.monotonic() + PATIENCE_SECONDS
        for one in self._followed:
            one.thread.join(max(until - time.monotonic(), 0))
        return [(one.source, list(one.rows), one.trouble()) for one in self._followed]


class _Followed:
    def __init__(self, source: Source, stop: Event) -> None:
        self.source = source
        self.rows: list[Row] = []
        self._reason: str | None = None
        self._stop = stop
        self.thread = Thread(target=self._follow, name=source.name, daemon=True)

    def trouble(self) -> str | None:
        if self.thread.is_alive():
            return f"{self.source.name} does not answer"
        return self._reason

    def _follow(self) -> None:
        try:
            self.source.follow(self._stop, self._add)
        except (UnavailableError, OSError) as error:
            self._reason = str(error)
        except Exception as error:  # whatever a source does, the run goes on
            self._reason = f"{type(error).__name__}: {error}"

    def _add(self, row: Row) -> None:
        self.rows.append({"at_ns": time.time_ns(), "source": self.source.name, **row})
