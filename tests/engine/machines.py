"""The kinds of machines that the kernel engine meets, played by this one; and runs on them."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import ordinary
from engine.copies import Copies
from mptcplab.results.run import Run
from requirements import missing, need_tool

# Who runs it, and what packets leave the kernel by.
KINDS = ["root-tun", "user-tun", "user-packet", "root-packet"]
# Whoever is root seldom goes without TUN.
USUAL = KINDS[:3]
# As a user runs the tests: whatever they may.
OWN = "own"
TUN = pathlib.Path("/dev/net/tun")
NO_TUN = 'mount -t tmpfs none /dev/net && exec "$@"'
TIMEOUT_SECONDS = 90
# What is later than that one time of a hundred met another link than the one of its scenario.
LATE_NS = 10_000_000
ATTEMPTS = 5

# What runs on machines of a kind are copies of.
_copies: dict[str, Copies] = {}


def playable(kinds: list[str]) -> list[str]:
    """Those of them that can be played here."""
    return kinds if os.geteuid() == 0 else [OWN]


class Machine:
    """One of them, and a directory that its user may write to."""

    def __init__(self, kind: str, directory: pathlib.Path, *, copies: bool = False) -> None:
        self.kind = kind
        self.directory = directory
        self._copies = copies

    @property
    def devices(self) -> str:
        """What packets leave the kernel by."""
        if self.kind == OWN:
            return "tun" if os.access(TUN, os.R_OK | os.W_OK) else "packet"
        return self.kind.partition("-")[2]

    def command(self, *arguments: object) -> list[str]:
        """Give the arguments that run mptcplab on it."""
        return self.python("-m", "mptcplab", *arguments)

    def python(self, *arguments: object) -> list[str]:
        """Give the arguments that run Python on it."""
        command = [sys.executable, *map(str, arguments)]
        if self.kind.startswith("user"):
            return ordinary.command(command, tun=self.kind == "user-tun")
        if self.kind == "root-packet":
            return ["unshare", "--mount", "sh", "-c", NO_TUN, "sh", *command]
        return command

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        """Start mptcplab on it."""
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(
        self, *arguments: object, seconds: float = TIMEOUT_SECONDS
    ) -> subprocess.CompletedProcess[str]:
        """Run mptcplab on it: started as users do, or a copy of a process that has imported it."""
        if self._copies:
            if self.kind not in _copies:
                _copies[self.kind] = Copies(self.python)
            words = list(map(str, arguments))
            return _copies[self.kind].run(words, str(self.directory), seconds)
        process = self.start(*arguments)
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def write(self, scenario: str, name: str = "scenario") -> pathlib.Path:
        """Write a scenario where its user sees it."""
        file = self.directory / f"{name}.toml"
        file.write_text(scenario)
        return file

    def emulate(
        self, scenario: str, *more: object, name: str = "scenario", status: int = 0
    ) -> dict[str, Run]:
        """Run a scenario with the kernel; gives the runs by name.

        ``status`` is 1 where the transfer is not to finish.
        """
        out = self.directory / name
        file = self.write(scenario, name)
        done = self.run("run", file, "--engine", "kernel", "--out", out, "--no-report", *more)
        assert done.returncode == status, done.stderr
        return {path.name: Run(path) for path in sorted(out.iterdir())}

    def undisturbed(self, scenario: str) -> Run:
        """Run the connection of a scenario until the machine is not late."""
        for attempt in range(ATTEMPTS):
            (run,) = self.emulate(scenario, "--no-baselines", name=f"attempt-{attempt}").values()
            links = about(run)["emulator"]["links"].values()
            late_ns: int = max(link["lateness"]["p99_ns"] for link in links)
            if late_ns < LATE_NS:
                return run
        missing(f"needs a machine that is less busy: packets were {late_ns / 1e6:.0f} ms late")
        raise AssertionError


@contextmanager
def machine(kind: str, *, copies: bool = False) -> Iterator[Machine]:
    """Play one, or say why that cannot be; its commands may be copies of one process."""
    need_tool("unshare", "setpriv", "ip")
    if obstacles := _obstacles(kind):
        missing(obstacles)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="mptcplab-test-", dir="/var/tmp"))
    try:
        if kind.startswith("user"):
            os.chown(directory, ordinary.NOBODY, ordinary.NOBODY)
        yield Machine(kind, directory, copies=copies)
    finally:
        shutil.rmtree(directory)


@cache
def _obstacles(kind: str) -> str:
    """What keeps runs from such a machine, in the doctor's words."""
    command = Machine(kind, pathlib.Path("/")).command("doctor")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # Without TUN it runs, but not on that kind.
    wanted = ("missing", "limited  TUN ") if kind.endswith("-tun") else ("missing",)
    said = [line for line in done.stdout.splitlines() if line.startswith(wanted)]
    return "\n".join(said) if done.stdout else done.stderr


def end() -> None:
    """Let go of what runs are copies of."""
    while _copies:
        _copies.popitem()[1].end()


def about(run: Run) -> dict[str, Any]:
    """What is told of a run."""
    found: dict[str, Any] = json.loads((run.directory / "run.json").read_text())
    return found


def began_s(run: Run) -> float:
    """Give when its first packet came, from which tables count, of the time of its timeline."""
    started_ns: int = about(run)["emulator"]["started_ns"]
    return float(run.connections["start_ns"][0] - started_ns) / 1e9
