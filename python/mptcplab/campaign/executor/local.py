"""Processes of this machine. One that dies is replaced; they die with their parent."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from multiprocessing import connection

from mptcplab._core import Error
from mptcplab.campaign.executor import Lost
from mptcplab.campaign.work import Batch, Shard

# What a worker may take beside its runs, which look at their limit themselves, and how long it may
# be stopped.
GRACE_SECONDS = 30.0
COMMAND = [sys.executable, "-P", "-m", "mptcplab.campaign.executor.worker"]


class Local:
    """So many worker processes."""

    near = True

    def __init__(self, jobs: int) -> None:
        self._idle = [_Worker.started() for _ in range(jobs)]
        self._busy: dict[_Worker, Batch] = {}
        # Until when a worker may take for its batch; those of batches without a limit have none.
        self._until: dict[_Worker, float] = {}
        # Since when workers that work no more were seen to be stopped (SIGSTOP).
        self._stopped: dict[_Worker, float] = {}

    def free(self) -> int:
        """Say how many workers wait."""
        return len(self._idle)

    def submit(self, batch: Batch) -> None:
        """Have a batch done by a worker that waits."""
        worker = self._idle.pop()
        self._busy[worker] = batch
        if (seconds := _longest(batch)) is not None:
            self._until[worker] = time.monotonic() + seconds
        try:
            worker.line.send(batch)
        except OSError:
            # It has died, which wait() finds out.
            return

    def wait(self, seconds: float) -> list[tuple[Batch, Shard | Lost]]:
        """Give what is done by then; at once when something is."""
        lines = {worker.line: worker for worker in self._busy}
        ended = []
        for line in connection.wait(list(lines), seconds):
            worker = lines[line]  # type: ignore[index]
            ended.append((self._taken_from(worker), self._received(worker)))
        return ended or self._given_up()

    def _given_up(self) -> list[tuple[Batch, Shard | Lost]]:
        """End workers that neither work nor say so."""
        now = time.monotonic()
        self._stopped = {
            worker: self._stopped.get(worker, now) for worker in self._busy if worker.is_stopped()
        }
        late = {
            worker: "was stopped and did not go on"
            for worker, since in self._stopped.items()
            if now - since > GRACE_SECONDS
        } | {
            worker: "did not answer for longer than the campaign's limit"
            for worker, until in self._until.items()
            if until < now
        }
        for worker in late:
            worker.end()
            self._idle.append(_Worker.started())
        return [
            (self._taken_from(worker), Lost(f"the process that ran it {reason}"))
            for worker, reason in late.items()
        ]

    def _taken_from(self, worker: _Worker) -> Batch:
        self._until.pop(worker, None)
        self._stopped.pop(worker, None)
        return self._busy.pop(worker)

    def close(self) -> None:
        """End all workers."""
        for worker in (*self._idle, *self._busy):
            worker.end()
        self._idle, self._busy = [], {}

    def _received(self, worker: _Worker) -> Shard | Lost:
        try:
            result = worker.line.recv()
        except (EOFError, OSError):
            status = worker.end()
            self._idle.append(_Worker.started())
            return Lost(f"the process that ran it {_died(status)}")
        self._idle.append(worker)
        if isinstance(result, Error):
            raise result
        assert isinstance(result, Shard)  # noqa: S101 - workers send nothing else
        return result


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
                # Ctrl-C is ours to handle: we end it then.
                start_new_session=True,
                # Each has a core of its own.
                env={**os.environ, "POLARS_MAX_THREADS": "1"},
            )
        return cls(process, connection.Connection(ours.detach()))

    def is_stopped(self) -> bool:
        """Say whether it was stopped and has not gone on."""
        flags = os.WSTOPPED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.process.pid, flags) is not None

    def end(self) -> int:
        """Kill it, and give its exit status."""
        self.line.close()
        self.process.kill()
        return self.process.wait()


def _longest(batch: Batch) -> float | None:
    """Say how long a batch takes at most: its last run may begin just before its time is over."""
    limits = [task.subject.limit_s for task in batch.tasks]
    known = [limit for limit in limits if limit is not None]
    return batch.seconds + 2 * max(known) + GRACE_SECONDS if len(known) == len(limits) else None


def _died(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    return f"was killed by {signal.Signals(-status).name}"
