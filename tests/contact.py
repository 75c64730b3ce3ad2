"""A transfer between a host of ours and this machine's kernel, over TUN devices.

`run` calls this file as a program in network namespaces of its own, where the kernel's end is
played: it makes the devices, starts our end and exchanges the pattern of `wire::pattern`.
"""

from __future__ import annotations

import array
import hashlib
import json
import os
import pathlib
import select
import socket
import struct
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any

PORT = 40000
PATHS = ("wifi", "lte")
ADDRESSES = {
    4: {"kernel": ("192.0.2.1", "192.0.2.17"), "ours": ("192.0.2.2", "192.0.2.18")},
    6: {
        "kernel": ("2001:db8:1::1", "2001:db8:2::1"),
        "ours": ("2001:db8:1::2", "2001:db8:2::2"),
    },
}
PREFIX = {4: 28, 6: 64}
FIRST_BYTES = 1_000
PAUSE_SECONDS = 0.3
JOIN_SECONDS = 5
LIMIT_SECONDS = 20


@dataclass(frozen=True)
class Case:
    """One transfer of `bytes` each way; ends are `ours` and `kernel`."""

    client: str = "ours"
    family: int = 4
    bytes: int = 1_000_000
    # Who wants DSS checksums, and who speaks TCP only.
    checksum: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    # How the second path comes in: the client joins from its second address (`subflow`), or joins
    # the second address that the server announces (`signal`).
    join: str = "subflow"
    # Who closes first.
    first: str = "ours"
    # Who gives the connection up, or takes its second address away, half-way.
    abort: str = ""
    remove: str = ""
    # Settings of our endpoint.
    config: dict[str, Any] = field(default_factory=dict)

    @property
    def server(self) -> str:
        return "kernel" if self.client == "ours" else "ours"


@dataclass(frozen=True)
class Contact:
    """What became of a transfer."""

    ours: dict[str, Any]
    kernel: dict[str, Any]
    capture: pathlib.Path


