"""A terminal, and somebody who types."""

from __future__ import annotations

import os
import pathlib
import pty
import re
import select
import signal
import time
from collections.abc import Mapping
from typing import Self

PATIENCE_SECONDS = 30


class Terminal:
    """A program on a terminal of its own."""

    def __init__(
        self,
        command: list[str],
        directory: pathlib.Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.said = ""
        self._answers = 0
        self._status: int | None = None
        self.process, self._end = pty.fork()
        if self.process == 0:
            os.chdir(directory)
            os.execvpe(command[0], command, dict(environment or os.environ))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is None:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        os.close(self._end)

    def write(self, text: str) -> None:
        """Type."""
        os.write(self._end, text.encode())

    def read(self, pattern: str) -> str:
        """Give what is printed, up to something; literally."""
        return self._until(re.escape(pattern))

    def ask(self, command: str) -> str:
        """Give what a shell prints of a command."""
        self._answers += 1
        # What is typed is printed, too.
        self.write(f"{command}; echo answ''er{self._answers}\n")
        return self._until(f"answer{self._answers}\r?\n")

    def wait(self) -> int:
        """Give the exit status."""
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            process, status = os.waitpid(self.process, os.WNOHANG)
            if process:
                self._status = os.waitstatus_to_exitcode(status)
                return self._status
            self._take(0.05)
        raise AssertionError(f"it does not end: {self.said}")

    def _until(self, pattern: str) -> str:
        until = time.monotonic() + PATIENCE_SECONDS
        begun = len(self.said)
        while not re.search(pattern, self.said[begun:]):
            assert time.monotonic() < until, f"no {pattern}: {self.said}"
            self._take(0.1)
        return self.said[begun:]

    def _take(self, seconds: float) -> None:
        if select.select([self._end], [], [], seconds)[0]:
            try:
                self.said += os.read(self._end, 1 << 16).decode(errors="replace")
            except OSError:
                # Nobody is on the terminal any more.
                time.sleep(seconds)
