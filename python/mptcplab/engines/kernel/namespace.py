"""Work in the network namespaces of the lab's hosts."""

from __future__ import annotations

import ctypes
import os
import subprocess
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# linux/sched.h
CLONE_NEWNET = 0x40000000
OWN = "/proc/self/ns/net"
SYSCTL = Path("/proc/sys")
SIX = "-6 "
# Where /proc/net/dev has what was not transmitted.
DROPPED = 11

_libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def inside(namespace: int) -> Iterator[None]:
    """Be in a network namespace, with what is started meanwhile. For the first thread alone."""
    back = os.open(OWN, os.O_RDONLY)
    try:
        _enter(namespace)
        try:
            yield
        finally:
            _enter(back)
    finally:
        os.close(back)


def _enter(namespace: int) -> None:
    if _libc.setns(namespace, CLONE_NEWNET):
        number = ctypes.get_errno()
        raise Error(f"cannot enter a network namespace: {os.strerror(number)}")


def ip(commands: Iterable[str]) -> None:
    """Have iproute2 carry out commands, all or until the first that fails, where we are.

    Those that begin with "-6" are told apart: iproute2 knows the version of a batch alone.
    """
    for is_six, lines in groupby(commands, lambda line: line.startswith(SIX)):
        _batch(["-6"] if is_six else [], [line.removeprefix(SIX) for line in lines])


def _batch(options: list[str], lines: list[str]) -> None:
    done = subprocess.run(  # noqa: S603
        ["ip", *options, "-batch", "-"],  # noqa: S607 - whichever the user has
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        # "Error: ...\nCommand failed -:3"
        said, _, failed = done.stderr.strip().rpartition("\n")
        number = failed.rpartition(":")[2]
        line = lines[int(number) - 1] if number.isdecimal() else "-batch"
        raise Error(f"ip {line}: {said.splitlines()[0] if said else failed}")


def set_sysctls(values: Mapping[str, int | str]) -> None:
    """Set sysctls of the network where we are."""
    for name, value in values.items():
        try:
            _file(name).write_text(str(value), "ascii")
        except OSError as error:
            raise Error(f"cannot set {name} to {value}: {error.strerror}") from error


def sysctls(prefixes: Iterable[str]) -> dict[str, str]:
    """Read all the sysctls whose names begin so, where we are."""
    found = {}
    for prefix in prefixes:
        directory, _, begins = prefix.rpartition(".")
        for file in sorted(_file(directory).glob(f"{begins}*")):
            try:
                value = file.read_text("ascii").strip()
            except OSError:
                # Some are for writing, some for root.
                continue
            found[f"{directory}.{file.name}"] = " ".join(value.split())
    return found


def dropped(interfaces: Iterable[str]) -> dict[str, int]:
    """Say how many packets each interface where we are had no room for on their way out."""
    found = dict.fromkeys(interfaces, 0)
    for line in Path("/proc/self/net/dev").read_text("ascii").splitlines():
        name, _, counts = line.partition(":")
        if name.strip() in found:
            found[name.strip()] = int(counts.split()[DROPPED])
    return found


def _file(name: str) -> Path:
    return SYSCTL / name.replace(".", "/")
