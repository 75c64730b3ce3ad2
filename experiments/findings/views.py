"""What of a run findings are drawn from: captures of one end, captures that lack something, or the runs beside it."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mptcplab
from mptcplab.results.comparison import Comparison
from mptcplab.results.findings import findings

Row = dict[str, Any]
View = Callable[[Comparison], list[Row]]

# Kinds of blocks of pcapng, and the option that names an interface.
INTERFACE, PACKET, NAME = 1, 6, 2


def client(run: Comparison) -> list[Row]:
    """The client's capture."""
    return _rows(run.mptcp.directory / "client.pcapng")


def every_thirtieth_missing(run: Comparison) -> list[Row]:
    """Both captures without every thirtieth packet."""
    return _thinned(run, lambda number, _: number % 30 > 0)


def wifi_alone(run: Comparison) -> list[Row]:
    """Both captures without the interfaces of other paths."""
    return _thinned(run, lambda _, interface: interface.endswith(":wifi"))


def from_midway(run: Comparison) -> list[Row]:
    """The client's capture as a whole, and the server's from the middle on."""
    return _thinned(run, lambda number, _: number >= 4000, hosts=("server",))


def beside(run: Comparison) -> list[Row]:
    """The run, and plain TCP over each path."""
    return findings(run)


def counted(run: Comparison) -> list[Row]:
    """The run with its kernels' counters."""
    return findings(run)


def _rows(*captures: Path) -> list[Row]:
    return list(mptcplab.analyze(captures).findings.rows(named=True))


def _thinned(
    run: Comparison, keep: Callable[[int, str], bool], hosts: tuple[str, ...] = ("client", "server")
) -> list[Row]:
    """Analyse captures of which, at these hosts, only packets with such a number and interface are kept."""
    captures = []
    for host in ("client", "server"):
        capture = run.mptcp.directory / f"{host}.pcapng"
        if host in hosts:
            data = _blocks(capture.read_bytes(), keep)
            capture = run.directory / capture.name
            capture.write_bytes(data)
        captures.append(capture)
    return _rows(*captures)


def _blocks(data: bytes, keep: Callable[[int, str], bool]) -> bytes:
    kept, names = [], []
    at = number = 0
    while at < len(data):
        kind, length, interface = struct.unpack_from("<III", data, at)
        block = data[at : at + length]
        at += length
        if kind == INTERFACE:
            names.append(_name(block))
        if kind == PACKET:
            number += 1
            if not keep(number, names[interface]):
                continue
        kept.append(block)
    return b"".join(kept)


def _name(block: bytes) -> str:
    """Give the name in a block that describes an interface."""
    at = 16
    while True:
        option, length = struct.unpack_from("<HH", block, at)
        if option == NAME:
            return block[at + 4 : at + 4 + length].decode()
        at += 4 + (length + 3) // 4 * 4
