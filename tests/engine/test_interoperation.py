"""Our endpoint at one end and Linux's at the other, over emulated links."""

from __future__ import annotations

import hashlib
import os
import subprocess
from itertools import product
from typing import Any

import polars as pl
import pytest

from contact import pattern
from engine.machines import Machine, about
from mptcplab.results.run import Run
from mptcplab.scenario.scenario import load
from requirements import need_tool

TWO_PATHS = """\
schema = 1

[transfer]
direction = "download"
size = "2 MB"

[path.wifi]
rate = "20 Mbit/s"
delay = "5 ms"
loss = "0.2 %"
queue = "100 kB"

[path.lte]
rate = "10 Mbit/s"
delay = "15 ms"
loss = "0.2 %"
queue = "100 kB"

[run]
stop = "60 s"
sample = "50 ms"
"""
OURS = ["client", "server"]
WAYS = ["download", "upload"]
WAYS_OF_LINKS = ["uplink", "downlink"]
ELEMENTS = '{ element = "rate", rate = "20 Mbit/s" }, { element = "delay", delay = "5 ms" }'
# What tshark finds fault with. The kernel writes a checksum of 0 as 0xffff, which is as good.
FAULTS = " || ".join(
    [
        "_ws.malformed",
        '(tcp.checksum.status == "Bad" && tcp.checksum != 0xffff)',
        'ip.checksum.status == "Bad"',
    ]
)


def setting(**values: object) -> list[str]:
    """Settings for the command, of keys whose dots are written as two underscores."""
    return [
        word
        for key, value in values.items()
        for word in ("--set", f"{key.replace('__', '.')}={value}")
    ]


def meet(
    machine: Machine, ours: str, *more: str, scenario: str = TWO_PATHS, **values: object
) -> Run:
    """A run with our endpoint at that end; all arrives, and as it was sent."""
    values = {f"{ours}__stack": "mptcplab", **values}
    (run,) = machine.emulate(scenario, "--no-baselines", *more, *setting(**values)).values()
    assert run.outcome["finished"] is True, run.outcome
    assert run.outcome["corrupt_bytes"] == 0
    told = about(run)
    assert told["stacks"] == {end: "mptcplab" if end == ours else "kernel" for end in OURS}
    return run


def sockets(run: Run, end: str) -> list[dict[str, Any]]:
    """What an end says of its connections."""
    found: list[dict[str, Any]] = about(run)["kernel"]["sockets"][end]
    return found


def delivered(run: Run, way: str) -> int:
    """Bytes that the application got."""
    got: int = run.outcome["bytes_received"]["down" if way == "download" else "up"]
    return got


def shares(run: Run, way: str) -> dict[str, int]:
    """Bytes that each path carried."""
    flows = run.flows.filter(direction="down" if way == "download" else "up")
    joined = flows.join(run.subflows.select("subflow", "path"), on="subflow")
    return dict(joined.group_by("path").agg(pl.col("bytes").sum()).iter_rows())


@pytest.mark.parametrize("ours", OURS)
def test_two_subflows_on_every_machine(machine: Machine, ours: str) -> None:
    run = meet(machine, ours)
    assert delivered(run, "download") == 2_000_000
    assert run.connections["mptcp_version"].to_list() == [1]
    assert sorted(run.subflows["path"].to_list()) == ["lte", "wifi"]
    assert min(shares(run, "download").values()) > 100_000
    assert sockets(run, ours) == [{"mptcp": True, "most_subflows": 2}]


