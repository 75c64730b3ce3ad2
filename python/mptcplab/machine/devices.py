"""What packets leave the kernel through: TUN, or packet sockets at veth pairs."""

from __future__ import annotations

from mptcplab.machine.attempts import DONE
from mptcplab.machine.check import Check, fine, limited, missing, unknown
from mptcplab.machine.machine import Machine

TUN = "TUN"
INSTEAD = "packets pass packet sockets at veth pairs instead, which is slower"


def tun(machine: Machine) -> Check:
    """TUN devices."""
    result = machine.result_of("tun")
    if result == DONE:
        return fine(TUN, "/dev/net/tun opens")
    if not machine.exists("dev/net/tun"):
        mend = machine.with_root("modprobe tun")
        if machine.container:
            mend = f"{machine.container} run --device /dev/net/tun ..."
        return limited(TUN, "there is no /dev/net/tun", INSTEAD, mend)
    if result is None:
        return unknown(TUN)
    mend = machine.with_root("chmod 0666 /dev/net/tun")
    return limited(TUN, f"/dev/net/tun is closed to you ({result})", INSTEAD, mend)


def packet_sockets(machine: Machine) -> Check:
    """Packet sockets, at veth pairs: the way without TUN, and that of tcpdump in a shell."""
    name = "veth, packet sockets"
    for what, attempt in (("veth pairs", "veth"), ("packet sockets", "packet_socket")):
        result = machine.result_of(attempt)
        if result is None:
            return unknown(name)
        if result != DONE:
            found = f"no {what}: {result}"
            if machine.result_of("tun") == DONE:
                return limited(name, found, "TUN is the only way, and nobody else can capture")
            return missing(name, found, "without TUN they are the only way for packets")
    return fine(name, "made, opened")


def offloads(machine: Machine) -> Check:
    """Segments larger than a packet, through the devices that will be used."""
    name = "offloads"
    device, attempt = "TUN", "tun_offloads"
    if machine.result_of("tun") != DONE:
        device, attempt = "packet sockets", "packet_offloads"
    result = machine.result_of(attempt)
    if result is None:
        return unknown(name)
    if result != DONE:
        found = f"not taken by {device}: {result}"
        return limited(name, found, "every packet passes alone: slower")
    return fine(name, f"taken by {device} (VNET_HDR, TSO)")
