"""The recorder of ACKs: in which state each finds its sender. Only root may load it.

It is gone from the kernel once it is closed, or its process ends.
"""

from __future__ import annotations

import mmap
import os
import struct
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from mptcplab._core import Error
from mptcplab.controllers import bpf, btf, compiled, loading

PROGRAM = Path(__file__).with_name("acks.bpf.o")
# struct ack of acks.bpf.c.
RECORD = struct.Struct("<QQQ12I2HHBB16s16s")
COUNT = struct.Struct("<Q")
RING_BYTES = 1 << 22
KEY_BYTES = 4
MAPS = {
    "networks": (bpf.HASH, KEY_BYTES, KEY_BYTES, 64),
    "acks": (bpf.RING, 0, 0, RING_BYTES),
    "lost": (bpf.ARRAY, KEY_BYTES, COUNT.size, 1),
}
# What the ring has before each record (BPF_RINGBUF_HDR_SZ): its length, the upper byte of which
# says that it is being written.
HEADER_BYTES, BUSY_AT = 8, 3
STRIDE = HEADER_BYTES + RECORD.size
LOOK_SECONDS = 0.05
# CLOCK_MONOTONIC_COARSE of linux/time.h goes on with each jiffy.
COARSE = 6
AF_INET = 2
INFINITE_SSTHRESH = 0x7FFF_FFFF
NO_RATE = 0xFFFF_FFFF_FFFF_FFFF
STATES = ("open", "disorder", "cwr", "recovery", "loss")


class Recorder:
    """Writes down the ACKs that come to hosts, until it is closed."""

    def __init__(self, hosts: Mapping[str, int], file: Path) -> None:
        """``hosts`` are open files of network namespaces."""
        self._hosts = {os.fstat(one).st_ino & 0xFFFFFFFF: name for name, one in hosts.items()}
        self._count = 0
        self._failed: OSError | None = None
        # CLOCK_MONOTONIC is what the program reads.
        self._epoch_ns = time.time_ns() - time.monotonic_ns()
        with ExitStack() as opened:
            self._file = opened.enter_context(file.open("wb"))
            maps = _attached(self._hosts, opened)
            self._lost, ring, page = maps["lost"], maps["acks"], mmap.PAGESIZE
            self._consumed = opened.enter_context(mmap.mmap(ring, page))
            # How far it is written, then the ring, twice: no record is in two parts.
            size = page + 2 * RING_BYTES
            self._ring = opened.enter_context(
                mmap.mmap(ring, size, prot=mmap.PROT_READ, offset=page)
            )
            self._opened = opened.pop_all()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def close(self) -> dict[str, Any]:
        """End it; says how it went, and what :func:`rows` needs to know."""
        self._ended.set()
        self._thread.join()
        with self._opened:
            lost = bpf.lookup(self._lost, bytes(KEY_BYTES), COUNT.size) or bytes(COUNT.size)
        if self._failed is not None:
            raise Error(f"cannot record ACKs: {self._failed.strerror}")
        return {
            "recorded": self._count,
            "lost": COUNT.unpack(lost)[0],
            "hosts": {str(number): name for number, name in self._hosts.items()},
            "epoch_ns": self._epoch_ns,
            "jiffy_ns": round(time.clock_getres(COARSE) * 1e9),
        }

    def _follow(self) -> None:
        try:
            while not self._ended.wait(LOOK_SECONDS):
                self._read()
            self._read()
        except OSError as error:
            self._failed = error

    def _read(self) -> None:
        """Take what is complete out of the ring."""
        (begin,) = COUNT.unpack_from(self._consumed)
        (end,) = COUNT.unpack_from(self._ring)
        at = mmap.PAGESIZE + begin % RING_BYTES
        found = self._ring[at : at + end - begin]
        busy = next((number for number, byte in enumerate(found[BUSY_AT::STRIDE]) if byte), None)
        if busy is not None:
            found = found[: busy * STRIDE]
        self._file.write(found)
        self._count += len(found) // STRIDE
        COUNT.pack_into(self._consumed, 0, begin + len(found))


def _attached(networks: Iterable[int], opened: ExitStack) -> dict[str, int]:
    """Have the program look at some network namespaces; gives its maps."""

    def closing(file: int) -> int:
        opened.callback(os.close, file)
        return file

    made = compiled.read(PROGRAM)
    (program,) = made.programs
    where = btf.TYPEDEF, f"btf_trace_{program.member}"
    if not (found := loading.kernel_types().find({where})):
        raise Error(f"this kernel does not tell of ACKs: it has no tracepoint {program.member}")
    try:
        types = closing(bpf.load_types(made.types))
        maps = {name: closing(bpf.make_map(*kind, name)) for name, kind in MAPS.items()}
        for network in networks:
            number = network.to_bytes(KEY_BYTES, "little")
            bpf.update(maps["networks"], number, number)
        loaded = bpf.load_program(
            program.name,
            loading.linked(program, maps, {}),
            made.licence,
            types=types,
            functions=program.functions,
            fields=program.fields,
            structure=found[where].number,
            member=bpf.TRACEPOINT,
            kind=bpf.TRACING_PROGRAM,
        )
        closing(bpf.attach(closing(loaded)))
    except OSError as error:
        raise Error(f"this kernel does not let ACKs be recorded: {error.strerror}") from error
    return maps


def rows(file: Path, about: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the rows of ``state``, with the host and the ends of each subflow."""
    data = memoryview(file.read_bytes())
    for at in range(HEADER_BYTES, len(data), STRIDE):
        yield _row(RECORD.unpack_from(data, at), about)


def _row(record: tuple[Any, ...], about: Mapping[str, Any]) -> dict[str, Any]:
    at_ns, pacing, acknowledged, network, cwnd, ssthresh, srtt, mdev, timeout, *more = record
    out, sacked, lost, again, retransmitted, queued, family, *more = more
    local_port, remote_port, backoffs, state, local, remote = more
    size = 4 if family == AF_INET else 16
    remote_port = int.from_bytes(remote_port.to_bytes(2, "little"), "big")
    found = {
        "host": about["hosts"][str(network)],
        "local": (_address(local[:size]), local_port),
        "remote": (_address(remote[:size]), remote_port),
        "at_ns": at_ns + about["epoch_ns"],
        "cwnd_packets": cwnd,
        "ssthresh_packets": None if ssthresh == INFINITE_SSTHRESH else float(ssthresh),
        # Linux keeps eight times the one and four times the other.
        "srtt_ms": (srtt >> 3) / 1e3 if srtt else None,
        "rttvar_ms": (mdev >> 2) / 1e3 if srtt else None,
        "timeout_ms": timeout * about["jiffy_ns"] / 1e6,
        "backoffs": backoffs,
        "pacing_mbps": pacing / 125_000 if srtt and pacing != NO_RATE else None,
        "in_flight_packets": out - sacked - lost + again,
        "queued_bytes": queued,
        "retransmitted_packets": retransmitted,
        "congestion_state": STATES[state],
        "sacked_packets": sacked,
        "lost_packets": lost,
        "acknowledged_bytes": acknowledged,
    }
    return {name: value for name, value in found.items() if value is not None}


def _address(packed: bytes) -> str:
    """An IPv4 address stays one on a socket of IPv6."""
    address = ip_address(packed)
    return str(getattr(address, "ipv4_mapped", None) or address)
