"""What the keeper of a sandbox ends: all that came of its command, however that itself ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine.leftovers import children
from mptcplab.engine.kernel.keeper import DONE, KILL
from mptcplab.engine.kernel.sandbox import KEEPER

# As unshare between its fork and what binds the fork's life to its own.
COMMAND = ("sh", "-c", "sleep 1000 & echo $!; wait")


@pytest.mark.parametrize("by_word", [True, False], ids=["told", "killed"])
def test_a_child_that_outlives_the_command_ends(tmp_path: Path, by_word: bool) -> None:
    life, word = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-m", KEEPER, str(life), str(tmp_path), *COMMAND],
        stdout=subprocess.PIPE,
        text=True,
        pass_fds=[life],
    ) as keeper:
        os.close(life)
        assert keeper.stdout
        child = int(keeper.stdout.readline())
        if by_word:
            os.write(word, KILL)
        else:
            os.kill(children(keeper.pid)[0], signal.SIGKILL)
        os.write(word, DONE)
        os.close(word)
        try:
            keeper.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            os.kill(child, signal.SIGKILL)
            raise
    assert keeper.returncode == 0
    assert not Path("/proc", str(child)).exists()
