"""A middlebox that removes MPTCP options, as some firewalls do (RFC 8684 §6)."""

from __future__ import annotations

import struct

ETHERNET = 14
MPTCP = 30
NOP = b"\x01"


def strip_mptcp(frame: bytes) -> bytes:
    """The Ethernet frame with every MPTCP option overwritten by no-operations."""
    ip = ETHERNET
    if frame[ip] >> 4 != 4 or frame[ip + 9] != 6:
        return frame
    tcp = ip + (frame[ip] & 15) * 4
    options, end = tcp + 20, tcp + (frame[tcp + 12] >> 4) * 4
    stripped = bytearray(frame)
    while options < end and stripped[options] != 0:
        if stripped[options] == 1:
            options += 1
            continue
        length = max(2, stripped[options + 1])
        if stripped[options] == MPTCP:
            stripped[options : options + length] = NOP * length
        options += length
    length = struct.unpack_from("!H", frame, ip + 2)[0] - (tcp - ip)
    segment = stripped[tcp : tcp + length]
    segment[16:18] = bytes(2)
    pseudo = frame[ip + 12 : ip + 20] + struct.pack("!HH", 6, length)
    struct.pack_into("!H", stripped, tcp + 16, _checksum(pseudo + bytes(segment)))
    return bytes(stripped)


def _checksum(data: bytes) -> int:
    data += bytes(len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
