"""Namespaces of our own that end with us: a new process in them, and a supervisor beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from mptcplab._core import Error, InternalError
from mptcplab.engines.kernel.supervisor import DONE, FAILED, KILL

LAB = "mptcplab.engines.kernel.lab"
SUPERVISOR = "mptcplab.engines.kernel.supervisor"
# A child of unshare that outlives it is none of ours to find: it dies with it.
UNSHARE = "setpriv --pdeathsig KILL unshare --net --mount --pid --fork --kill-child --mount-proc"
AS_ROOT = "--user --map-root-user"


@contextmanager
def opened(directory: Path, *, user: bool = False) -> Iterator[Sandbox]:
    """Start a lab, which waits for its job; with ``user`` root's too has a user namespace.

    When we are killed, it ends and run directories in ``directory`` that are not finished go.
    """
    life, word = os.pipe()
    engine = os.pidfd_open(os.getpid())
    unshare = UNSHARE.split() + (AS_ROOT.split() if user or os.geteuid() != 0 else [])
    words = [str(life), str(engine), str(directory), *unshare, *_module(LAB)]
    command = [*_module(SUPERVISOR), *words]
    with tempfile.TemporaryFile("w+") as said:
        try:
            process = subprocess.Popen(  # noqa: S603
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
                pass_fds=[life, engine],
                # Ctrl-C on the terminal is for us alone.
                start_new_session=True,
            )
        except OSError as error:
            os.close(word)
            raise Error(f"cannot start {command[0]}: {error.strerror}") from error
        finally:
            os.close(life)
            os.close(engine)
        last = FAILED
        try:
            yield Sandbox(process, word, said, is_bounded=user)
            last = DONE
        finally:
            with suppress(BrokenPipeError):
                os.write(word, last)
            os.close(word)
            with suppress(BrokenPipeError):
                process.communicate()


def has_user() -> bool:
    """Say whether there are user namespaces; containers may keep them from root."""
    try:
        tried = subprocess.run(["unshare", *AS_ROOT.split(), "true"], capture_output=True)  # noqa: S603, S607
    except OSError:
        return False
    return tried.returncode == 0


class Sandbox:
    """A lab in namespaces of its own."""

    def __init__(
        self, process: subprocess.Popen[str], word: int, said: IO[str], *, is_bounded: bool
    ) -> None:
        #: Whether it has a user namespace although we are root.
        self.is_bounded = is_bounded
        self._process = process
        self._word = word
        self._said = said

    def run(self, job: dict[str, Any]) -> Generator[dict[str, Any]]:
        """Give it the job, and give what it tells until all that is in the sandbox is gone.

        Whoever listens no longer ends it.
        """
        assert self._process.stdin  # noqa: S101 - is a pipe
        assert self._process.stdout  # noqa: S101
        try:
            with suppress(BrokenPipeError):
                self._process.stdin.write(json.dumps(job) + "\n")
                self._process.stdin.flush()
            last: dict[str, Any] = {}
            for line in self._process.stdout:
                last = json.loads(line)
                if "failed" in last:
                    raise Error(last["failed"])
                if "up" not in last:
                    yield last
            if "ended" not in last:
                raise self._unexpected(was_up=bool(last))
        finally:
            with suppress(BrokenPipeError):
                os.write(self._word, KILL)
            self._process.stdout.read()

    def tell(self, word: str) -> None:
        """Say a word to the lab."""
        assert self._process.stdin  # noqa: S101 - is a pipe
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{word}\n")
            self._process.stdin.flush()

    @property
    def supervisor(self) -> int:
        """The process whose only child's only child is the lab."""
        return self._process.pid

    def _unexpected(self, *, was_up: bool) -> Error:
        """Say why it ended without a word."""
        self._said.seek(0)
        lines = self._said.read().splitlines()
        if lines and not was_up:
            from mptcplab.machine.checks import Needs, obstacles

            found = obstacles(Needs(mptcp=False))
            return Error(found[0] if found else f"there are no namespaces of our own: {lines[-1]}")
        if lines and not lines[-1].startswith("unshare:"):
            return InternalError(f"the lab of the kernel engine failed: {lines[-1]}")
        return Error("the lab of the kernel engine was killed")


def _module(name: str) -> list[str]:
    # Without -P a file of the user's may stand in for a module of ours.
    return [sys.executable, "-P", "-m", name]
