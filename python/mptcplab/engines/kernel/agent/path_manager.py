"""The kernel's events for path managers, over generic netlink (linux/mptcp_pm.h)."""

from __future__ import annotations

import ipaddress
import os
import socket
import struct
from typing import Any

from mptcplab.engines.kernel.agent import netlink
from mptcplab.engines.kernel.agent.loop import unix_ns
from mptcplab.engines.kernel.agent.sockets import attempt

NETLINK_GENERIC = 16
SOL_NETLINK = 270
NETLINK_ADD_MEMBERSHIP = 1
# The controller of generic netlink, and what it is asked.
CONTROLLER = 16
GET_FAMILY = 3
VERSION = 1
FAMILY_NAME, MULTICAST_GROUPS = 2, 7
GROUP_NAME, GROUP_ID = 1, 2
FAMILY, GROUP = "mptcp_pm", "mptcp_pm_events"
# Command, version, reserved.
HEADER = struct.Struct("=BBH")
BUFFER_BYTES = 1 << 20

SIGNALS = {
    1: "created",
    2: "established",
    3: "closed",
    6: "announced",
    7: "removed",
    10: "subflow-established",
    11: "subflow-closed",
    13: "subflow-priority",
    15: "listener-created",
    16: "listener-closed",
}
# Attributes by column, with the format of numbers.
NUMBERS = {
    "token": (1, "=I"),
    "local_address_id": (3, "=B"),
    "remote_address_id": (4, "=B"),
    "local_port": (9, ">H"),
    "remote_port": (10, ">H"),
}
ADDRESSES = {"local_address": (5, 6), "remote_address": (7, 8)}
BACKUP, ERROR, RESET_REASON = 11, 12, 16
# RFC 8684 §3.6, figure 15, in the words of the table `subflows`.
RESET_REASONS = {
    0: "unspecified error",
    1: "MPTCP-specific error",
    2: "lack of resources",
    3: "administratively prohibited",
    4: "too much outstanding data",
    5: "unacceptable performance",
    6: "middlebox interference",
}
# The signal of events that were lost because they were not read in time.
OVERRUN = "overrun"


class Events:
    """Receives all events from when it is made."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
        with attempt("events of path managers"):
            self._socket.setsockopt(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, _group(self._socket))
        self._socket.setblocking(False)

    def fileno(self) -> int:
        """Give what to wait for."""
        return self._socket.fileno()

    def read(self) -> list[dict[str, Any]]:
        """Read the events since, as rows of ``signals`` without numbers and host."""
        rows: list[dict[str, Any]] = []
        while True:
            try:
                data = self._socket.recv(netlink.RECEIVE_BYTES)
            except BlockingIOError:
                return rows
            except OSError:
                rows.append({"at_ns": unix_ns(), "signal": OVERRUN})
                continue
            at_ns = unix_ns()
            rows += [{"at_ns": at_ns, **signal(body)} for _, body in netlink.messages(data)]

    def close(self) -> None:
        """Stop receiving."""
        self._socket.close()


def signal(body: bytes) -> dict[str, Any]:
    """Decode an event."""
    command, _, _ = HEADER.unpack_from(body)
    found = netlink.attributes(body[HEADER.size :])
    row: dict[str, Any] = {"signal": SIGNALS.get(command, f"other {command}")}
    for column, (kind, form) in NUMBERS.items():
        if kind in found:
            (row[column],) = struct.unpack(form, found[kind])
    for column, kinds in ADDRESSES.items():
        for kind in kinds:
            if kind in found:
                row[column] = str(ipaddress.ip_address(found[kind]))
    if BACKUP in found:
        row["backup"] = any(found[BACKUP])
    if any(found.get(ERROR, b"")):
        row["error"] = os.strerror(found[ERROR][0])
    if RESET_REASON in found:
        (reason,) = struct.unpack("=I", found[RESET_REASON])
        row["reset_reason"] = RESET_REASONS.get(reason, "unknown reason")
    return row


def _group(sock: socket.socket) -> int:
    name = netlink.attribute(FAMILY_NAME, FAMILY.encode() + b"\0")
    body = HEADER.pack(GET_FAMILY, VERSION, 0) + name
    (answer,) = netlink.ask(sock, netlink.message(CONTROLLER, 0, body))
    family = netlink.attributes(answer[HEADER.size :])
    groups = map(netlink.attributes, netlink.attributes(family[MULTICAST_GROUPS]).values())
    numbers = {group[GROUP_NAME].rstrip(b"\0").decode(): group[GROUP_ID] for group in groups}
    (number,) = struct.unpack("=I", numbers[GROUP])
    return int(number)