def run(case: Case, contact: pathlib.Path, directory: pathlib.Path) -> Contact:
    """Carry out the case with the program `contact` in network namespaces of its own."""
    user = "" if os.geteuid() == 0 else "--user --map-root-user"
    namespaces = f"--net --mount --pid {user} --fork --kill-child --mount-proc"
    command = f"setpriv --pdeathsig KILL unshare {namespaces}".split()
    command += [sys.executable, __file__, json.dumps(asdict(case)), str(contact), str(directory)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return Contact(**json.loads(done.stdout), capture=directory / "contact.pcapng")


def pattern(size: int) -> bytes:
    """Word k of the stream is k modulo 65535, in network order."""
    words = array.array("H", range(65_535))
    if sys.byteorder == "little":
        words.byteswap()
    period = words.tobytes()
    return (period * (size // len(period) + 1))[:size]


def main() -> None:
    described, contact, directory = sys.argv[1:]
    case = Case(**json.loads(described))
    plan = pathlib.Path(directory) / "plan.json"
    plan.write_text(json.dumps(our_plan(case, directory)))
    ours = subprocess.Popen(
        [contact, plan], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert ours.stdin is not None
    assert ours.stdout is not None
    if ours.stdout.readline() != "ready\n":
        sys.exit("our end did not start")
    build(case)
    listener = listen(case) if case.client == "ours" else None
    ours.stdin.write("begin\n")
    ours.stdin.flush()
    kernel = exchange(case, listener)
    report = json.loads(ours.communicate(timeout=LIMIT_SECONDS + 5)[0])
    kernel["counters"] = counters()
    print(json.dumps({"ours": report, "kernel": kernel}))


def build(case: Case) -> None:
    """The kernel's addresses, routes and MPTCP endpoints.

    A device that comes up before our end holds it loses what is sent to it for a while.
    """
    own = ADDRESSES[case.family]["kernel"]
    ip("link set lo up")
    sysctl("net.mptcp.enabled=1", f"net.mptcp.checksum_enabled={int('kernel' in case.checksum)}")
    sysctl("net.ipv4.tcp_congestion_control=reno", "net.ipv6.conf.default.accept_dad=0")
    ip("mptcp limits set subflow 4 add_addr_accepted 4")
    for path, address in zip(PATHS, own, strict=True):
        ip(f"address add {address}/{PREFIX[case.family]} dev {path}")
        ip(f"link set {path} up")
    ip(f"-{case.family} route add default dev {PATHS[1]} table 1")
    ip(f"-{case.family} rule add from {own[1]} table 1")
    if case.join == "subflow" and case.client == "kernel":
        ip(f"mptcp endpoint add {own[1]} dev {PATHS[1]} id 7 subflow")
    if case.join == "signal" and case.server == "kernel":
        ip(f"mptcp endpoint add {own[1]} dev {PATHS[1]} id 7 signal")


def our_plan(case: Case, directory: str) -> dict[str, Any]:
    """What our end is told; see the plan of the example `contact`."""
    own, kernel = ADDRESSES[case.family]["ours"], ADDRESSES[case.family]["kernel"]
    if case.client == "kernel" and case.join == "subflow":
        # One address at both paths.
        interfaces = [{"name": "wan", "addresses": [own[0]], "devices": PATHS}]
    else:
        interfaces = [
            {"name": path, "addresses": [address], "devices": [path]}
            for path, address in zip(PATHS, own, strict=True)
        ]
    second = {"address": own[1], "subflow": False, "signal": False, "backup": False}
    second["fullmesh"] = case.client == "ours" and case.join == "signal"
    second[case.join] = case.join != "none" and (case.client == "ours") == (case.join == "subflow")
    limits = {"max_subflows": 2, "max_add_addr_accepted": 2}
    path_manager = {"name": "linux", "endpoints": [second], **limits}
    mptcp = {
        "enabled": "ours" not in case.plain,
        "checksum": "ours" in case.checksum,
        "path_manager": path_manager,
    }
    host = f"[{kernel[0]}]" if case.family == 6 else kernel[0]
    opens = {"local": own[0], "remote": f"{host}:{PORT}"}
    return {
        "interfaces": interfaces,
        "config": {
            "mptcp": mptcp | case.config.get("mptcp", {}),
            "tcp": case.config.get("tcp", {}),
        },
        "open": opens if case.client == "ours" else None,
        "listen": PORT if case.client == "kernel" else None,
        "bytes": case.bytes,
        "close": "abort" if case.abort == "ours" else "first" if case.first == "ours" else "second",
        "detach": 1 if case.remove == "ours" else None,
        "capture": f"{directory}/contact.pcapng",
        "seconds": LIMIT_SECONDS,
    }


def made(case: Case) -> socket.socket:
    family = socket.AF_INET6 if case.family == 6 else socket.AF_INET
    protocol = socket.IPPROTO_TCP if "kernel" in case.plain else socket.IPPROTO_MPTCP
    return socket.socket(family, socket.SOCK_STREAM, protocol)


def listen(case: Case) -> socket.socket:
    listener = made(case)
    listener.bind(("", PORT))
    listener.listen()
    listener.settimeout(LIMIT_SECONDS)
    return listener


def exchange(case: Case, listener: socket.socket | None) -> dict[str, Any]:
    """Writes and reads the pattern; tells how that ended."""
    if listener:
        peer = listener.accept()[0]
    else:
        peer = made(case)
        peer.settimeout(LIMIT_SECONDS)
        peer.connect((ADDRESSES[case.family]["ours"][0], PORT))
    end = KernelEnd(case, peer)
    error = None
    try:
        end.run()
    except OSError as problem:
        error = type(problem).__name__
    peer.close()
    right = hashlib.sha256(pattern(len(end.read))).digest() == hashlib.sha256(end.read).digest()
    return {
        "read": len(end.read),
        "written": end.written,
        "right": right,
        "finished": end.finished,
        "error": error,
        "subflows": end.subflows,
    }


class KernelEnd:
    """The application at the kernel's end."""

    def __init__(self, case: Case, peer: socket.socket) -> None:
        self.case = case
        self.peer = peer
        self.to_write = pattern(case.bytes)
        self.written = 0
        self.read = bytearray()
        self.finished = False
        self.shut = False
        self.aborted = False
        self.subflows = 1
        self.start = time.monotonic()

    def run(self) -> None:
        self.peer.setblocking(False)
        while not ((self.finished and self.shut) or self.aborted):
            passed = time.monotonic() - self.start
            if passed > LIMIT_SECONDS:
                raise TimeoutError
            room = self.case.bytes if passed > PAUSE_SECONDS else FIRST_BYTES
            writes = [self.peer] if self.written < room else []
            reads = [] if self.finished else [self.peer]
            ready = select.select(reads, writes, [], 0.01)
            if ready[1]:
                self.written += self.peer.send(self.to_write[self.written : room])
            if ready[0]:
                self.receive(self.peer.recv(1 << 16))
            done = self.written == self.case.bytes and not self.shut
            if done and (self.case.first == "kernel" or self.finished):
                self.peer.shutdown(socket.SHUT_WR)
                self.shut = True

    def receive(self, block: bytes) -> None:
        before = len(self.read)
        self.read += block
        self.finished = not block
        half = self.case.bytes // 2
        if not before < half <= len(self.read):
            return
        self.subflows = subflows(0 if self.case.plain else 2)
        if self.case.remove == "kernel":
            ip("mptcp endpoint delete id 7")
        if self.case.abort == "kernel":
            # The close that follows throws away what is not delivered: MP_FASTCLOSE.
            self.peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.aborted = True


def subflows(expected: int) -> int:
    """Established sockets of TCP that carry a connection; on a busy machine a join may be late."""
    until = time.monotonic() + JOIN_SECONDS
    while True:
        listed = subprocess.run(["ss", "-tniH"], capture_output=True, text=True, check=True)
        found = sum("tcp-ulp-mptcp" in line for line in listed.stdout.splitlines())
        if found >= expected or time.monotonic() > until:
            return found
        time.sleep(0.05)


def counters() -> dict[str, int]:
    """MPTcpExt of nstat, where it is not 0."""
    lines = pathlib.Path("/proc/net/netstat").read_text().splitlines()
    names, values = (line.split()[1:] for line in lines if line.startswith("MPTcpExt:"))
    return {name: int(value) for name, value in zip(names, values, strict=True) if int(value)}


def ip(command: str) -> None:
    subprocess.run(["ip", *command.split()], check=True, stdout=subprocess.DEVNULL)


def sysctl(*settings: str) -> None:
    subprocess.run(["sysctl", "-qw", *settings], check=True)


if __name__ == "__main__":
    main()
