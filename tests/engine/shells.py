"""``mptcplab shell`` as tests run it."""

from __future__ import annotations

import hashlib
import random

from engine.machines import Machine
from engine.two_paths import two_paths
from mptcplab.results.run import Run

PATHS = two_paths()
SERVER = "10.9.0.1"
BYTES = 3_000_000
# Accepts so many connections, a byte each.
SERVES = (
    "import socket; s = socket.create_server(('', 7000)); "
    "[s.accept()[0].send(b'x') for _ in range({count})]"
)


class Shell:
    """``mptcplab shell`` in a scenario."""

    def __init__(self, machine: Machine, scenario: str = PATHS) -> None:
        self.machine = machine
        self.file = machine.write(scenario)
        self.out = machine.directory / "out"

    def words(self, *words: str, **options: str | bool) -> list[object]:
        """Give the arguments."""
        given: list[object] = ["shell", self.file, "--out", self.out]
        for name, value in options.items():
            given += [f"--{name}"] if value is True else [f"--{name}", value]
        return [*given, "--", *words] if words else given

    def run(self, *words: str, status: int = 0, **options: str | bool) -> str:
        """Run a program; gives what it printed."""
        done = self.machine.run(*self.words(*words, **options))
        assert done.returncode == status, done.stderr
        self.err = done.stderr
        return done.stdout

    @property
    def left(self) -> Run:
        """The run that it left."""
        return Run(self.out)


def data(machine: Machine) -> str:
    """Write a file that a server may serve, and give its digest."""
    directory = machine.directory / "served"
    directory.mkdir()
    content = random.Random(1).randbytes(BYTES)
    (directory / "data").write_bytes(content)
    return hashlib.sha256(content).hexdigest()
