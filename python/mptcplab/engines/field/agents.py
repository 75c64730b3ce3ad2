"""What stands at the client's end: the agent that transfers, and the recorder."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

AGENT = "mptcplab.engines.kernel.agent"
RECORDER = "mptcplab.engines.field.recorder"
START_SECONDS = 30.0
END_SECONDS = 10.0


class Helper:
    """A process that is told a job, speaks JSON lines, and ends with its input."""

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
        self.tell(json.dumps(job))

    def tell(self, line: str) -> None:
        """Tell it something; who is gone says why by its end."""
        try:
            self._in.write(f"{line}\n".encode())
        except BrokenPipeError:
            return

    def hear(self, seconds: float) -> list[dict[str, Any]]:
        """Give what it says within so many seconds, as soon as it says something."""
        if not select.select([self._out], [], [], seconds)[0]:
            return []
        came = self._out.read(1 << 16)
        if not came:
            raise Error("the agent ended in the middle")
        *lines, self._partial = (self._partial + came).split(b"\n")
        said = [json.loads(line) for line in lines]
        for line in said:
            if "error" in line:
                raise Error(str(line["error"]))
        return said

    def wait_for(self, word: str, seconds: float) -> Any:
        """Wait until it says so."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            for line in self.hear(left):
                if word in line:
                    return line[word]
        raise Error(f"the agent does not say {word} within {seconds:g} s")

    def end(self) -> list[dict[str, Any]]:
        """Have it end; gives what it says last."""
        if self._in.closed:
            return []
        self._in.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        *lines, _ = (self._partial + (self._out.read() or b"")).split(b"\n")
        self._out.close()
        return [json.loads(line) for line in lines]


def transfer(
    agent: Helper, stop_ns: int, progress: Callable[[int, int], None] | None
) -> tuple[dict[str, Any], bool]:
    """Have the agent go; gives what it has to say at the end, and whether it was stopped."""
    start_ns = time.monotonic_ns()
    agent.tell("go")
    stopped = False
    while True:
        left_ns = start_ns + stop_ns - time.monotonic_ns()
        if left_ns <= 0 and not stopped:
            agent.tell("stop")
            stopped = True
        for line in agent.hear(END_SECONDS if stopped else min(left_ns / 1e9, 1.0)):
            if "done" in line:
                return line["done"], stopped
            if "progress" in line and progress is not None:
                progress(time.monotonic_ns() - start_ns, line["progress"]["bytes"])
