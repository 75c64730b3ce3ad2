"""The lab's side of its agents: starts them where it is, and listens to them."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import IO, Any

    from mptcplab.engines.kernel.network import Agent
    from mptcplab.engines.kernel.resident import Resident

COMMAND = [sys.executable, "-P", "-m", "mptcplab.engines.kernel.agent"]
READ_BYTES = 1 << 16
START_NS = 30 * 10**9


class Agents:
    """All agents of a run, by name."""

    def __init__(self) -> None:
        #: What those have to say that are done.
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
        """Bytes that came so far: who sends is ahead of who reads."""
        return min(self._bytes.get(name, 0) for name in ("client", "server"))

    def start(self, name: str, agent: Agent) -> None:
        """Start one in the network namespace where we are."""
        process = subprocess.Popen(  # noqa: S603
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self._processes[name] = process
        self._partial[name] = b""
        if agent.listens:
            self._listening.add(name)
        self._selector.register(_there(process.stdout), selectors.EVENT_READ, name)
        self._tell(name, json.dumps(agent.job))

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
        """Have all begin, those first that others connect to."""
        for name in sorted(self._processes, key=lambda name: name not in self._listening):
            self._tell(name, "go")

    def stop(self, names: Iterable[str]) -> None:
        """Have some end."""
        for name in names:
            if name not in self.done and name in self._processes:
                self._tell(name, "stop")

    def note(self, resident: Resident) -> None:
        """Take down what an end says that is no agent."""
        self._bytes[resident.end] = resident.bytes
        if resident.done is not None:
            self.done[resident.end] = resident.done

    def wake_on(self, file: int) -> None:
        """Listen no longer when somebody else has something to say."""
        self._selector.register(file, selectors.EVENT_READ)

    def listen(self, at_most_ns: int) -> None:
        """Wait for what they say, so long at most."""
        for key, _ in self._selector.select(max(at_most_ns, 0) / 1e9):
            name = key.data
            if name is None:
                continue
            came = os.read(key.fd, READ_BYTES)
            *lines, self._partial[name] = (self._partial[name] + came).split(b"\n")
            for line in lines:
                self._told(name, json.loads(line))
            if not came:
                self._selector.unregister(key.fileobj)
                if name not in self.done:
                    raise Error(f"the agent {name} ended in the middle")

    def _told(self, name: str, line: dict[str, Any]) -> None:
        if "error" in line:
            raise Error(f"{name}: {line['error']}")
        if "ready" in line:
            self._ready.add(name)
        elif "progress" in line:
            self._bytes[name] = line["progress"]["bytes"]
        elif "done" in line:
            self.done[name] = line["done"]

    def _tell(self, name: str, line: str) -> None:
        pipe = _there(self._processes[name].stdin)
        try:
            pipe.write(f"{line}\n".encode())
        except BrokenPipeError:
            raise Error(f"the agent {name} ended in the middle") from None


def _there(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101 - they all are
    return pipe
