"""The same traffic through shells of Mahimahi (http://mahimahi.mit.edu), where it is installed.

Its programs are set-uid root and want to be started by somebody else. They run in a namespace of their own, so that
the forwarding and the address translation that they need are not the machine's.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile

from wire import CLIENT, SERVER, Wire, enter, shell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _typeshed import HasFileno


def obstacle() -> str | None:
    """Why it cannot be run."""
    if not (shutil.which("mm-link") and shutil.which("mm-delay")):
        return "mm-link and mm-delay are not installed"
    if Path("/proc/self/uid_map").read_text().split() != ["0", "0", str(2**32 - 1)]:
        return "its set-uid programs need a benchmark started by root"
    return None


@contextmanager
def shells(
    delay_ms: int, mbps: int | None = None, queue_bytes: int = 0, memory: int = 64 << 20
) -> Iterator[tuple[Wire, Callable[[], float]]]:
    """A server outside, a client in a shell with this delay each way and, within it, one with this rate.

    Beside them a clock of the processor time that the shells took, in seconds.
    """
    from mptcplab import _core

    with ExitStack() as stack:
        commands = [["mm-delay", str(delay_ms)]]
        if mbps is not None:
            file = stack.enter_context(NamedTemporaryFile("w"))
            file.write(trace(mbps))
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            queues = [
                f"--{direction}link-queue{what}"
                for direction in ["up", "down"]
                for what in ["=droptail", f"-args=bytes={queue_bytes}"]
            ]
            commands.append(["mm-link", file.name, file.name, *queues])
        server = _core.Namespace()
        shell(server, f"ip link set lo up; ip address add {SERVER}/32 dev lo")
        space: HasFileno = server
        sessions = set()
        for command in commands:
            session, space = stack.enter_context(opened(command, space))
            sessions.add(session)
        shell(space, f"ip address add {CLIENT}/32 dev ingress")
        wire = Wire(space, server)
        wire.set_buffers(memory)
        yield wire, partial(processor_time, sessions)


def trace(mbps: int) -> str:
    """Of a multiple of 4: so many opportunities of 1500 bytes in 3 ms, told by their milliseconds."""
    number = mbps // 4
    return "".join(f"{line * 3 // number + 1}\n" for line in range(number))


@contextmanager
def opened(command: list[str], outside: HasFileno) -> Iterator[tuple[int, HasFileno]]:
    """The session of a shell, and its namespace; traffic to the client goes there."""
    shell(outside, "echo 1 > /proc/sys/net/ipv4/ip_forward")
    user = pwd.getpwnam("nobody")
    ids = [f"--setuid={user.pw_uid}", f"--setgid={user.pw_gid}"]
    with subprocess.Popen(
        [*enter(outside, *ids), *command, "sh"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("echo $$\n")
        process.stdin.flush()
        pid = process.stdout.readline().strip()
        if not pid:
            sys.exit(f"{command[0]}: ended before there was a shell in it")
        # Its device outside has the name of its program and number.
        device = f"{command[0].removeprefix('mm-')}-{process.pid}"
        shell(outside, f"ip route add {CLIENT} dev {device}")
        with Path(f"/proc/{pid}/ns/net").open() as inside:
            yield process.pid, inside


def processor_time(sessions: set[int]) -> float:
    total = 0.0
    for process in Path("/proc").glob("[0-9]*"):
        pid = int(process.name)
        with suppress(OSError):
            if os.getsid(pid) in sessions:
                # As clock_getcpuclockid(3) makes it of a process.
                total += time.clock_gettime(~pid << 3 | 2)
    return total
