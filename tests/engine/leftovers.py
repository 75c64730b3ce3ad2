"""What a run leaves behind when it must not."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
import time
import uuid

PROC = pathlib.Path("/proc")
MARK = "MPTCPLAB_TEST_MARK"
UNFINISHED = ".mptcplab-unfinished-"
PATIENCE_SECONDS = 5


class Watch:
    """Knows all processes of one run by a mark that they inherit, and looks for what they leave."""

    def __init__(self, directory: pathlib.Path) -> None:
        self._directory = directory
        self._mark = uuid.uuid4().hex
        self._temporary = directory / "tmp"
        self._temporary.mkdir(exist_ok=True)
        self._temporary.chmod(0o1777)
        self._mounts = _mounts()
        self._devices = _devices()

    @property
    def environment(self) -> dict[str, str]:
        """What the run is to be started with."""
        return os.environ | {MARK: self._mark, "TMPDIR": str(self._temporary)}

    def processes(self) -> list[int]:
        """Those of the run that live."""
        wanted = f"{MARK}={self._mark}".encode()
        return [pid for pid in _pids() if wanted in _environment(pid)]

    def found(self) -> list[str]:
        """Say what is left, once there was time to clear away."""
        until = time.monotonic() + PATIENCE_SECONDS
        while (left := self._left()) and time.monotonic() < until:
            time.sleep(0.02)
        return left

    def _left(self) -> list[str]:
        left = [f"process {pid}" for pid in self.processes()]
        left += [f"file {path}" for path in self._temporary.iterdir()]
        # Such as go meanwhile are no fault to it.
        left += [
            f"run directory {directory}/{name}"
            for directory, names, _ in os.walk(self._directory)
            for name in names
            if name.startswith(UNFINISHED)
        ]
        left += [f"mount {mount}" for mount in _mounts() - self._mounts]
        left += [f"device {device}" for device in _devices() - self._devices]
        return left


def parent(pid: int) -> int:
    """Give the process that started another; 0 where that is gone."""
    try:
        stat = (PROC / str(pid) / "stat").read_text()
    except OSError:
        return 0
    return int(stat.rpartition(")")[2].split()[1])


def children(pid: int) -> list[int]:
    """Give the processes that one has started."""
    return [other for other in _pids() if parent(other) == pid]


def kill(pid: int) -> None:
    """End it as nobody can resist."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _pids() -> list[int]:
    return [int(path.name) for path in PROC.iterdir() if path.name.isdecimal()]


def _environment(pid: int) -> list[bytes]:
    try:
        return (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _mounts() -> set[str]:
    # Those of namespaces by name among them.
    return set((PROC / "self/mountinfo").read_text().splitlines())


def _devices() -> set[str]:
    listed = subprocess.run(["ip", "-brief", "link"], capture_output=True, text=True, check=True)
    return {line.split()[0] for line in listed.stdout.splitlines()}
