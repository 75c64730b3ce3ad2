"""The queue between a host and its device: plain and long, whatever this machine has by default.

fq_codel, which many distributions choose, drops and marks packets before they have met a link.
"""

from __future__ import annotations

import os
import socket
import struct

from mptcplab._core import Error

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
