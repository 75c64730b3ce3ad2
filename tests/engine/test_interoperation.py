"""Our endpoint at one end and Linux's at the other, over emulated links."""

from __future__ import annotations

import hashlib
import os
import subprocess
from itertools import pairwise
from statistics import median
from typing import Any

import polars as pl
import pytest

from contact import pattern
from engine.machines import Machine, began_s
from engine.meeting import DIRECTIONS, OURS, TWO_PATHS, delivered, meet, setting, shares, sockets
from mptcplab.results.run import Run
from mptcplab.scenario.scenario import load
from requirements import need_tool

# Linux joins no announced address unless it is told.
MESHED: dict[str, Any] = {
    "mptcp__path_manager": "full-mesh",
    "mptcp__max_subflows": 8,
    "mptcp__max_add_addr_accepted": 8,
}


@pytest.mark.parametrize("ours", OURS)
def test_two_subflows_on_every_machine(machine: Machine, ours: str) -> None:
    run = meet(machine, ours)
    assert delivered(run, "download") == 2_000_000
    assert run.connections["mptcp_version"].to_list() == [1]
    assert sorted(run.subflows["path"].to_list()) == ["lte", "wifi"]
    assert min(shares(run, "download").values()) > 100_000
    assert sockets(run, ours) == [{"mptcp": True, "most_subflows": 2}]


@pytest.mark.parametrize("congestion_control", ["lia", "olia"])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("ours", OURS)
def test_coupled_controllers_against_linux(
    host: Machine, ours: str, direction: str, congestion_control: str
) -> None:
    run = meet(
        host, ours, transfer__direction=direction, mptcp__congestion_control=congestion_control
    )
    assert delivered(run, direction) == 2_000_000
    assert min(shares(run, direction).values()) > 100_000


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("ours", OURS)
def test_four_subflows_over_ipv6_with_checksums(host: Machine, ours: str, direction: str) -> None:
    run = meet(
        host,
        ours,
        transfer__direction=direction,
        path__wifi__ip=6,
        path__lte__ip=6,
        server__addresses=2,
        mptcp__checksum="true",
        **MESHED,
    )
    assert delivered(run, direction) == 2_000_000
    assert sorted(run.subflows["path"].to_list()) == ["lte", "lte", "wifi", "wifi"]
    assert set(run.connections["checksums"].to_list()) <= {True}


@pytest.mark.parametrize("ours", OURS)
def test_a_joined_address_that_was_announced(host: Machine, ours: str) -> None:
    # One path alone: the second subflow can only go to the server's second address.
    run = meet(host, ours, server__addresses=2, path__lte__attached="false", **MESHED)
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
    is_later = pl.col("at_s") >= 1 - began_s(run)
    assert bins.filter(~is_later)["bytes"].sum() < 50_000
    assert bins.filter(is_later)["bytes"].sum() > 2_000_000


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("ours", OURS)
def test_what_arrives_is_what_was_sent(host: Machine, ours: str, direction: str) -> None:
    run = meet(host, ours, "--full-payload", transfer__direction=direction, path__wifi__loss="1 %")
    assert min(shares(run, direction).values()) > 100_000
    assert_pattern(run, direction, 2_000_000)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("ours", OURS)
def test_plain_tcp(host: Machine, ours: str, direction: str) -> None:
    plain = {"mptcp__enabled": "false", "path__wifi__loss": "1 %"}
    run = meet(host, ours, "--full-payload", transfer__direction=direction, **plain)
    assert run.connections["mptcp_version"].to_list() == [None]
    assert set(run.subflows["path"]) == {"wifi"}
    assert_pattern(run, direction, 2_000_000)


@pytest.mark.parametrize("ip", [4, 6])
@pytest.mark.parametrize("ours", OURS)
def test_both_agree_on_ecn_and_hear_marks(host: Machine, ours: str, ip: int) -> None:
    """Queues mark, neither end loses anything: each understands the other (RFC 3168)."""
    marks = {"queue": '{queue="fq-codel"}', "loss": "0 %", "ip": ip}
    paths: dict[str, Any] = {
        f"path__{name}__{key}": value for name in ("wifi", "lte") for key, value in marks.items()
    }
    run = meet(host, ours, transfer__size="6 MB", tcp__ecn="request", **paths)
    assert run.subflows["ecn"].to_list() == [True, True]
    down = run.flows.filter(direction="down")
    assert down["marked_packets"].sum() > 0
    assert down["lost_packets"].sum() == down["retransmitted_packets"].sum() == 0


