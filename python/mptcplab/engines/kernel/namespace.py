"""Work in the network namespaces of the lab's hosts: commands, devices, their queues."""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count, groupby
from pathlib import Path
from typing import Literal

from mptcplab._core import Error
from mptcplab.engines.kernel.network import QUEUE_PACKETS, Host

# linux/sched.h
CLONE_NEWNET = 0x40000000
OWN = "/proc/self/ns/net"
SYSCTL = Path("/proc/sys")
SIX = "-6 "
FORCED = "-force "
# Where /proc/net/dev has what was not transmitted.
DROPPED = 11

_libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def inside(namespace: int) -> Iterator[None]:
    """Enter a network namespace, also for processes started within. For the first thread alone."""
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

    Those that begin with "-6" are told apart: iproute2 knows the version of a batch alone. Those
    that begin with "-force" may fail.
    """
    for kind, lines in groupby(commands, lambda line: line[: line.find(" ") + 1]):
        options = [kind.strip()] if kind in (SIX, FORCED) else []
        _batch(options, [line.removeprefix(kind) if options else line for line in lines])


def _batch(options: list[str], lines: list[str]) -> None:
    done = subprocess.run(  # noqa: S603
        ["ip", *options, "-batch", "-"],  # noqa: S607 - whichever the user has
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and FORCED.strip() not in options:
        # "Error: ...\nCommand failed -:3"
        errors, _, failed = done.stderr.strip().rpartition("\n")
        number = failed.rpartition(":")[2]
        line = lines[int(number) - 1] if number.isdecimal() else "-batch"
        raise Error(f"ip {line}: {errors.splitlines()[0] if errors else failed}")


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


# linux/netlink.h, linux/rtnetlink.h, linux/pkt_sched.h
NLMSG_ERROR = 2
NLM_F_REQUEST, NLM_F_ACK, NLM_F_REPLACE, NLM_F_CREATE = 0x1, 0x4, 0x100, 0x400
RTM_NEWQDISC = 36
TCA_KIND, TCA_OPTIONS = 1, 2
TC_H_ROOT = 0xFFFF_FFFF
MESSAGE = struct.Struct("=IHHII")
QDISC = struct.Struct("=BxxxiIII")
ANSWER_BYTES = 4096


def first_in_first_out(interface: str, packets: int) -> None:
    """Give a device of the network namespace where we are a queue that holds so many packets."""
    body = QDISC.pack(socket.AF_UNSPEC, socket.if_nametoindex(interface), 0, TC_H_ROOT, 0)
    body += _attribute(TCA_KIND, b"pfifo\0") + _attribute(TCA_OPTIONS, struct.pack("=I", packets))
    flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE
    head = MESSAGE.pack(MESSAGE.size + len(body), RTM_NEWQDISC, flags, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        kernel.send(head + body)
        answer = kernel.recv(ANSWER_BYTES)
    _, kind, *_ = MESSAGE.unpack_from(answer)
    (error,) = struct.unpack_from("=i", answer, MESSAGE.size)
    if kind == NLMSG_ERROR and error:
        raise Error(f"cannot give {interface} a queue: {os.strerror(-error)}")


def _attribute(kind: int, value: bytes) -> bytes:
    length = 4 + len(value)
    return struct.pack("=HH", length, kind) + value + bytes(-length % 4)


Kind = Literal["tun", "packet"]
# Host, name of the path or cross traffic, namespace, interface there, other end's address.
Port = tuple[str, str, int, str, str]

TUN = "/dev/net/tun"
QUIET = {"net.ipv6.conf.default.disable_ipv6": 1}

_numbers = count(1)


def kind() -> Kind:
    """Say what this user may open."""
    try:
        os.close(os.open(TUN, os.O_RDWR))
    except OSError:
        return "packet"
    return "tun"


def prepare(kind: Kind, host: Host) -> None:
    """Give the devices of the host where we are a queue that nothing is lost in."""
    if kind == "tun":
        for one in host.interfaces:
            first_in_first_out(one.name, QUEUE_PACKETS)


def lan(other: int) -> None:
    """Link the namespace where we are with another one."""
    # Both ends have the same name; we are the first process of the namespace.
    ip([f"link add name LAN type veth peer name LAN netns /proc/1/fd/{other}"])


def ports(kind: Kind, host: Host, namespace: int) -> list[Port]:
    """Name the devices of a host for the emulator; make veth pairs, with one end where we are."""
    if kind == "tun":
        return [(host.kind, one.port, namespace, one.name, "") for one in host.interfaces]
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    ports: list[Port] = []
    lines = []
    for one in host.interfaces:
        number = next(_numbers)
        name, address = f"veth{number}", f"02:00:00:00:{number:02x}:02"
        # We are the first process of the namespace.
        lines += [
            f"link add name {name} address 02:00:00:00:{number:02x}:01 type veth "
            f"peer name {one.name} address {address} netns /proc/1/fd/{namespace}",
            f"link set {name} mtu {one.mtu_bytes} arp off multicast off up",
        ]
        ports.append((host.kind, one.port, own, name, address))
    set_sysctls(QUIET)
    ip(lines)
    return ports
