"""By what means a dead path is left best: ``python -m experiments.guard.means``.

The in-kernel path manager has endpoints, which can be deleted or become backups. With the one of user space (``net.mptcp.path_manager=userspace``) a program closes or opens
subflows of one connection, or makes them backups. All act 150 ms after Wi-Fi has fallen silent, and take it back 400 ms after it has returned, as the guard
does, so that only the means differ. It is real time: leave the machine alone meanwhile. What was measured goes to ``means.json`` beside this file.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from experiments.markdown import table
from mptcplab.engines.kernel.agent import netlink, path_manager

RESULTS = Path(__file__).parent / "means.json"
PORT, MPTCP = 8080, 262
WIFI, LTE = "10.0.1.2", "10.0.2.2"
MESSAGE_BYTES = 1000
# Mbit/s.
RATES = {"download": 4, "upload": 2}
# When Wi-Fi falls silent and when it returns, from when the client's program starts; when that is noticed.
GOES_S, COMES_S, LASTS_S = 8, 12, 16
LEAVES_S, RETURNS_S = GOES_S + 0.15, COMES_S + 0.4
# Whoever begins later says nothing of what is usual.
BEGINS_S, LOOKS_S = 6, 0.005
# Wi-Fi is used again once it has carried so much.
USED_BYTES = 20_000
# Due time of a message, by the clock of this machine, in nanoseconds.
STAMP = struct.Struct("=q")
# MPTCP_INFO, MPTCP_TCPINFO and MPTCP_SUBFLOW_ADDRS (linux/mptcp.h), and where each has what is needed.
SOL_MPTCP, INFO, TCP_INFO, ADDRESSES = 284, 1, 2, 3
SIZES = struct.Struct("=IIII")
TOKEN_AT, TCP_INFO_BYTES, ADDRESSES_BYTES = 12, 232, 256
UNACKED, ACKED, RECEIVED = (24, "=I"), (120, "=Q"), (128, "=Q")
# MPTCP_PM_CMD_*, MPTCP_PM_ATTR_* and MPTCP_PM_ADDR_* (linux/mptcp_pm.h).
ADD_ADDRESS, DELETE_ADDRESS, SET_FLAGS, REMOVE, CREATE, DESTROY = 1, 2, 7, 9, 10, 11
LOCAL, TOKEN, LOCAL_ID, REMOTE = 1, 4, 5, 6
FAMILY, ID, ADDRESS, ADDRESS_PORT, FLAGS, INTERFACE = 1, 2, 3, 5, 6, 7
SUBFLOW, BACKUP = 2, 4
ACK, NESTED, FAMILY_ID = 4, 0x8000, 1


class Flow(NamedTuple):
    """A subflow of the client's."""

    local: str
    local_port: int
    remote: str
    remote_port: int
    waits: bool
    acked_bytes: int
    received_bytes: int


def flows(client: socket.socket) -> list[Flow]:
    """List the subflows of a connection."""
    infos = _each(client, TCP_INFO, TCP_INFO_BYTES)
    found = []
    for info, ends in zip(infos, _each(client, ADDRESSES, ADDRESSES_BYTES), strict=False):
        unacked, acked, received = (
            int(struct.unpack_from(form, info, at)[0]) for at, form in (UNACKED, ACKED, RECEIVED)
        )
        found.append(Flow(*_end(ends), *_end(ends[128:]), unacked > 0, acked, received))
    return found


def _end(address: bytes) -> tuple[str, int]:
    """Read a struct sockaddr_in."""
    return socket.inet_ntoa(address[4:8]), int.from_bytes(address[2:4], "big")


def _each(client: socket.socket, option: int, size: int) -> list[bytes]:
    room = SIZES.size + 8 * size
    # Python's getsockopt has no way to give what the kernel is to read.
    buffer = ctypes.create_string_buffer(SIZES.pack(SIZES.size, 0, 0, size), room)
    length = ctypes.c_uint32(room)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.getsockopt(client.fileno(), SOL_MPTCP, option, buffer, ctypes.byref(length)):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    _, count, _, _ = SIZES.unpack_from(buffer.raw)
    parts = buffer.raw[SIZES.size : length.value]
    return [parts[n * size : (n + 1) * size] for n in range(count)]


