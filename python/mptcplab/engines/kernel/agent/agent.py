"""The agent: it reads its job, runs it, and reports progress and the result."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from mptcplab._core import Error
from mptcplab.engines.kernel.agent import job as jobs
from mptcplab.engines.kernel.agent.guard import Guard
from mptcplab.engines.kernel.agent.loop import IN, Loop, now, unix_ns
from mptcplab.engines.kernel.agent.observer import Observer
from mptcplab.engines.kernel.agent.quic import Quic
from mptcplab.engines.kernel.agent.transfer import Datagrams, Transfer, Watching

PROGRESS_NS = 500_000_000
LINGER_LOOK_NS = 20_000_000
# What closes a connection of QUIC may take several round trips to arrive.
QUIC_LINGER_NS = 60 * 10**9
INPUT, OUTPUT = 0, 1
READ_BYTES = 1 << 16


class Agent:
    """Serves one job."""

    def __init__(self) -> None:
        self._loop = Loop()
        self._input = b""
        self._started_ns = self._ended_ns = 0
        self._is_done = False

    def run(self) -> int:
        """Serve the job from standard input; returns the exit status."""
        try:
            self._job = jobs.read(_first_line())
            self._observer = Observer(self._loop, self._job)
            self._work = self._work_of_job()
            self._quic = None if self._job.quic is None else Quic(**self._job.quic)
            self._guard = None if self._job.guard is None else Guard(**self._job.guard)
        except (Error, OSError, ValueError) as error:
            _send({"error": str(error)})
            return 1
        self._work.opened = self._observer.opened
        self._work.closing = self._observer.closing
        _wake_in_time()
        self._loop.watch(INPUT, IN, self._receive)
        _send({"ready": True, "congestion_control": self._work.congestion_control})
        try:
            self._loop.run()
        except Error as error:
            _send({"error": str(error)})
            return 1
        return 0

    def _work_of_job(self) -> Transfer | Datagrams | Watching:
        if self._job.application == jobs.WATCHING:
            return Watching()
        if self._job.application == jobs.DATAGRAMS:
            return Datagrams(self._loop, self._job)
        return Transfer(self._loop, self._job, self._over)

    def _receive(self, mask: int) -> None:
        del mask
        received = os.read(INPUT, READ_BYTES)
        *lines, self._input = (self._input + received).split(b"\n")
        for line in lines:
            if line == b"go":
                self._go()
        if not received or b"stop" in lines:
            self._work.abort()
            self._end()

    def _go(self) -> None:
        self._started_ns = unix_ns()
        start = now()
        self._loop.at(start + self._job.start_ns, self._work.start)
        if self._job.stop_ns is not None:
            self._loop.at(start + self._job.stop_ns, self._work.abort)
        self._observer.start(start)
        if self._guard is not None:
            for at_ns, report in self._guard.signals():
                self._loop.at(start + at_ns, report)
        self._loop.at(start + PROGRESS_NS, lambda: self._progress(start + PROGRESS_NS))

    def _progress(self, at: int) -> None:
        if self._is_done:
            return
        if self._guard is not None:
            self._guard.check()
        _send({"progress": {"bytes": self._work.sent + self._work.received}})
        self._loop.at(at + PROGRESS_NS, lambda: self._progress(at + PROGRESS_NS))

    def _over(self) -> None:
        self._ended_ns = unix_ns()
        linger_ns = self._job.linger_ns if self._quic is None else QUIC_LINGER_NS
        self._linger(now() + linger_ns)

    def _linger(self, until: int) -> None:
        """Wait until the kernel's sockets are gone: subflows close after their connection."""
        gone = self._observer.alive() == 0 if self._quic is None else self._quic.is_over()
        if gone or now() >= until:
            self._end()
        else:
            self._loop.after(LINGER_LOOK_NS, lambda: self._linger(until))

    def _end(self) -> None:
        """Report what was done, once, whatever ends it first."""
        if self._is_done:
            return
        self._is_done = True
        if self._guard is not None:
            self._guard.end()
        work = self._work
        done = {
            "bytes_sent": work.sent,
            "bytes_received": work.received,
            "corrupt_bytes": work.corrupt,
            "finished": work.finished,
            "reason": work.reason(),
            "started_ns": self._started_ns,
            "ended_ns": self._ended_ns or unix_ns(),
            "lingering": self._observer.alive(),
            "sockets": self._observer.finish(),
        }
        if self._quic is not None and isinstance(work, Transfer):
            done["quic"] = over = self._quic.end()
            done["sockets"] = self._quic.sockets(over)
            done["responses"] = work.responses()
        if self._job.shared:
            done["connections"] = work.marks()
            done["counted"] = self._observer.counted()
        _send({"done": done})
        self._loop.stop()


def _first_line() -> Any:
    """Read the first line and no more, so that the loop sees what follows."""
    line = b""
    while (byte := os.read(INPUT, 1)) not in (b"", b"\n"):
        line += byte
    return json.loads(line or b"{}")


def _wake_in_time() -> None:
    """Wake up without the usual timer slack of 50 µs."""
    with contextlib.suppress(OSError):
        Path("/proc/self/timerslack_ns").write_text("1", "ascii")


def _send(message: dict[str, Any]) -> None:
    # The reader is gone: we end with our input.
    with contextlib.suppress(BrokenPipeError):
        os.write(OUTPUT, json.dumps(message).encode() + b"\n")
