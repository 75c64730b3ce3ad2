"""The engine's side of programs in the lab's hosts: finds the lab, starts them, ends them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ENTRY = Path(__file__).with_name("entry.py")
# In the order in which they are entered: rights come with the first. Root may lack it.
SHARED = ("user", "mnt", "pid")
# States of a socket in /proc/net: TCP's that listen, UDP's that are not connected.
LISTENS = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}
# What a server may take to listen, to end when its client is gone, and when it is told to.
STARTS_SECONDS, ENDS_SECONDS, TERMINATES_SECONDS = 5.0, 0.5, 2.0
LOOK_SECONDS = 0.01


class Inhabited:
    """The namespaces of a lab, held open."""

    def __init__(self, keeper: int, networks: Mapping[str, int]) -> None:
        """``keeper`` is the parent of the lab's parent; ``networks`` the lab's open files."""
        lab = Path("/proc", str(_child(_child(keeper))))
        own = Path("/proc/self/ns")
        self._shared = [
            os.open(lab / "ns" / kind, os.O_RDONLY)
            for kind in SHARED
            # Nobody may enter where they are already.
            if not (lab / "ns" / kind).samefile(own / kind)
        ]
        self._networks = {
            host: os.open(lab / "fd" / str(number), os.O_RDONLY)
            for host, number in networks.items()
        }

    def close(self) -> None:
        """Let go of them."""
        for opened in (*self._shared, *self._networks.values()):
            os.close(opened)

    def start(
        self,
        host: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        output: int | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a program; with ``output`` apart from the terminal."""
        namespaces = [*self._shared, self._networks[host]]
        entry = [sys.executable, "-I", "-S", str(ENTRY), ",".join(map(str, namespaces))]
        return subprocess.Popen(  # noqa: S603
            [*entry, *command],
            pass_fds=namespaces,
            env=os.environ | environment,
            stdin=None if output is None else subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=output is not None,
        )

    def wait_until_listening(self, host: str, process: subprocess.Popen[bytes]) -> None:
        """Wait until somebody listens in a host; whoever does not is given a moment."""
        network = os.fstat(self._networks[host]).st_ino
        until = time.monotonic() + STARTS_SECONDS
        while process.poll() is None and time.monotonic() < until:
            with suppress(OSError):
                place = Path("/proc", str(process.pid))
                if (place / "ns/net").stat().st_ino == network and _is_listening(place / "net"):
                    return
            time.sleep(LOOK_SECONDS)


def end(process: subprocess.Popen[bytes]) -> None:
    """Have a server end that was started apart from the terminal."""
    for number, seconds in ((None, ENDS_SECONDS), (signal.SIGTERM, TERMINATES_SECONDS)):
        if number is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def dismiss(process: subprocess.Popen[bytes], number: int) -> None:
    """Have the client's program end: as the signal asks it to, then whether it wants to or not."""
    for sent, seconds in ((number, TERMINATES_SECONDS), (signal.SIGKILL, None)):
        with suppress(Error, ProcessLookupError):
            os.kill(_child(process.pid), sent)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            return


@contextmanager
def terminal_lent() -> Iterator[None]:
    """Let others have the terminal and what is typed there, and take it back."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        ours = os.tcgetpgrp(sys.__stdin__.fileno()) if sys.__stdin__ else None
    except (OSError, ValueError):
        ours = None
    for number, handler in handlers.items():
        # Who comes after us begins with the default, unless we were to ignore it ourselves.
        if handler is not signal.SIG_IGN:
            signal.signal(number, _nothing)
    try:
        yield
    finally:
        if ours is not None and sys.__stdin__:
            before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            with suppress(OSError):
                os.tcsetpgrp(sys.__stdin__.fileno(), ours)
            signal.signal(signal.SIGTTOU, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _nothing(*_: object) -> None:
    pass


def _child(process: int) -> int:
    """Find the only child of a process."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                # "12 (name) S 11 ...": a name may hold anything.
                parent = (
                    (entry / "stat").read_text("utf-8", "replace").rpartition(") ")[2].split()[1]
                )
                if int(parent) == process:
                    return int(entry.name)
    raise Error("the lab of the kernel engine is gone")


def _is_listening(net: Path) -> bool:
    for protocol, state in LISTENS.items():
        with suppress(FileNotFoundError):
            lines = (net / protocol).read_text("ascii").splitlines()[1:]
            if any(line.split()[3] == state for line in lines):
                return True
    return False
