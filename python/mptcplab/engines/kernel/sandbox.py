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
# A child of unshare could not be found if it outlived it: it dies with it.
UNSHARE = "setpriv --pdeathsig KILL unshare --net --mount --pid --fork --kill-child --mount-proc"
AS_ROOT = "--user --map-root-user"


@contextmanager
def opened(directory: Path, *, user: bool = False) -> Iterator[Sandbox]:
    """Start a lab, which waits for its job; with ``user`` it has a user namespace even for root.

    When we are killed, it ends and run directories in ``directory`` that are not finished go.
    """
    reader, writer = os.pipe()
    engine = os.pidfd_open(os.getpid())
    unshare = UNSHARE.split() + (AS_ROOT.split() if user or os.geteuid() != 0 else [])
    arguments = [str(reader), str(engine), str(directory), *unshare, *_module(LAB)]
    command = [*_module(SUPERVISOR), *arguments]
    with tempfile.TemporaryFile("w+") as errors:
        try:
            process = subprocess.Popen(  # noqa: S603
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                pass_fds=[reader, engine],
                # Ctrl-C on the terminal is for us alone.
                start_new_session=True,
            )
        except OSError as error:
            os.close(writer)
            raise Error(f"cannot start {command[0]}: {error.strerror}") from error
        finally:
            os.close(reader)
            os.close(engine)
        last = FAILED
        try:
            yield Sandbox(process, writer, errors, is_bounded=user)
            last = DONE
        finally:
            with suppress(BrokenPipeError):
                os.write(writer, last)
            os.close(writer)
            with suppress(BrokenPipeError):
                process.communicate()


def has_user() -> bool:
    """Say whether user namespaces can be made; containers may forbid them, even to root."""
    try:
        attempt = subprocess.run(["unshare", *AS_ROOT.split(), "true"], capture_output=True)  # noqa: S603, S607
    except OSError:
        return False
    return attempt.returncode == 0


class Sandbox:
    """A lab in namespaces of its own."""

    def __init__(
        self, process: subprocess.Popen[str], writer: int, errors: IO[str], *, is_bounded: bool
    ) -> None:
        #: Whether it has a user namespace although we are root.
        self.is_bounded = is_bounded
        self._process = process
        self._writer = writer
        self._errors = errors

    def run(self, job: dict[str, Any]) -> Generator[dict[str, Any]]:
        """Start the job, and yield its messages until all processes of the sandbox are gone.

        Closing the generator ends it.
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
                os.write(self._writer, KILL)
            self._process.stdout.read()

    def send(self, line: str) -> None:
        """Send a line to the lab."""
        assert self._process.stdin  # noqa: S101 - is a pipe
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()

    @property
    def supervisor(self) -> int:
        """The process whose only child's only child is the lab."""
        return self._process.pid

    def _unexpected(self, *, was_up: bool) -> Error:
        """Say why it ended without a message."""
        self._errors.seek(0)
        lines = self._errors.read().splitlines()
        if lines and not was_up:
            from mptcplab.machine.checks import Needs, obstacles

            found = obstacles(Needs(mptcp=False))
            return Error(found[0] if found else f"there are no namespaces of our own: {lines[-1]}")
        if lines and not lines[-1].startswith("unshare:"):
            return InternalError(f"the lab of the kernel engine failed: {lines[-1]}")
        return Error("the lab of the kernel engine was killed")


def _module(name: str) -> list[str]:
    # Without -P a file of the user's may shadow a module of ours.
    return [sys.executable, "-P", "-m", name]
