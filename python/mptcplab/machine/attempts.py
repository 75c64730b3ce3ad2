"""Attempts in namespaces of our own; all that they do is gone with these.

`sandbox.try_out` calls this file as a program inside new namespaces; it prints what came of each
attempt as JSON. It uses nothing but the standard library.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# What an attempt gives where it succeeded.
DONE = "done"
SYSCTL = Path("/proc/sys")
# linux/sockios.h, linux/if.h
SIOCSIFFLAGS, IFF_UP = 0x8914, 0x0001
# linux/if_tun.h
TUNSETIFF, TUNSETOFFLOAD = 0x400454CA, 0x400454D0
IFF_TUN, IFF_NO_PI, IFF_VNET_HDR = 0x0001, 0x1000, 0x4000
TUN_F_CSUM, TUN_F_TSO4, TUN_F_TSO6 = 0x01, 0x02, 0x04
# linux/if_packet.h, linux/if_ether.h
SOL_PACKET, PACKET_VNET_HDR, ETH_P_ALL = 263, 15, 0x0003
# linux/mptcp.h
SOL_MPTCP, MPTCP_INFO, MPTCP_FULL_INFO = 284, 1, 4
MPTCP_INFO_FLAG_FALLBACK = 1
IPPROTO_MPTCP = 262
MPTCP_INFO_BYTES = 96
WAKE_UPS, NAP_SECONDS = 20, 0.0005
# linux/socket.h: what a socket turned out to be of.
SO_PROTOCOL = 38
ASKS = (
    "import socket, sys; "
    f"it = socket.socket().getsockopt(socket.SOL_SOCKET, {SO_PROTOCOL}); "
    f"sys.exit(it != {IPPROTO_MPTCP} and 'sockets stay of TCP')"
)


def main() -> None:
    """Make all attempts, and print their results."""
    result_of(up)
    results: dict[str, object] = {attempt.__name__: result_of(attempt) for attempt in ATTEMPTS}
    available = values("net.ipv4.tcp_available_congestion_control")
    results["congestion_controls"] = {name: selectable(name) for name in available}
    results["schedulers"] = values("net.mptcp.available_schedulers") or ["default"]
    results["path_managers"] = path_managers()
    results["late_us"] = late_us()
    json.dump(results, sys.stdout)


def result_of(attempt: Callable[[], None]) -> str:
    """Give `DONE`, or the error of an attempt."""
    try:
        attempt()
    except subprocess.CalledProcessError as error:
        return next(iter(str(error.stderr).strip().splitlines()), "failed")
    except OSError as error:
        return error.strerror or str(error)
    return DONE


def up() -> None:
    """Bring the loopback interface up, also where there is no ``ip``."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        fcntl.ioctl(opened, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", IFF_UP))


def tun() -> None:
    """Make a TUN device."""
    _tun(0)


def tun_offloads() -> None:
    """Enable segments larger than a packet on a TUN device, both ways."""
    _tun(TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6)


def veth() -> None:
    """Make a pair of virtual Ethernet devices."""
    ip("link add name mptcplab0 type veth peer name mptcplab1")


def packet_socket() -> None:
    """Open a packet socket, as captures and the emulator over veth do."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as opened:
        opened.bind(("lo", ETH_P_ALL))


def packet_offloads() -> None:
    """Enable segments larger than a packet on a packet socket, both ways."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as opened:
        opened.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)


def nested() -> None:
    """Make a network namespace inside."""
    call("unshare", "--net", "true")


def dies_with_us() -> None:
    """Have a program end when its parent does."""
    call("setpriv", "--pdeathsig", "KILL", "true")


def mptcp() -> None:
    """Connect to ourselves over MPTCP."""
    with _connected() as connection:
        info = connection.getsockopt(SOL_MPTCP, MPTCP_INFO, MPTCP_INFO_BYTES)
        if struct.unpack_from("8xI", info)[0] & MPTCP_INFO_FLAG_FALLBACK:
            raise OSError("connections fall back to TCP")


def subflow_state() -> None:
    """Ask for the state of a connection's subflows, with less room than any answer needs."""
    with _connected() as connection:
        try:
            connection.getsockopt(SOL_MPTCP, MPTCP_FULL_INFO, 1)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise


def endpoints() -> None:
    """Add an address to the kernel's path manager."""
    ip("mptcp limits set subflow 8 add_addr_accepted 8")
    ip("mptcp endpoint add 198.51.100.1 dev lo subflow backup fullmesh")


def ipv6() -> None:
    """Take an address of IPv6."""
    with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as opened:
        opened.bind(("::1", 0))


def multipath() -> None:
    """Have a program get MPTCP where it asks for TCP, by a filter of the kernel."""
    python = (sys.executable, "-I", "-S")
    call(*python, str(Path(__file__).with_name("multipath.py")), *python, "-c", ASKS)


ATTEMPTS = (
    *(tun, tun_offloads, veth, packet_socket, packet_offloads, nested, dies_with_us),
    *(mptcp, subflow_state, endpoints, ipv6, multipath),
)


def selectable(congestion_control: str) -> str:
    """Give how it can be chosen here: ``sysctl``, ``route``, or the error."""
    chosen = _file("net.ipv4.tcp_congestion_control")
    with suppress(OSError):
        before = chosen.read_text()
        chosen.write_text(congestion_control)
        chosen.write_text(before)
        return "sysctl"
    route = "198.51.100.0/24 dev lo"
    result = result_of(lambda: ip(f"route add {route} congctl {congestion_control}"))
    if result != DONE:
        return result
    ip(f"route del {route}")
    return "route"


def path_managers() -> list[str]:
    """Name the kernel's path managers: before they had names they had numbers."""
    numbered = ["kernel", "userspace"] if _file("net.mptcp.pm_type").exists() else ["kernel"]
    return values("net.mptcp.available_path_managers") or numbered


def late_us() -> float | None:
    """Measure how much too late we wake up, in the median."""
    with suppress(OSError):
        Path("/proc/self/timerslack_ns").write_text("1")
        naps = []
        for _ in range(WAKE_UPS):
            begun = time.monotonic()
            time.sleep(NAP_SECONDS)
            naps.append(time.monotonic() - begun)
        return (sorted(naps)[WAKE_UPS // 2] - NAP_SECONDS) * 1e6
    return None


def values(setting: str) -> list[str]:
    """Give the values of a setting; none where there is no such thing."""
    try:
        return _file(setting).read_text().split()
    except OSError:
        return []


def ip(arguments: str) -> None:
    """Call ``ip``."""
    call("ip", *arguments.split())


def call(*command: str) -> None:
    """Call a program, which must succeed."""
    environment = os.environ | {"LC_ALL": "C"}
    subprocess.run(command, check=True, capture_output=True, text=True, env=environment)  # noqa: S603


def _file(setting: str) -> Path:
    return SYSCTL / setting.replace(".", "/")


def _tun(offloads: int) -> None:
    device = os.open("/dev/net/tun", os.O_RDWR)
    flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR
    try:
        fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", b"mptcplab", flags))
        fcntl.ioctl(device, TUNSETOFFLOAD, offloads)
    finally:
        os.close(device)


@contextmanager
def _connected() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP) as connection:
            connection.settimeout(1)
            connection.connect(listener.getsockname())
            yield connection


if __name__ == "__main__":
    main()
