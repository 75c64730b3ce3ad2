"""Repairs: how often a controller mended what the kernel took for its answer.

Now and then a kernel calls a program that answers with a threshold or a window and takes what
happens to be in its place for the answer, as if the program had not run (Linux 6.18). Controllers
recognise that and mend it, by the next ACK at the latest, and count it for each network namespace.
"""

from __future__ import annotations

import os
import struct
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

from mptcplab._core import Error
from mptcplab.controllers import bpf, catalogue

# A file system of BPF of our own: that of the system, if there is one, is closed to ordinary users.
DIRECTORY = Path("/run/mptcplab/controllers")
# Thresholds, windows.
COUNTS = struct.Struct("<QQ")
KEY = struct.Struct("<I")
MAP = (bpf.LRU_HASH, KEY.size, COUNTS.size, 4096)


def mount() -> None:
    """Mount the directory where maps have names."""
    if DIRECTORY.is_mount():
        return
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    _call("mount", "-t", "bpf", "-o", "mode=755", "mptcplab", str(DIRECTORY))


def unmount() -> None:
    """Unmount it, if none is left there."""
    if DIRECTORY.is_mount() and all(version(name) is None for name in catalogue.NAMES):
        _call("umount", str(DIRECTORY))
        DIRECTORY.rmdir()
        DIRECTORY.parent.rmdir()


def keep(name: str, map_: int) -> None:
    """Have the counts of a controller there, for everybody to read."""
    forget(name)
    file = DIRECTORY / name / catalogue.version(name)
    file.parent.mkdir(mode=0o755)
    bpf.pin(map_, file)
    file.chmod(0o444)


def forget(name: str) -> None:
    """Remove them."""
    if (file := _file(name)) is not None:
        file.unlink()
        file.parent.rmdir()


def version(name: str) -> str | None:
    """Give the version of a controller that is loaded; none if others loaded it."""
    file = _file(name)
    return None if file is None else file.name


def _file(name: str) -> Path | None:
    return next((DIRECTORY / name).glob("*"), None)


class Repairs:
    """The counts of a controller in some network namespaces, from now on."""

    def __init__(self, name: str, namespaces: dict[str, int]) -> None:
        """``namespaces`` holds open files of them, by name."""
        self._name = name
        file = _file(name)
        self._map: int | None = None
        if file is not None:
            with suppress(OSError):
                self._map = bpf.opened(file)
        self._keys = {
            host: KEY.pack(os.fstat(file).st_ino & 0xFFFFFFFF) for host, file in namespaces.items()
        }
        self._before = self._read()

    def described(self) -> dict[str, Any]:
        """Give the controller's name in the kernel, its version, and repairs as far as known."""
        return {
            "linux": catalogue.linux(self._name),
            "version": version(self._name),
            "repairs": self._counts(),
        }

    def _counts(self) -> dict[str, dict[str, int]] | None:
        now = self._read()
        if now is None or self._before is None:
            return None
        return {
            host: {
                "thresholds": now[host][0] - self._before[host][0],
                "windows": now[host][1] - self._before[host][1],
            }
            for host in self._keys
        }

    def _read(self) -> dict[str, tuple[int, int]] | None:
        if self._map is None:
            return None
        empty = bytes(COUNTS.size)
        return {
            host: COUNTS.unpack(bpf.lookup(self._map, key, COUNTS.size) or empty)
            for host, key in self._keys.items()
        }


def _call(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise Error(f"{' '.join(command)}: {done.stderr.strip()}")
