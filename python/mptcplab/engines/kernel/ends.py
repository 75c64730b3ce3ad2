"""The lab's control of both ends: agents, endpoints of mptcplab, programs."""

from __future__ import annotations

import json
import os
import select
import selectors
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from mptcplab._core import Emulator, Error
from mptcplab.engines.kernel.agent.diagnosis import Diagnosis
from mptcplab.engines.kernel.network import Agent

COMMAND = [sys.executable, "-P", "-m", "mptcplab.engines.kernel.agent"]
READ_BYTES = 1 << 16
START_NS = 30 * 10**9


class Agents:
    """All agents of a run, by name."""

    def __init__(self) -> None:
        #: The reports of agents that are done.
        self.done: dict[str, dict[str, Any]] = {}
        #: Bytes that client and server have written and read.
        self._bytes: dict[str, int] = {}
        self._ready: set[str] = set()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._listening: set[str] = set()
        self._partial: dict[str, bytes] = {}
        self._selector = selectors.DefaultSelector()

    @property
    def received(self) -> int:
        """Bytes received so far: the sender is ahead of the receiver."""
        return min(self._bytes.get(name, 0) for name in ("client", "server"))

    def start(self, name: str, agent: Agent) -> None:
        """Start one in the current network namespace."""
        process = subprocess.Popen(  # noqa: S603
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self._processes[name] = process
        self._partial[name] = b""
        if agent.listens:
            self._listening.add(name)
        self._selector.register(_pipe(process.stdout), selectors.EVENT_READ, name)
        self._send(name, json.dumps(agent.job))

    def wait_until_ready(self) -> None:
        """Wait for all."""
        until_ns = time.monotonic_ns() + START_NS
        while self._ready < self._processes.keys():
            left_ns = until_ns - time.monotonic_ns()
            if left_ns <= 0:
                waiting = ", ".join(self._processes.keys() - self._ready)
                raise Error(f"the agents {waiting} do not start")
            self.listen(left_ns)

    def go(self) -> None:
        """Start all, those that listen first."""
        for name in sorted(self._processes, key=lambda name: name not in self._listening):
            self._send(name, "go")

    def stop(self, names: Iterable[str]) -> None:
        """Stop some."""
        for name in names:
            if name not in self.done and name in self._processes:
                self._send(name, "stop")

    def note(self, host: LocalHost) -> None:
        """Record the report of an end that is no agent."""
        self._bytes[host.end] = host.bytes
        if host.done is not None:
            self.done[host.end] = host.done

    def wake_on(self, file: int) -> None:
        """Return from ``listen`` when a file is readable, too."""
        self._selector.register(file, selectors.EVENT_READ)

    def listen(self, at_most_ns: int) -> None:
        """Wait for messages, so long at most."""
        for key, _ in self._selector.select(max(at_most_ns, 0) / 1e9):
            name = key.data
            if name is None:
                continue
            received = os.read(key.fd, READ_BYTES)
            *lines, self._partial[name] = (self._partial[name] + received).split(b"\n")
            for line in lines:
                self._report(name, json.loads(line))
            if not received:
                self._selector.unregister(key.fileobj)
                if name not in self.done:
                    raise Error(f"the agent {name} ended in the middle")

    def _report(self, name: str, message: dict[str, Any]) -> None:
        if "error" in message:
            raise Error(f"{name}: {message['error']}")
        if "ready" in message:
            self._ready.add(name)
        elif "progress" in message:
            self._bytes[name] = message["progress"]["bytes"]
        elif "done" in message:
            self.done[name] = message["done"]

    def _send(self, name: str, line: str) -> None:
        pipe = _pipe(self._processes[name].stdin)
        try:
            pipe.write(f"{line}\n".encode())
        except BrokenPipeError:
            raise Error(f"the agent {name} ended in the middle") from None


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101 - they all are
    return pipe


COMPLETE = "complete"
# How often its progress is read.
LOOK_NS = 20_000_000
# How long it may take to close when all is transferred and a path is dead.
LINGER_NS = 3 * 10**9


class LocalHost:
    """An endpoint of mptcplab, which reports as an agent does."""

    def __init__(self, end: str) -> None:
        self.end = end
        #: Its report, once it is done.
        self.done: dict[str, Any] | None = None
        #: Bytes that it has written and read.
        self.bytes = 0
        self._transferred_ns: int | None = None

    def look(self, emulator: Emulator, *, stop: bool = False) -> None:
        """Read its progress; with ``stop`` it is done now."""
        if self.done is not None:
            return
        connections = emulator.connections()[self.end]
        self.bytes = sum(one["bytes_written"] + one["bytes_read"] for one in connections)
        closed = bool(connections) and all(one["end"] is not None for one in connections)
        lingering = not closed and self._lingers(connections)
        if closed or lingering or stop:
            self.done = _summary(connections) | {"lingering": lingering}

    def _lingers(self, connections: list[dict[str, Any]]) -> bool:
        """Whether all has been transferred for so long that it need not close."""
        if not connections or not all(one["done"] for one in connections):
            return False
        now_ns = time.monotonic_ns()
        if self._transferred_ns is None:
            self._transferred_ns = now_ns
        return now_ns - self._transferred_ns >= LINGER_NS


def _summary(connections: list[dict[str, Any]]) -> dict[str, Any]:
    lacking = [lacks for one in connections if (lacks := _lacks(one)) is not None]
    return {
        "bytes_sent": sum(one["bytes_written"] for one in connections),
        "bytes_received": sum(one["bytes_read"] for one in connections),
        "corrupt_bytes": sum(one["corrupt_bytes"] for one in connections),
        "finished": bool(connections) and not lacking,
        "reason": "; ".join(lacking)
        or (COMPLETE if connections else "waits for a connection to come"),
        "sockets": [
            {"mptcp": one["mptcp"], "most_subflows": one["subflows"]} for one in connections
        ],
    }


def _lacks(connection: dict[str, Any]) -> str | None:
    bytes_ = f"{connection['bytes_written']} bytes written and {connection['bytes_read']} read"
    if connection["end"] not in (None, COMPLETE):
        return f"gave up after {bytes_}: {connection['end']}"
    return None if connection["done"] else f"goes on after {bytes_}"


# How long connections of a converter may take to close once all is transferred.
CONVERTED_NS = 3 * 10**9
CONVERTED_LOOK_SECONDS = 0.02


class Converter:
    """A converter in the current network namespace."""

    def __init__(self, command: list[str]) -> None:
        self._diagnosis = Diagnosis()
        self._process = subprocess.Popen(  # noqa: S603
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        # It says that it listens, or why not.
        line = _text(self._process.stderr).readline().strip()
        if "listens on" not in line:
            raise Error(f"the converter does not start: {line or 'it says nothing'}")

    def end(self) -> list[dict[str, Any]]:
        """Wait until its connections are closed, and end it; gives what each was."""
        until_ns = time.monotonic_ns() + CONVERTED_NS
        while self._diagnosis.alive() and time.monotonic_ns() < until_ns:
            time.sleep(CONVERTED_LOOK_SECONDS)
        self._process.terminate()
        lines, _ = self._process.communicate()
        return [json.loads(line) for line in lines.splitlines()]


def _text(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None  # noqa: S101 - it is one
    return pipe


# Commands on the lab's standard input: the server is ready, so begin; the client has ended.
GO, END = "go", "end"
INPUT = 0
COMMAND_BYTES = 1 << 12
ETC = Path("/etc")
# How long connections may take to close once their programs have ended.
SETTLE_NS = 10**9
SETTLE_LOOK_SECONDS = 0.02


class ProgramSession:
    """The lab's view of the programs."""

    def __init__(self, names: str) -> None:
        """``names`` is a directory of files that replace those in /etc, in our mounts alone."""
        for file in sorted(Path(names).iterdir()):
            command = ["mount", "--bind", str(file), str(ETC / file.name)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
            if done.returncode:
                raise Error(f"cannot name the hosts in {ETC / file.name}: {done.stderr.strip()}")
        self._diagnoses: list[Diagnosis] = []
        self._partial = b""
        self._received: set[str] = set()

    def watch_here(self) -> None:
        """Watch the connections of the current network namespace."""
        self._diagnoses.append(Diagnosis())

    def wait_for(self, command: str) -> None:
        """Wait until a command is received."""
        while not self.has_received(command):
            select.select([INPUT], [], [])

    def has_received(self, command: str) -> bool:
        """Say whether a command was received."""
        while select.select([INPUT], [], [], 0)[0]:
            received = os.read(INPUT, COMMAND_BYTES)
            if not received:
                # The other end is closed.
                self._received |= {GO, END}
                break
            *lines, self._partial = (self._partial + received).split(b"\n")
            self._received |= {line.decode() for line in lines}
        return command in self._received

    def settle(self) -> None:
        """Wait, not for ever, until all connections are gone."""
        until_ns = time.monotonic_ns() + SETTLE_NS
        while any(one.alive() for one in self._diagnoses) and time.monotonic_ns() < until_ns:
            time.sleep(SETTLE_LOOK_SECONDS)
