"""Processes of this machine. One that dies is replaced; they die with whoever started them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from multiprocessing import connection

from mptcplab._core import Error
from mptcplab.campaign.executor import Lost
from mptcplab.campaign.task import Batch, Shard

COMMAND = [sys.executable, "-P", "-m", "mptcplab.campaign.executor.worker"]


class Local:
    """So many worker processes."""

    near = True

    def __init__(self, jobs: int) -> None:
        self._idle = [_Worker.started() for _ in range(jobs)]
        self._busy: dict[_Worker, Batch] = {}

    def free(self) -> int:
        """Say how many workers wait."""
        return len(self._idle)

    def submit(self, batch: Batch) -> None:
        """Have a batch done by a worker that waits."""
        worker = self._idle.pop()
        self._busy[worker] = batch
        try:
            worker.line.send(batch)
        except OSError:
            # It died meanwhile, which wait() finds out.
            return

    def wait(self, seconds: float) -> list[tuple[Batch, Shard | Lost]]:
        """Give what is done by then; at once when something is."""
        lines = {worker.line: worker for worker in self._busy}
        ended = []
        for line in connection.wait(list(lines), seconds):
            worker = lines[line]  # type: ignore[index]
            ended.append((self._busy.pop(worker), self._received(worker)))
        return ended

    def close(self) -> None:
        """End all workers."""
        for worker in (*self._idle, *self._busy):
            worker.end()
        self._idle, self._busy = [], {}

    def _received(self, worker: _Worker) -> Shard | Lost:
        try:
            got = worker.line.recv()
        except (EOFError, OSError):
            status = worker.end()
            self._idle.append(_Worker.started())
            return Lost(f"the process that ran it {_died(status)}")
        self._idle.append(worker)
        if isinstance(got, Error):
            raise got
        assert isinstance(got, Shard)  # noqa: S101 - workers send nothing else
        return got


@dataclass(frozen=True, eq=False)
class _Worker:
    process: subprocess.Popen[bytes]
    line: connection.Connection

    @classmethod
    def started(cls) -> _Worker:
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(  # noqa: S603 - our own module
                [*COMMAND, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                # Ctrl-C is for us, who then end it.
                start_new_session=True,
                # Each has a core of its own.
                env={**os.environ, "POLARS_MAX_THREADS": "1"},
            )
        return cls(process, connection.Connection(ours.detach()))

    def end(self) -> int:
        """Kill it, and give its exit status."""
        self.line.close()
        self.process.kill()
        return self.process.wait()


def _died(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    return f"was killed by {signal.Signals(-status).name}"
