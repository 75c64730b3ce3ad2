"""Agents of the kernel engine in a network namespace that has nothing but its loopback."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import IO, Any

PORT = 5001
READY = "ip link set lo up && echo && exec sleep infinity"
FILES = ("samples", "events", "counters")


class Loopback:
    """A namespace that lives as long as a process in it."""

    def __init__(self, pid: int) -> None:
        user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
        self.enter = ["nsenter", f"--target={pid}", "--net", *user, "--"]

    def run(self, command: str) -> str:
        """Run a command in it; gives what it printed."""
        whole = [*self.enter, *command.split()]
        return subprocess.run(whole, check=True, capture_output=True, text=True).stdout

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command in it."""
        return subprocess.Popen(
            [*self.enter, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def agent(self, job: dict[str, Any]) -> Agent:
        """Start an agent."""
        return Agent(self.start(sys.executable, "-m", "mptcplab.engines.kernel.agent"), job)

    def pair(self, job: dict[str, Any], *, address: str = "127.0.0.1") -> tuple[Agent, Agent]:
        """Start a client and a server, both ready."""
        server = self.agent({**job, "listen": [address, PORT]})
        client = self.agent({**job, "connect": {"local": None, "remote": [address, PORT]}})
        return client, server

    def transfer(
        self, job: dict[str, Any], *, address: str = "127.0.0.1"
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Carry out a transfer; gives what client and server did."""
        client, server = self.pair(job, address=address)
        server.go()
        client.go()
        return client.done(), server.done()


class Agent:
    """One of them, and its lines."""

    def __init__(self, process: subprocess.Popen[str], job: dict[str, Any]) -> None:
        self._process = process
        self.first: dict[str, Any] = {}
        self.say(json.dumps(job))
        self.first = self.line()

    def say(self, line: str) -> None:
        """Tell it."""
        self._input.write(line + "\n")
        self._input.flush()

    def go(self) -> None:
        """Have it begin."""
        self.say("go")

    def line(self) -> dict[str, Any]:
        """Give what it says next."""
        assert self._process.stdout is not None
        line: dict[str, Any] = json.loads(self._process.stdout.readline() or "{}")
        return line

    def done(self) -> dict[str, Any]:
        """Wait for its end; gives what it did."""
        while (line := self.line()) and "done" not in line:
            assert line.keys() == {"progress"}
        # It says nothing more.
        assert self.line() == {}
        assert self.status() == 0
        done: dict[str, Any] = line["done"]
        return done

    def hang_up(self) -> None:
        """End its input."""
        self._input.close()

    def status(self) -> int:
        """Wait for its end; gives its exit status."""
        with self._process:
            return self._process.wait(10)

    @property
    def _input(self) -> IO[str]:
        assert self._process.stdin is not None
        return self._process.stdin


@contextlib.contextmanager
def loopback() -> Iterator[Loopback]:
    """Make a namespace."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    command = ["unshare", "--net", *user, "sh", "-c", READY]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        try:
            yield Loopback(holder.pid)
        finally:
            holder.kill()


def files(directory: pathlib.Path, host: str) -> dict[str, str]:
    """Have an agent write down all that it can."""
    return {"host": host, **{name: str(directory / f"{host}-{name}.jsonl") for name in FILES}}


def lines(path: str) -> list[dict[str, Any]]:
    """What it wrote down."""
    return [json.loads(line) for line in pathlib.Path(path).read_text("utf-8").splitlines()]
