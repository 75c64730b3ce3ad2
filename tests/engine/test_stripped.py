"""Our endpoint and Linux's where a middlebox takes the options of MPTCP."""

from __future__ import annotations

import subprocess
from itertools import product

import pytest

from engine.machines import Machine
from engine.meeting import OURS, TWO_PATHS, delivered, meet, shares, sockets
from mptcplab.results.run import Run
from requirements import need_tool

DIRECTIONS = ["uplink", "downlink"]
ELEMENTS = '{ element = "rate", rate = "20 Mbit/s" }, { element = "delay", delay = "5 ms" }'
# What tshark finds fault with. The kernel writes a checksum of 0 as 0xffff, which is as good.
FAULTS = " || ".join(
    [
        "_ws.malformed",
        '(tcp.checksum.status == "Bad" && tcp.checksum != 0xffff)',
        'ip.checksum.status == "Bad"',
    ]
)


def stripping(direction: str, segments: str, path: str = "wifi") -> str:
    """The scenario with a path one way of which loses the MPTCP options of those segments."""
    begin = TWO_PATHS.index(f"[path.{path}]\n")
    short = TWO_PATHS[begin : TWO_PATHS.index("\n[", begin) + 1]
    strips = f'{{ element = "strip-options", segments = "{segments}" }}'
    lists = dict.fromkeys(DIRECTIONS, ELEMENTS) | {direction: f"{ELEMENTS}, {strips}"}
    home = "".join(f"{end} = [{elements}]\n" for end, elements in lists.items())
    return TWO_PATHS.replace(short, f'[link.home]\n{home}\n[path.{path}]\nlink = "home"\n\n')


# Where the options of data are lost on the way down alone, a Linux server (6.18) goes on with MPTCP
# although its data is acknowledged without DATA_ACK, against RFC 8684 §3.7, and sends it again as
# new data. It does so with a Linux client too.
LOSES = ("client", "downlink", "data")
STRIPPED = [
    case for case in product(OURS, DIRECTIONS, ("all", "syn", "syn-ack", "data")) if case != LOSES
]


@pytest.mark.parametrize(("ours", "direction", "segments"), STRIPPED)
def test_falling_back_where_options_are_stripped(
    host: Machine, ours: str, direction: str, segments: str
) -> None:
    scenario = stripping(direction, segments)
    run = meet(host, ours, "--full-payload", scenario=scenario, transfer__size="300 kB")
    assert delivered(run, "download") == 300_000
    hits = {"all", "data"} | ({"syn"} if direction == "uplink" else {"syn-ack"})
    assert [one["mptcp"] for one in sockets(run, ours)] == [segments not in hits]
    assert segments not in hits or shares(run, "download") == {"wifi": 300_000}
    assert faults(run) == ""


@pytest.mark.parametrize("segments", ["all", "data"])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("ours", OURS)
def test_a_join_whose_options_are_stripped_is_done_without(
    host: Machine, ours: str, direction: str, segments: str
) -> None:
    run = meet(host, ours, scenario=stripping(direction, segments, "lte"), transfer__size="300 kB")
    assert delivered(run, "download") == 300_000
    assert shares(run, "download").get("lte", 0) < 30_000


def faults(run: Run) -> str:
    """The packets that tshark finds fault with."""
    need_tool("tshark")
    checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
    found = ""
    for end in OURS:
        capture = run.directory / f"{end}.pcapng"
        command = ["tshark", "-n", *checks, "-d", "tcp.port==8080,data", "-r", str(capture)]
        done = subprocess.run([*command, "-Y", FAULTS], capture_output=True, text=True, check=True)
        found += done.stdout
    return found
