"""What the supervisor of a sandbox ends and clears away, however its command and its engine end."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.leftovers import UNFINISHED, children
from mptcplab.engines.kernel.sandbox import SUPERVISOR
from mptcplab.engines.kernel.supervisor import DONE, KILL

# As unshare between its fork and what binds the fork's life to its own.
COMMAND = ("sh", "-c", "sleep 1000 & echo $!; wait")


@contextmanager
def kept(
    engine: int, directory: Path, *command: str
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A supervisor for that process, and where it listens; it ends in time."""
    life, word = os.pipe()
    process = os.pidfd_open(engine)
    numbers = [life, process]
    whole = [sys.executable, "-m", SUPERVISOR, *map(str, numbers), str(directory), *command]
    with subprocess.Popen(whole, stdout=subprocess.PIPE, text=True, pass_fds=numbers) as supervisor:
        os.close(life)
        os.close(process)
        yield supervisor, word
        try:
            supervisor.communicate(timeout=120)
        finally:
            supervisor.kill()
    assert supervisor.returncode == 0


@pytest.mark.parametrize("by_word", [True, False], ids=["told", "killed"])
def test_a_child_that_outlives_the_command_ends(tmp_path: Path, by_word: bool) -> None:
    with kept(os.getpid(), tmp_path, *COMMAND) as (supervisor, word):
        assert supervisor.stdout
        child = int(supervisor.stdout.readline())
        if by_word:
            os.write(word, KILL)
        else:
            os.kill(children(supervisor.pid)[0], signal.SIGKILL)
        os.write(word, DONE)
        os.close(word)
    assert not Path("/proc", str(child)).exists()


def test_what_the_engine_holds_until_it_is_gone_goes(tmp_path: Path) -> None:
    left = tmp_path / f"{UNFINISHED}run"
    left.mkdir()
    lock = os.open(left, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    engine = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[lock])
    os.close(lock)
    with engine, kept(engine.pid, tmp_path, "true") as (supervisor, word):
        assert supervisor.stdout
        # The command is gone, and nothing is left to do but to clear away.
        assert supervisor.stdout.read() == ""
        os.close(word)
        with pytest.raises(subprocess.TimeoutExpired):
            supervisor.wait(0.5)
        engine.kill()
    assert not left.exists()
