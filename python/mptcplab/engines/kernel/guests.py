"""Guests: programs that are none of ours in the lab's hosts, started by who holds the terminal."""

from __future__ import annotations

import os
import select
import subprocess
import time
from pathlib import Path

from mptcplab._core import Error
from mptcplab.engines.kernel.agent.diagnosis import Diagnosis

# What the lab is told on its standard input: the server is there, so begin; the client has ended.
GO, END = "go", "end"
INPUT = 0
READ_BYTES = 1 << 12
ETC = Path("/etc")
# How long connections may take to go when their programs have ended.
SETTLE_NS = 10**9
LOOK_SECONDS = 0.02


class Guests:
    """What the lab has to know of them."""

    def __init__(self, names: str) -> None:
        """``names`` is a directory of files that stand for those in /etc, in our mounts alone."""
        for file in sorted(Path(names).iterdir()):
            command = ["mount", "--bind", str(file), str(ETC / file.name)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
            if done.returncode:
                raise Error(f"cannot name the hosts in {ETC / file.name}: {done.stderr.strip()}")
        self._diagnoses: list[Diagnosis] = []
        self._partial = b""
        self._told: set[str] = set()

    def watch_here(self) -> None:
        """Take note of a host where they are: the one where we are."""
        self._diagnoses.append(Diagnosis())

    def wait_for(self, word: str) -> None:
        """Wait until we are told."""
        while not self.told(word):
            select.select([INPUT], [], [])

    def told(self, word: str) -> bool:
        """Say whether we have been told."""
        while select.select([INPUT], [], [], 0)[0]:
            came = os.read(INPUT, READ_BYTES)
            if not came:
                # Nobody is there to tell.
                self._told |= {GO, END}
                break
            *lines, self._partial = (self._partial + came).split(b"\n")
            self._told |= {line.decode() for line in lines}
        return word in self._told

    def settle(self) -> None:
        """Wait until what was open is gone, or for a while."""
        until_ns = time.monotonic_ns() + SETTLE_NS
        while any(one.alive() for one in self._diagnoses) and time.monotonic_ns() < until_ns:
            time.sleep(LOOK_SECONDS)