class Commands:
    """What the kernel's path managers are told."""

    def __init__(self) -> None:
        self._socket = socket.socket(
            socket.AF_NETLINK, socket.SOCK_RAW, path_manager.NETLINK_GENERIC
        )
        name = netlink.attribute(path_manager.FAMILY_NAME, path_manager.FAMILY.encode() + b"\0")
        body = path_manager.HEADER.pack(path_manager.GET_FAMILY, path_manager.VERSION, 0) + name
        (answer,) = netlink.ask(self._socket, netlink.message(path_manager.CONTROLLER, 0, body))
        family = netlink.attributes(answer[path_manager.HEADER.size :])
        (self._family,) = struct.unpack("=H", family[FAMILY_ID])

    def order(self, command: int, attributes: bytes) -> None:
        """Have something done; what the kernel refuses is an error."""
        body = path_manager.HEADER.pack(command, path_manager.VERSION, 0) + attributes
        list(netlink.ask(self._socket, netlink.message(self._family, ACK, body)))


class Endpoints(Commands):
    """The in-kernel path manager."""

    def change(self, command: int, flags: int) -> None:
        """Add or delete Wi-Fi's endpoint, or set its flags."""
        index = struct.pack("=I", socket.if_nametoindex("wifi"))
        more = netlink.attribute(FLAGS, struct.pack("=I", SUBFLOW | flags))
        more += netlink.attribute(INTERFACE, index)
        self.order(command, _nested(LOCAL, _address(WIFI, 1) + more))


class Userspace(Commands):
    """The path manager of user space, of one connection."""

    def __init__(self, client: socket.socket) -> None:
        super().__init__()
        self._client = client
        info = client.getsockopt(SOL_MPTCP, INFO, 96)
        self._token = netlink.attribute(TOKEN, info[TOKEN_AT : TOKEN_AT + 4])
        # The initial one is gone later.
        self._remote = flows(client)[0]

    def open(self, address: str, number: int) -> None:
        """Open a subflow from an address."""
        remote = _address(self._remote.remote, port=self._remote.remote_port)
        self._order(CREATE, _nested(LOCAL, _address(address, number)) + _nested(REMOTE, remote))

    def close(self, address: str) -> None:
        """Close the subflows from an address."""
        for ends in self._ends(address):
            self._order(DESTROY, ends)

    def withdraw(self, number: int) -> None:
        """Tell the peer that an address is gone."""
        self._order(REMOVE, netlink.attribute(LOCAL_ID, bytes([number])))

    def set_flags(self, address: str, flags: int) -> None:
        """Make the subflows from an address backups, or none any more."""
        for ends in self._ends(address, netlink.attribute(FLAGS, struct.pack("=I", flags))):
            self._order(SET_FLAGS, ends)

    def _ends(self, address: str, more: bytes = b"") -> list[bytes]:
        return [
            _nested(LOCAL, _address(one.local, port=one.local_port) + more)
            + _nested(REMOTE, _address(one.remote, port=one.remote_port))
            for one in flows(self._client)
            if one.local == address
        ]

    def _order(self, command: int, attributes: bytes) -> None:
        self.order(command, self._token + attributes)


def _nested(kind: int, value: bytes) -> bytes:
    return netlink.attribute(kind | NESTED, value)


def _address(address: str, number: int | None = None, port: int | None = None) -> bytes:
    made = netlink.attribute(FAMILY, struct.pack("=H", socket.AF_INET))
    made += netlink.attribute(ADDRESS, socket.inet_aton(address))
    if number is not None:
        made += netlink.attribute(ID, bytes([number]))
    if port is not None:
        made += netlink.attribute(ADDRESS_PORT, struct.pack("=H", port))
    return made


Act = Callable[[], None]