@pytest.mark.parametrize("ours", OURS)
def test_windows_grow_by_two_segments_with_each(host: Machine, ours: str) -> None:
    """Linux's receiver and ours: rcv_ssthresh, which tcp_grow_window raises."""
    need_tool("tshark")
    path = {"delay": "25 ms", "loss": "0 %", "queue": "400 kB"}
    one = {f"path__wifi__{key}": value for key, value in path.items()}
    run = meet(host, ours, path__lte__attached="false", **one)
    fields = ["-T", "fields", "-e", "tcp.window_size"]
    acks = "ip.src == 10.0.1.2 && tcp.flags.syn == 0 && tcp.flags.fin == 0"
    done = subprocess.run(
        ["tshark", "-r", run.directory / "client.pcapng", "-Y", acks, *fields],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    windows = [int(window) for window in done.stdout.split()]
    assert windows[0] <= 65_535
    assert max(windows) > 4 * 65_535
    steps = [after - before for before, after in pairwise(windows) if after > before]
    assert len(steps) > 50
    # Ours counts what MPTCP's segments carry, Linux TCP's; windows are told in units of 128 bytes.
    assert 2 * 1420 - 128 <= median(steps) <= 2 * 1448 + 128


def assert_pattern(run: Run, direction: str, size: int) -> None:
    """The reader got all of it, and what came to it, as tshark reads its capture, is right."""
    assert delivered(run, direction) == size
    assert sha256(streamed(run, direction, size)) == sha256(pattern(size))


def sha256(stream: bytes | bytearray) -> str:
    return hashlib.sha256(stream).hexdigest()


def streamed(run: Run, direction: str, size: int) -> bytearray:
    """The stream that an end was sent, put together from its capture."""
    need_tool("tshark")
    reader, port = ("client", "srcport") if direction == "download" else ("server", "dstport")
    command = ["tshark", "-n", "-r", str(run.directory / f"{reader}.pcapng")]
    command += ["-Y", f"tcp.{port} == 8080 && tcp.len > 0", "-d", "tcp.port==8080,data"]
    fields = ["tcp.seq", "tcp.options.mptcp.subflowseqno", "mptcp.dss.dsn", "tcp.payload"]
    command += ["-T", "fields", *(word for field in fields for word in ("-e", field))]
    stream = bytearray(size)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as read:
        assert read.stdout
        for line in read.stdout:
            seq, *mapping, payload = line.rstrip("\n").split("\t")
            # All three count from 1. Without a mapping it is plain TCP, or the first data of a
            # client, which goes with MP_CAPABLE (RFC 8684 §3.1).
            subflow_seq, dsn = (int(number or 1) for number in mapping)
            part = bytes.fromhex(payload)
            # Once the lower half of the DSN wraps, tshark's relative one is too large by a
            # multiple of 2^32.
            offset = (dsn - 1) % 2**32 + int(seq) - subflow_seq
            stream[offset : offset + len(part)] = part
    assert read.returncode == 0
    return stream


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
    assert round(began_s(run) + max(starts), 6) >= 2.2


@pytest.mark.parametrize("ours", OURS)
def test_the_kernel_gives_up(host: Machine, ours: str) -> None:
    values = {f"{ours}__stack": "mptcplab", "transfer__size": "50 MB", "run__stop": "1 s"}
    arguments = ("--no-baselines", *setting(**values))
    (run,) = host.emulate(TWO_PATHS, *arguments, status=1).values()
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


def test_programs_need_linux_at_both_ends(host: Machine) -> None:
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


@pytest.mark.skipif(not LONG, reason="half a minute each: MPTCPLAB_LONG=1")
@pytest.mark.parametrize(("direction", "ip"), [("download", 4), ("upload", 6)])
@pytest.mark.parametrize("ours", OURS)
def test_100_mb_over_two_paths_with_loss(host: Machine, ours: str, direction: str, ip: int) -> None:
    run = meet(
        host,
        ours,
        "--full-payload",
        transfer__size="100 MB",
        transfer__direction=direction,
        path__wifi__rate="100 Mbit/s",
        path__lte__rate="50 Mbit/s",
        path__wifi__loss="0.01 %",
        path__lte__loss="0.01 %",
        path__wifi__ip=ip,
        path__lte__ip=ip,
    )
    assert min(shares(run, direction).values()) > 5_000_000
    assert_pattern(run, direction, 100_000_000)
