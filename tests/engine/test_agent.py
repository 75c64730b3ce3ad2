"""The kernel engine's transfers over real sockets: every application, and how they end."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from agents import FILES, PORT, Loopback, loopback
from mptcplab.engines.kernel.agent import connection
from requirements import need_kernel_namespaces

BULK = {"application": "bulk", "direction": "down"}
# Goes between: hands on what comes, but for every so manieth byte, which it garbles.
RELAY = """
import socket, sys, threading
def listen():
    made = socket.create_server(("127.0.0.1", 5002))
    print(flush=True)
    return made.accept()[0]
def hand_on(source, target, every):
    at = 0
    while block := bytearray(source.recv(65536)):
        for place in range(-at % every, len(block), every):
            block[place] ^= 1
        at += len(block)
        target.sendall(block)
    target.shutdown(socket.SHUT_WR)
client = listen()
server = socket.create_connection(("127.0.0.1", 5001))
back = threading.Thread(target=hand_on, args=(server, client, int(sys.argv[1])))
back.start()
hand_on(client, server, 1 << 40)
back.join()
"""


@pytest.fixture(scope="module")
def namespace() -> Iterator[Loopback]:
    need_kernel_namespaces()
    with loopback() as made:
        yield made


def assert_complete(client: dict[str, Any], server: dict[str, Any]) -> None:
    for here, there in [(client, server), (server, client)]:
        assert here["finished"]
        assert here["reason"] == "complete"
        assert here["corrupt_bytes"] == 0
        assert here["bytes_sent"] == there["bytes_received"]
        assert here["lingering"] == 0


def seconds(did: dict[str, Any]) -> float:
    lasted: int = did["ended_ns"] - did["started_ns"]
    return lasted / 1e9


@pytest.mark.parametrize("size", [0, 1, 131_071, 30_000_000])
@pytest.mark.parametrize("direction", ["up", "down"])
@pytest.mark.parametrize("mptcp", [True, False], ids=["mptcp", "tcp"])
def test_bulk_of_a_size(namespace: Loopback, size: int, direction: str, mptcp: bool) -> None:
    transfer = {"application": "bulk", "direction": direction, "size_bytes": size}
    client, server = namespace.transfer({"transfer": transfer, "mptcp": mptcp})
    assert_complete(client, server)
    assert (client if direction == "up" else server)["bytes_sent"] == size
    assert (server if direction == "up" else client)["bytes_sent"] == 0
    for end in (client, server):
        (used,) = end["sockets"]
        assert used["mptcp"] == mptcp
        assert not used["fallback"]


@pytest.mark.parametrize(("listen", "connect"), [("::1", "::1"), ("::", "127.0.0.1")])
def test_versions_of_ip(namespace: Loopback, listen: str, connect: str) -> None:
    job = {"transfer": BULK | {"size_bytes": 1_000_000}, "mptcp": True}
    server = namespace.agent({**job, "listen": [listen, PORT]})
    client = namespace.agent({**job, "connect": {"local": None, "remote": [connect, PORT]}})
    server.go()
    client.go()
    did = client.done(), server.done()
    assert_complete(*did)
    # IPv4 is told as such, also where the socket is of IPv6.
    (subflow,) = did[1]["sockets"][0]["subflows"]
    assert subflow["local"] == [connect, PORT]
    assert subflow["congestion_control"]


def test_bulk_for_a_time(namespace: Loopback) -> None:
    transfer = BULK | {"duration_ns": 300_000_000, "connections": 3}
    client, server = namespace.transfer({"transfer": transfer, "mptcp": True, "connections": 3})
    assert_complete(client, server)
    assert client["bytes_received"] > 0
    assert len(server["sockets"]) == 3
    for end in (client, server):
        assert seconds(end) >= 0.3


@pytest.mark.parametrize("direction", ["up", "down"])
def test_request_and_response(namespace: Loopback, direction: str) -> None:
    asked = {"request_bytes": 200, "response_bytes": 300_000, "requests": 5}
    asked |= {"think_ns": 30_000_000}
    transfer = {"application": "request-response", "direction": direction, **asked}
    client, server = namespace.transfer({"transfer": transfer, "mptcp": True})
    assert_complete(client, server)
    answers, asks = (client, server) if direction == "up" else (server, client)
    assert answers["bytes_sent"] == 5 * 300_000
    assert asks["bytes_sent"] == 5 * 200
    # Nobody thinks after the last answer.
    assert seconds(asks) > 4 * 0.03


def test_constant_bit_rate(namespace: Loopback) -> None:
    transfer = {"application": "constant-bit-rate", "direction": "up"}
    sizes = {"rate_bits_per_second": 24_000_000, "message_bytes": 3000}
    job = {"transfer": transfer | sizes | {"duration_ns": 500_000_000}, "mptcp": True}
    client, server = namespace.transfer(job)
    assert_complete(client, server)
    # A message every millisecond, before half a second is over.
    assert client["bytes_sent"] == 500 * 3000
    assert seconds(client) > 0.499


def test_flows_beside_are_given_up(namespace: Loopback) -> None:
    times = {"start_ns": 100_000_000, "stop_ns": 300_000_000}
    client, server = namespace.pair({"transfer": BULK, "connections": 2, **times})
    server.go()
    client.go()
    did = client.done(), server.done()
    assert not any(end["finished"] for end in did)
    assert did[0]["bytes_received"] > 0
    assert "more to write" in did[1]["reason"] or did[1]["reason"].startswith("gave up after")
    # Each counts from its own start; the first whose time is up ends both.
    assert max(map(seconds, did)) >= 0.3


def test_datagrams(namespace: Loopback) -> None:
    sizes = {"rate_bits_per_second": 8_000_000, "packet_bytes": 1000}
    job = {"transfer": {"application": "datagrams", **sizes}, "stop_ns": 250_000_000}
    client, server = namespace.pair(job)
    server.go()
    client.go()
    # It tells twice a second how far it is: by then all are sent.
    client.line()
    client.say("stop")
    server.say("stop")
    did = client.done(), server.done()
    # IP packets of 1000 bytes, of which 28 are headers.
    assert did[0]["bytes_sent"] == did[1]["bytes_received"] == 250 * 972


@pytest.mark.parametrize("every", [1, 1000, 99_991])
def test_garbled_bytes_are_counted(namespace: Loopback, every: int) -> None:
    size = 200_000
    job = {"transfer": BULK | {"size_bytes": size}, "mptcp": True}
    server = namespace.agent({**job, "listen": ["127.0.0.1", PORT]})
    server.go()
    relay = namespace.start(sys.executable, "-c", RELAY, str(every))
    with relay:
        assert relay.stdout is not None
        relay.stdout.readline()
        client = namespace.agent({**job, "connect": {"local": None, "remote": ["127.0.0.1", 5002]}})
        client.go()
        did = client.done(), server.done()
    assert did[0]["bytes_received"] == size
    assert did[0]["corrupt_bytes"] == -(-size // every)
    assert did[0]["finished"]
    # Who goes between speaks plain TCP.
    assert did[0]["sockets"][0]["fallback"]
    assert not did[1]["sockets"][0]["mptcp"]


@pytest.mark.parametrize("how", ["stop", "end of input"])
def test_everything_ends_at_once(namespace: Loopback, how: str) -> None:
    client, server = namespace.pair({"transfer": BULK, "mptcp": True})
    server.go()
    client.go()
    assert client.line()["progress"]["bytes"] > 0
    if how == "stop":
        client.say("stop")
    else:
        client.hang_up()
    did = client.done(), server.done()
    assert did[0]["reason"].endswith("waits for the end of data")
    assert did[1]["reason"].startswith("gave up after")


def test_who_waits_is_told(namespace: Loopback) -> None:
    server = namespace.agent({"transfer": BULK, "connections": 2, "listen": ["127.0.0.1", PORT]})
    server.go()
    server.say("stop")
    assert server.done()["reason"] == "waits for 2 connections to come"
    job = {"transfer": BULK, "connect": {"local": None, "remote": ["127.0.0.1", PORT]}}
    client = namespace.agent(job)
    client.go()
    assert client.done()["reason"].endswith("Connection refused")


@pytest.mark.parametrize(
    ("more", "error"),
    [
        (
            {"listen": ["192.0.2.1", 1]},
            "to listen at 192.0.2.1 port 1: Cannot assign requested address",
        ),
        (
            {"listen": ["127.0.0.1", 1], "congestion_control": "none"},
            "congestion control none: No such file or directory",
        ),
        ({}, "the agent's job: it either listens, connects or is handed connections"),
        ({"listen": ["127.0.0.1", 1], "speed": 1}, "the agent's job: "),
    ],
)
def test_what_cannot_be_done_is_told(namespace: Loopback, more: dict[str, Any], error: str) -> None:
    agent = namespace.agent({"transfer": BULK, **more})
    assert error in agent.first["error"]
    assert agent.status() == 1


@pytest.mark.parametrize("file", FILES)
def test_a_full_disk_is_told(namespace: Loopback, file: str) -> None:
    # Samples enough that they are written before the end.
    transfer = BULK | {"duration_ns": 300_000_000}
    job = {"transfer": transfer, "mptcp": True, "sample_ns": 1_000_000}
    server = namespace.agent({**job, "listen": ["127.0.0.1", PORT]})
    connect = {"local": None, "remote": ["127.0.0.1", PORT]}
    client = namespace.agent({**job, "connect": connect, file: "/dev/full"})
    server.go()
    client.go()
    assert client.line() == {"error": "to write /dev/full: No space left on device"}
    assert client.status() == 1
    server.hang_up()
    server.status()


def test_the_congestion_control_asked_for(namespace: Loopback) -> None:
    job = {"transfer": BULK | {"size_bytes": 100_000}, "congestion_control": "reno"}
    for mptcp in (True, False):
        client, server = namespace.pair({**job, "mptcp": mptcp})
        assert client.first == server.first == {"ready": True, "congestion_control": "reno"}
        server.go()
        client.go()
        for end in (client.done(), server.done()):
            (subflow,) = end["sockets"][0]["subflows"]
            assert subflow["congestion_control"] == "reno"


def byte(position: int) -> int:
    return (position // 2 % 65_535).to_bytes(2, "big")[position % 2]


def test_the_pattern() -> None:
    chance = random.Random(1)
    for position in [
        0,
        1,
        131_068,
        131_069,
        131_070,
        *(chance.randrange(1 << 40) for _ in range(99)),
    ]:
        part = bytearray(connection.part(position, 300))
        assert part == bytes(byte(position + offset) for offset in range(300))
        flipped = chance.sample(range(300), chance.randrange(10))
        for offset in flipped:
            part[offset] ^= chance.randrange(1, 256)
        assert connection.corrupt_bytes(position, memoryview(part)) == len(flipped)