def means(name: str, client: socket.socket) -> tuple[Act, Act]:
    """Give what leaves Wi-Fi, and what takes it back."""
    match name:
        case "nothing":
            return lambda: None, lambda: None
        case "endpoint deleted":
            ends = Endpoints()
            return lambda: ends.change(DELETE_ADDRESS, 0), lambda: ends.change(ADD_ADDRESS, 0)
        case "endpoint a backup":
            ends = Endpoints()
            return lambda: ends.change(SET_FLAGS, BACKUP), lambda: ends.change(SET_FLAGS, 0)
    user = Userspace(client)
    user.open(LTE, 2)
    match name:
        case "subflow closed":
            return lambda: user.close(WIFI), lambda: user.open(WIFI, 1)
        case "subflow a backup":
            return lambda: user.set_flags(WIFI, BACKUP), lambda: user.set_flags(WIFI, 0)
        case _:
            return lambda: _both(user), lambda: user.open(WIFI, 1)


def _both(user: Userspace) -> None:
    user.withdraw(0)
    user.close(WIFI)


KERNEL = ("nothing", "endpoint deleted", "endpoint a backup")
MEANS = (*KERNEL, "subflow closed", "address withdrawn, subflow closed", "subflow a backup")


def main() -> None:
    """Run, and write the results; or be what runs at a host."""
    match sys.argv[1:]:
        case ["serve", direction]:
            serve(direction)
            return
        case ["connect", name, direction]:
            print(json.dumps(connect(name, direction)))
            return
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("--repeat", type=int, default=6, help="runs of each")
    parser.add_argument("--at-once", type=int, default=1, help="runs at once")
    parser.add_argument("--only", nargs="+", default=MEANS, help="only these means, others stay")
    given = parser.parse_args()
    keys = [
        (name, direction) for _ in range(given.repeat) for name in given.only for direction in RATES
    ]
    with ThreadPoolExecutor(given.at_once) as runs:
        found = runs.map(lambda key: shell(*key), keys)
        rows = [
            {"means": name, "direction": direction, **one}
            for (name, direction), one in zip(keys, found, strict=True)
        ]
    before = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []
    rows = [row for row in before if row["means"] not in given.only] + rows
    lines = ",\n".join(json.dumps(row) for row in rows)
    RESULTS.write_text(f'{{"release": "{platform.release()}", "rows": [\n{lines}\n]}}\n')


def shell(name: str, direction: str) -> dict[str, Any]:
    """Run once, over the paths of the scenario ``guard``."""
    scenario = (files("mptcplab.scenario") / "scenarios/guard.toml").read_text("utf-8")
    own = [sys.executable, "-m", "experiments.guard.means"]
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "scenario.toml"
        scenario = scenario.replace('"5 s"', f'"{GOES_S} s"').replace('"9 s"', f'"{COMES_S} s"')
        file.write_text(scenario.replace('"guard"', '"linux"'), "utf-8")
        arguments = [str(file), "--serve", " ".join([*own, "serve", direction])]
        arguments += ["--out", f"{directory}/run", "--no-live", "--"]
        command = [sys.executable, "-m", "mptcplab", "shell", *arguments, *own, "connect", name]
        done = subprocess.run([*command, direction], stdout=subprocess.PIPE, text=True, check=False)
    found: dict[str, Any] = json.loads(done.stdout or "{}")
    print(name, direction, found, file=sys.stderr, flush=True)
    return found


