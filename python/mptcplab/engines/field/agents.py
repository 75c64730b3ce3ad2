"""The client's helper processes: the agent that transfers, and the recorder."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from mptcplab._core import Error

AGENT = "mptcplab.engines.kernel.agent"
RECORDER = "mptcplab.engines.field.recorder"
START_SECONDS = 30.0
END_SECONDS = 10.0
# For a capture of hundreds of megabytes, from which other connections are removed.
CAPTURED_SECONDS = 60.0


class Helper:
    """A process that is given a job, writes JSON lines, and ends with its input."""

    def __init__(self, module: str, job: dict[str, Any]) -> None:
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            # Ctrl-C is ours to handle.
            start_new_session=True,
        )
        assert self._process.stdin is not None  # noqa: S101 - it has
        assert self._process.stdout is not None  # noqa: S101 - both
        self._in, self._out = self._process.stdin, self._process.stdout
        self._partial = b""
        self.send(json.dumps(job))

    def send(self, line: str) -> None:
        """Send a line; a process that has ended says why when it is read from."""
        try:
            self._in.write(f"{line}\n".encode())
        except BrokenPipeError:
            return

    def receive(self, seconds: float) -> list[dict[str, Any]]:
        """Return its messages as soon as there are some, or none after so many seconds."""
        if not select.select([self._out], [], [], seconds)[0]:
            return []
        received = self._out.read(1 << 16)
        if not received:
            raise Error("the agent ended in the middle")
        *lines, self._partial = (self._partial + received).split(b"\n")
        messages = [json.loads(line) for line in lines]
        for message in messages:
            if "error" in message:
                raise Error(str(message["error"]))
        return messages

    def wait_for(self, key: str, seconds: float) -> Any:
        """Wait for a message with this key, and return its value."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            for message in self.receive(left):
                if key in message:
                    return message[key]
        raise Error(f"the agent does not say {key} within {seconds:g} s")

    def end(self, seconds: float = END_SECONDS) -> list[dict[str, Any]]:
        """End it, within so many seconds, and return its last messages."""
        if self._in.closed:
            return []
        self._in.close()
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        *lines, _ = (self._partial + (self._out.read() or b"")).split(b"\n")
        self._out.close()
        return [json.loads(line) for line in lines]


def transfer(
    agent: Helper, stop_ns: int, progress: Callable[[int, int], None] | None
) -> tuple[dict[str, Any], bool]:
    """Start the transfer; returns the agent's report, and whether it was stopped."""
    start_ns = time.monotonic_ns()
    agent.send("go")
    stopped = False
    while True:
        left_ns = start_ns + stop_ns - time.monotonic_ns()
        if left_ns <= 0 and not stopped:
            agent.send("stop")
            stopped = True
        for message in agent.receive(END_SECONDS if stopped else min(left_ns / 1e9, 1.0)):
            if "done" in message:
                return message["done"], stopped
            if "progress" in message and progress is not None:
                progress(time.monotonic_ns() - start_ns, message["progress"]["bytes"])
