"""Starts a program that gets sockets of MPTCP where it asks for TCP, whatever it is linked with.

``multipath.py COMMAND...``: a filter of the kernel (seccomp, a BPF program) stops its calls of
``socket`` for TCP, and those of all that it starts. A process beside it opens the socket and hands
it over; where the kernel refuses MPTCP, the call goes on as it was. This file uses nothing but the
standard library.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import select
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path

# Of linux/audit.h and the table of system calls: the architecture, seccomp, socket.
MACHINES = {"x86_64": (0xC000_003E, 317, 41), "aarch64": (0xC000_00B7, 277, 198)}
IPPROTO_MPTCP = 262
# linux/seccomp.h
SET_MODE_FILTER, NEW_LISTENER = 1, 1 << 3
# Once it is answered, no signal ends the call: socket(2) knows no EINTR. Since Linux 5.19.
WAIT_KILLABLE = 1 << 5
ALLOW, ASK = 0x7FFF_0000, 0x7FC0_0000
RECEIVE, SEND, ADD_FILE = 0xC050_2100, 0xC018_2101, 0x4018_2103
CONTINUES, SENDS = 1, 1 << 1
# Number of the question, process, flags; system call, architecture, instruction, arguments.
QUESTION = struct.Struct("=QIIiIQ6Q")
ANSWER = struct.Struct("=QqiI")
FILE = struct.Struct("=QIIII")
# Where the filter finds the system call, its architecture, and the lower half of each argument.
CALL_AT, MACHINE_AT, ARGUMENTS_AT, ARGUMENT_BYTES = 0, 4, 16, 8
# linux/filter.h: load a word, and, jump if equal, return.
LOAD, AND, EQUAL, RETURN = 0x20, 0x54, 0x15, 0x06
KIND = 0xF
# As shells say it.
NOT_FOUND, NOT_STARTED = 127, 126


def main() -> None:
    """Start what opens sockets, then become the program."""
    ours, theirs = socket.socketpair()
    beside = os.fork()
    if beside == 0:
        theirs.close()
        # Nobody's child: the program may wait for all of its own.
        if os.fork() == 0:
            serve(ours)
        os._exit(0)
    os.waitpid(beside, 0)
    ours.close()
    try:
        listener = listen()
        socket.send_fds(theirs, [b"x"], [listener])
        os.close(listener)
        theirs.close()
    except OSError as error:
        sys.exit(f"mptcplab: cannot give MPTCP to all programs: {error.strerror}")
    try:
        os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606 - it is what the user wants
    except OSError as error:
        print(f"mptcplab: cannot start {sys.argv[1]}: {error.strerror}", file=sys.stderr)
        sys.exit(NOT_FOUND if error.errno == errno.ENOENT else NOT_STARTED)


def questions(machine: int, call: int) -> tuple[tuple[int, int, int, int], ...]:
    """Give the filter: what asks about sockets for TCP, and allows all else."""
    domain, kind, protocol = (ARGUMENTS_AT + ARGUMENT_BYTES * number for number in range(3))
    # How many instructions are left out if equal, and if not.
    return (
        (LOAD, 0, 0, MACHINE_AT),
        (EQUAL, 0, 11, machine),
        (LOAD, 0, 0, CALL_AT),
        (EQUAL, 0, 9, call),
        (LOAD, 0, 0, domain),
        (EQUAL, 1, 0, socket.AF_INET),
        (EQUAL, 0, 6, socket.AF_INET6),
        (LOAD, 0, 0, kind),
        (AND, 0, 0, KIND),
        (EQUAL, 0, 3, socket.SOCK_STREAM),
        (LOAD, 0, 0, protocol),
        (EQUAL, 2, 0, socket.IPPROTO_TCP),
        (EQUAL, 1, 0, 0),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, ASK),
    )


def listen() -> int:
    """Have the kernel ask about sockets of us and of what we start; gives where it asks."""
    machine, seccomp, call = MACHINES.get(platform.machine(), (0, 0, 0))
    if not machine:
        raise OSError(errno.ENOSYS, f"not on {platform.machine()}")
    lines = [struct.pack("=HBBI", *line) for line in questions(machine, call)]
    code = ctypes.create_string_buffer(b"".join(lines))
    program = struct.pack("@HP", len(lines), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    listener = -1
    for flags in (NEW_LISTENER | WAIT_KILLABLE, NEW_LISTENER):
        if listener < 0:
            listener = libc.syscall(seccomp, SET_MODE_FILTER, flags, program)
    if listener < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return listener


def serve(ours: socket.socket) -> None:
    """Open the sockets that are asked for, until nobody is left who may ask."""
    os.setsid()
    _, files, _, _ = socket.recv_fds(ours, 1, 1)
    ours.close()
    if not files:
        return
    listener = files[0]
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    network = Path("/proc/self/ns/net").stat().st_ino
    waiting = select.poll()
    waiting.register(listener, select.POLLIN)
    while True:
        [(_, event)] = waiting.poll()
        if not event & select.POLLIN:
            return
        # Who asked may be gone by now.
        with suppress(OSError):
            _answer(listener, network)


def _answer(listener: int, network: int) -> None:
    question = bytearray(QUESTION.size)
    fcntl.ioctl(listener, RECEIVE, question)
    number, process, _, _, _, _, domain, kind, *_ = QUESTION.unpack(question)
    try:
        # A namespace of its own has sockets of its own.
        if Path(f"/proc/{process}/ns/net").stat().st_ino != network:
            raise OSError
        with socket.socket(domain, kind & 0xFFFF_FFFF, IPPROTO_MPTCP) as opened:
            flags = kind & socket.SOCK_CLOEXEC
            added = FILE.pack(number, SENDS, opened.fileno(), 0, flags)
            fcntl.ioctl(listener, ADD_FILE, added)
    except OSError:
        fcntl.ioctl(listener, SEND, ANSWER.pack(number, 0, 0, CONTINUES))


if __name__ == "__main__":
    main()