def serve(direction: str) -> None:
    """Send messages to who connects, or receive them and say what became of them."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("", PORT))
    listener.listen()
    while True:
        peer, _ = listener.accept()
        # Who only looks whether somebody listens says nothing.
        if not peer.recv(1):
            continue
        if direction == "download":
            send(peer, direction)
            peer.shutdown(socket.SHUT_WR)
        else:
            peer.sendall(json.dumps(receive(peer)).encode())
        peer.close()


def send(to: socket.socket, direction: str) -> None:
    """Send a message each time that one is due."""
    interval_ns = round(MESSAGE_BYTES * 8000 / RATES[direction])
    began_ns = time.monotonic_ns()
    for number in range(LASTS_S * 10**9 // interval_ns):
        due_ns = began_ns + number * interval_ns
        time.sleep(max(0, due_ns - time.monotonic_ns()) / 1e9)
        to.sendall(STAMP.pack(due_ns) + bytes(MESSAGE_BYTES - STAMP.size))


def receive(of: socket.socket) -> dict[str, float]:
    """Give the age of the oldest message beyond the youngest's, and the longest time between two arrivals, in ms."""
    waiting, gap_ns, last_ns = b"", 0, None
    ages_ns: list[int] = []
    while data := of.recv(1 << 16):
        now_ns = time.monotonic_ns()
        gap_ns, last_ns = max(gap_ns, now_ns - (last_ns or now_ns)), now_ns
        waiting += data
        while len(waiting) >= MESSAGE_BYTES:
            ages_ns.append(now_ns - STAMP.unpack_from(waiting)[0])
            waiting = waiting[MESSAGE_BYTES:]
    return {
        "age_ms": round((max(ages_ns) - min(ages_ns)) / 1e6),
        "gap_ms": round(gap_ns / 1e6),
        "messages": len(ages_ns),
    }


def connect(name: str, direction: str) -> dict[str, Any]:
    """Run the load, and leave Wi-Fi and take it back by these means."""
    if name not in KERNEL:
        # For connections from now on.
        Path("/proc/sys/net/mptcp/path_manager").write_text("userspace")
    client = _connected()
    began_s = _passed_s()
    client.sendall(b"!")
    time.sleep(0.2)
    leave, take_back = means(name, client)
    found: dict[str, Any] = {}
    acting = (client, leave, take_back, found)
    threading.Thread(target=_act, args=acting, daemon=True).start()
    if direction == "download":
        found |= receive(client)
    else:
        send(client, direction)
        client.shutdown(socket.SHUT_WR)
        answer = b""
        while data := client.recv(1 << 16):
            answer += data
        found |= json.loads(answer)
    return found if began_s < BEGINS_S else {}


def _connected() -> socket.socket:
    while True:
        client = socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP)
        client.bind((WIFI, 0))
        try:
            client.connect((os.environ["MPTCPLAB_SERVER"], PORT))
        except ConnectionRefusedError:
            client.close()
            time.sleep(0.1)
        else:
            return client


def _passed_s() -> float:
    """Say how long ago this program was started, from when the timeline counts."""
    ticks = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    return time.clock_gettime(time.CLOCK_BOOTTIME) - int(ticks) / os.sysconf("SC_CLK_TCK")


def _act(client: socket.socket, leave: Act, take_back: Act, found: dict[str, Any]) -> None:
    time.sleep(LEAVES_S - _passed_s())
    leave()
    time.sleep(RETURNS_S - _passed_s())
    before = _carried(client)
    take_back()
    while "used_s" not in found:
        time.sleep(LOOKS_S)
        carried = _carried(client)
        # A new subflow begins at 0.
        before = min(before, carried)
        if carried - before > USED_BYTES:
            found["used_s"] = round(_passed_s() - RETURNS_S, 2)


def _carried(client: socket.socket) -> int:
    own = (one for one in flows(client) if one.local == WIFI)
    return sum(one.acked_bytes + one.received_bytes for one in own)


def markdown() -> str:
    """Draw the table: medians."""
    rows: list[dict[str, Any]] = json.loads(RESULTS.read_text())["rows"]
    cells = []
    for direction in RATES:
        for name in MEANS:
            own = [row for row in rows if (row["means"], row["direction"]) == (name, direction)]
            whole = [row for row in own if "age_ms" in row]
            shown = [
                _median([row[key] for row in whole if key in row], digits)
                for key, digits in (("age_ms", 0), ("gap_ms", 0), ("used_s", 2))
            ]
            cells.append([direction, name, f"{len(whole)} of {len(own)}", *shown])
    heads = ["direction", "Wi-Fi is left by", "runs finished", "age, ms", "longest gap, ms"]
    return "\n".join(table([*heads, "used again after, s"], cells))


def _median(values: list[float], digits: int) -> str:
    return f"{median(values):.{digits}f}" if values else "–"


if __name__ == "__main__":
    main()