@pytest.mark.parametrize("congestion_control", ["lia", "olia"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ours", OURS)
def test_coupled_controllers_against_linux(
    host: Machine, ours: str, way: str, congestion_control: str
) -> None:
    run = meet(host, ours, transfer__direction=way, mptcp__congestion_control=congestion_control)
    assert delivered(run, way) == 2_000_000
    assert min(shares(run, way).values()) > 100_000


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ours", OURS)
def test_four_subflows_over_ipv6_with_checksums(host: Machine, ours: str, way: str) -> None:
    run = meet(
        host,
        ours,
        transfer__direction=way,
        path__wifi__ip=6,
        path__lte__ip=6,
        server__addresses=2,
        mptcp__checksum="true",
    )
    assert delivered(run, way) == 2_000_000
    assert sorted(run.subflows["path"].to_list()) == ["lte", "lte", "wifi", "wifi"]
    assert set(run.connections["checksums"].to_list()) <= {True}


@pytest.mark.parametrize("ours", OURS)
def test_a_joined_address_that_was_announced(host: Machine, ours: str) -> None:
    # One path alone: the second subflow can only go to the server's second address.
    run = meet(host, ours, server__addresses=2, path__lte__attached="false")
    assert run.subflows["server_address"].n_unique() == 2
    assert set(run.subflows["path"]) == {"wifi"}


@pytest.mark.parametrize("gone", ["blackout", "detach"])
@pytest.mark.parametrize("ours", OURS)
def test_a_backup_waits_until_the_other_path_is_gone(host: Machine, ours: str, gone: str) -> None:
    event = f'\n[[timeline]]\nat = "1 s"\npath = "wifi"\nverb = "{gone}"\n'
    run = meet(
        host, ours, scenario=TWO_PATHS + event, path__lte__backup="true", transfer__size="6 MB"
    )
    lte = run.subflows.filter(path="lte")["subflow"].to_list()
    assert True in run.subflows.filter(path="lte")["backup"].to_list()
    bins = run.throughput.filter(pl.col("subflow").is_in(lte) & (pl.col("direction") == "down"))
    assert bins.filter(pl.col("at_s") < 1)["bytes"].sum() < 50_000
    assert bins.filter(pl.col("at_s") >= 1)["bytes"].sum() > 2_000_000


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ours", OURS)
def test_what_arrives_is_what_was_sent(host: Machine, ours: str, way: str) -> None:
    # One path: bytes are in the capture of the end that reads them in their order, but for those
    # that came twice.
    plain = {"mptcp__enabled": "false", "path__wifi__loss": "1 %", "transfer__size": "1 MB"}
    settings = plain | {"transfer__direction": way, f"{ours}__stack": "mptcplab"}
    words = setting(**settings)
    (run,) = host.emulate(TWO_PATHS, "--no-baselines", "--full-payload", *words).values()
    reader, port = ("client", "srcport") if way == "download" else ("server", "dstport")
    stream = hashlib.sha256(streamed(run, reader, port)).hexdigest()
    assert stream == hashlib.sha256(pattern(1_000_000)).hexdigest()


def streamed(run: Run, reader: str, port: str) -> bytes:
    """The stream that an end was sent, put together from its capture."""
    need_tool("tshark")
    capture = run.directory / f"{reader}.pcapng"
    which = ["-Y", f"tcp.{port} == 8080 && tcp.len > 0", "-d", "tcp.port==8080,data"]
    fields = ["-T", "fields", "-e", "tcp.seq", "-e", "tcp.payload"]
    command = ["tshark", "-n", "-r", str(capture), *which, *fields]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    stream = bytearray(1_000_000)
    for line in done.stdout.splitlines():
        seq, _, payload = line.partition("\t")
        part = bytes.fromhex(payload)
        stream[int(seq) - 1 : int(seq) - 1 + len(part)] = part
    return bytes(stream)


@pytest.mark.parametrize("ours", OURS)
def test_plain_tcp(host: Machine, ours: str) -> None:
    run = meet(host, ours, mptcp__enabled="false")
    assert run.connections["mptcp_version"].to_list() == [None]
    assert set(run.subflows["path"]) == {"wifi"}


@pytest.mark.parametrize("ours", OURS)
def test_baselines(host: Machine, ours: str) -> None:
    runs = host.emulate(TWO_PATHS, *setting(**{f"{ours}__stack": "mptcplab"}))
    assert sorted(runs) == ["mptcp", "tcp-lte", "tcp-wifi"]
    for name in ("lte", "wifi"):
        run = runs[f"tcp-{name}"]
        assert run.outcome["finished"] is True, run.outcome
        assert set(run.subflows["path"]) == {name}


@pytest.mark.parametrize("ours", OURS)
def test_requests_and_responses(host: Machine, ours: str) -> None:
    said = 'application = "request-response"\nrequest = "1 kB"\nresponse = "50 kB"\nrequests = 5'
    run = meet(host, ours, scenario=TWO_PATHS.replace('size = "2 MB"', said))
    assert run.outcome["bytes_received"] == {"up": 5_000, "down": 250_000}


@pytest.mark.parametrize("ours", OURS)
def test_a_path_that_goes_and_comes(host: Machine, ours: str) -> None:
    events = (
        '\n[[timeline]]\nat = "1 s"\npath = "wifi"\nverb = "detach"\n'
        '\n[[timeline]]\nat = "2 s"\npath = "wifi"\nverb = "attach"\ntakes = "200 ms"\n'
    )
    run = meet(host, ours, scenario=TWO_PATHS + events, transfer__size="8 MB")
    starts = run.subflows.filter(path="wifi")["start_s"].to_list()
    assert len(starts) == 2
    assert max(starts) > 2


def stripping(way: str, segments: str, path: str = "wifi") -> str:
    """The scenario with a path one way of which loses the MPTCP options of those segments."""
    begin = TWO_PATHS.index(f"[path.{path}]\n")
    short = TWO_PATHS[begin : TWO_PATHS.index("\n[", begin) + 1]
    strips = f'{{ element = "strip-options", segments = "{segments}" }}'
    lists = dict.fromkeys(WAYS_OF_LINKS, ELEMENTS) | {way: f"{ELEMENTS}, {strips}"}
    home = "".join(f"{end} = [{elements}]\n" for end, elements in lists.items())
    return TWO_PATHS.replace(short, f'[link.home]\n{home}\n[path.{path}]\nlink = "home"\n\n')


# Where the options of data are lost on the way down alone, a Linux server (6.18) goes on with MPTCP
# although its data is acknowledged without DATA_ACK, against RFC 8684 §3.7, and sends it again as
# new data. It does so with a Linux client too.
LOSES = ("client", "downlink", "data")
STRIPPED = [
    case
    for case in product(OURS, WAYS_OF_LINKS, ("all", "syn", "syn-ack", "data"))
    if case != LOSES
]


@pytest.mark.parametrize(("ours", "way", "segments"), STRIPPED)
def test_falling_back_where_options_are_stripped(
    host: Machine, ours: str, way: str, segments: str
) -> None:
    scenario = stripping(way, segments)
    run = meet(host, ours, "--full-payload", scenario=scenario, transfer__size="300 kB")
    assert delivered(run, "download") == 300_000
    hits = {"all", "data"} | ({"syn"} if way == "uplink" else {"syn-ack"})
    assert (shares(run, "download").get("lte", 0) == 0) is (segments in hits)
    assert faults(run) == ""


@pytest.mark.parametrize("segments", ["all", "data"])
@pytest.mark.parametrize("way", WAYS_OF_LINKS)
@pytest.mark.parametrize("ours", OURS)
def test_a_join_whose_options_are_stripped_is_done_without(
    host: Machine, ours: str, way: str, segments: str
) -> None:
    run = meet(host, ours, scenario=stripping(way, segments, "lte"), transfer__size="300 kB")
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


@pytest.mark.parametrize("ours", OURS)
def test_the_kernel_gives_up(host: Machine, ours: str) -> None:
    values = {f"{ours}__stack": "mptcplab", "transfer__size": "50 MB", "run__stop": "1 s"}
    (run,) = host.emulate(TWO_PATHS, "--no-baselines", *setting(**values)).values()
    assert run.outcome["finished"] is False
    assert run.outcome["reason"].startswith("stopped after 1 s: ")
    assert run.connections["ended"].to_list() == ["fastclose"]


def test_linux_has_its_own_where_only_we_have_a_policy() -> None:
    paths = {"wifi": {"rate": "1 Mbit/s", "delay": "1 ms"}}
    given = {"schema": 1, "transfer": {"size": "1 MB", "direction": "download"}, "path": paths}
    policies = {"congestion_control": "olia", "scheduler": "lowest-rtt"}
    _, shared = load({**given, "mptcp": policies, "server": {"stack": "mptcplab"}})
    assert (shared.kernel.congestion_control, shared.kernel.scheduler) == ("cubic", "default")
    assert shared.kernel.tcp_congestion_control == "cubic"
    assert shared.mptcp.congestion_control == "olia"
    _, alike = load(
        {**given, "mptcp": {"congestion_control": "reno"}, "client": {"stack": "mptcplab"}}
    )
    assert alike.kernel.congestion_control == "reno"
    # Two Linuxes have what they are told, or are refused.
    _, both = load({**given, "mptcp": policies})
    assert both.kernel.congestion_control == "olia"


def test_what_linux_cannot_have_is_our_ends_alone(host: Machine) -> None:
    cannot: dict[str, Any] = {
        "mptcp__penalisation": "true",
        "tcp__pacing": "true",
        "mptcp__max_subflows": 20,
    }
    meet(host, "server", transfer__size="100 kB", **cannot)
    file = host.write(TWO_PATHS)
    done = host.run("run", file, "--engine", "kernel", *setting(**cannot))
    assert done.returncode == 2
    assert "Linux cannot have" in done.stderr


def test_guests_need_linux_at_both_ends(host: Machine) -> None:
    file = host.write(TWO_PATHS)
    done = host.run("shell", file, *setting(server__stack="mptcplab"), "--", "true")
    assert done.returncode == 2
    assert "[server] stack: programs need Linux's at both ends" in done.stderr


def test_two_of_ours_are_a_simulation(host: Machine) -> None:
    file = host.write(TWO_PATHS)
    both = setting(client__stack="mptcplab", server__stack="mptcplab")
    done = host.run("run", file, "--engine", "kernel", *both)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "--engine simulation" in done.stderr


LONG = os.environ.get("MPTCPLAB_REQUIRE") == "all" or "MPTCPLAB_LONG" in os.environ


@pytest.mark.skipif(not LONG, reason="ten seconds each: MPTCPLAB_LONG=1")
@pytest.mark.parametrize("ip", [4, 6])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ours", OURS)
def test_100_mb_over_two_paths_with_loss(host: Machine, ours: str, way: str, ip: int) -> None:
    run = meet(
        host,
        ours,
        "--no-captures",
        transfer__size="100 MB",
        transfer__direction=way,
        path__wifi__rate="100 Mbit/s",
        path__lte__rate="50 Mbit/s",
        path__wifi__loss="0.01 %",
        path__lte__loss="0.01 %",
        path__wifi__ip=ip,
        path__lte__ip=ip,
    )
    assert delivered(run, way) == 100_000_000
    assert min(shares(run, way).values()) > 5_000_000
