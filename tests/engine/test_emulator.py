"""The emulator as Python has it."""

from __future__ import annotations

import csv
import os
import pathlib
import socket
import time
from typing import Any

import pytest

from mptcplab._core import Emulator, Error, Namespace, Plan
from mptcplab.engines.kernel.namespace import inside, ip
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load
from requirements import need_kernel_tun, need_root

LINK = {"rate": "20 Mbit/s", "delay": "5 ms"}
SCENARIO: dict[str, Any] = {
    "schema": 1,
    "transfer": {"direction": "download", "size": "1 MB"},
    "path": {"wifi": LINK},
}
NOWHERE: dict[str, Any] = {"devices": "tun", "client_capture": None, "server_capture": None}


def planned() -> Plan:
    return plan(load(SCENARIO, [])[1], 1)


@pytest.mark.parametrize(
    ("ports", "more", "error", "message"),
    [
        ([], {}, Error, "port client:wifi: has no device"),
        ([], {"ours": ["client", "server"]}, Error, "two such hosts are for the simulation"),
        ([], {"ours": ["peer"]}, Error, "is always the kernel's"),
        ([], {"ours": ["router"]}, ValueError, "a host is client, server, neighbour or peer"),
        ([], {"devices": "raw"}, ValueError, '"tun" or "packet"'),
        (
            [("client", "wifi", 0, "wifi", "wifi")],
            {"devices": "packet"},
            ValueError,
            "wifi is not a hardware address",
        ),
    ],
)
def test_what_is_refused(
    ports: list[tuple[str, str, int, str, str]],
    more: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        Emulator(planned(), ports, **NOWHERE | more)


def test_a_namespace_is_another() -> None:
    need_root()
    namespace = Namespace()
    own = pathlib.Path("/proc/self/ns/net").stat()
    assert os.fstat(namespace.fileno()).st_ino != own.st_ino
    with inside(namespace.fileno()):
        assert [name for _, name in socket.if_nameindex()] == ["lo"]


def test_a_server_of_ours_and_what_is_told_of_it(tmp_path: pathlib.Path) -> None:
    need_root()
    need_kernel_tun()
    client = Namespace()
    given = planned().table()
    address, server = given["paths"][0]["address"], given["server"]
    emulator = Emulator(
        Plan(given),
        [("client", "wifi", client.fileno(), "wifi", "")],
        devices="tun",
        client_capture=tmp_path / "client.pcapng",
        server_capture=tmp_path / "server.pcapng",
        link_log=tmp_path / "links.csv",
        ours=["server"],
    )
    with inside(client.fileno()):
        setup = [f"address add {address}/24 dev wifi", "link set wifi up"]
        ip([*setup, f"route add default dev wifi src {address}"])
        stream = socket.socket()
    assert not emulator.is_running()
    before_ns = time.time_ns()
    started_ns = emulator.start()
    assert before_ns <= started_ns <= time.time_ns()
    with stream:
        stream.connect((server["addresses"][0], server["port"]))
        got = bytearray()
        while chunk := stream.recv(1 << 16):
            got += chunk
    assert len(got) == 1_000_000
    until = time.monotonic() + 60
    while not emulator.connections()["server"][0]["done"] and time.monotonic() < until:
        time.sleep(0.01)
    assert emulator.is_running()
    [connection] = emulator.connections()["server"]
    assert connection["done"]
    assert not connection["mptcp"]
    assert connection["bytes_written"] == 1_000_000
    assert connection["corrupt_bytes"] == 0
    summary = emulator.stop()
    assert summary is not None
    assert emulator.stop() is None
    assert summary["started_ns"] == started_ns
    port, link = summary["ports"]["client:wifi"], summary["links"]["wifi"]
    assert link["down"]["packets"] >= port["sent"] >= port["sent_frames"] > 0
    assert link["lateness"]["count"] > 0
    assert summary["captures"]["client:wifi"]["lost"] == 0
    assert summary["captures"]["server:wifi"]["written"] > 1_000_000 // 1460
    rows = list(csv.DictReader((tmp_path / "links.csv").read_text().splitlines()))
    assert summary["link_log"] == {"written": len(rows), "lost": 0}
    arrived = [row for row in rows if row["direction"] == "down" and row["event"] == "arrival"]
    assert len(arrived) == link["down"]["packets"]
    assert sum(int(row["bytes"]) for row in arrived) == link["down"]["bytes"]
