"""Scenarios with this machine's kernel, on every kind of machine: what comes of them."""

from __future__ import annotations

import json
import subprocess

import polars as pl
import pytest

from engine.machines import Machine, about
from engine.two_paths import two_paths
from mptcplab import _core
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load

TWO_PATHS = two_paths(run='stop = "20 s"\nsample = "20 ms"')
RUN = {"scenario.toml", "run.json", "client.pcapng", "server.pcapng", "tables"}


def test_what_one_may_not_look_at_is_told_so(machine: Machine) -> None:
    locked = machine.directory / "locked"
    locked.mkdir()
    locked.chmod(0)
    file = machine.write(TWO_PATHS)
    for arguments, message in [
        (["run", locked / "mine.toml"], "Permission denied"),
        (["run", file, "--out", locked / "out"], f"cannot read {locked}"),
    ]:
        done = machine.run(*arguments)
        if machine.kind.startswith("root"):
            # Whom no permission holds back.
            assert "ermission" not in done.stderr
        else:
            assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
            assert message in done.stderr
            assert "standard output" not in done.stderr
    # For whoever clears away.
    locked.chmod(0o700)


def test_a_download_over_two_paths(machine: Machine) -> None:
    (run,) = machine.emulate(TWO_PATHS, "--no-baselines").values()
    assert {path.name for path in run.directory.iterdir()} == RUN
    record = about(run)
    assert record["engine"] == "kernel"
    assert record["outcome"]["finished"] is True, record["outcome"]
    assert record["outcome"]["bytes_received"] == {"up": 0, "down": 1_000_000}
    assert record["kernel"]["devices"] == machine.devices
    assert record["kernel"]["sysctls"]["net.ipv4.tcp_congestion_control"] == "reno"
    used = {
        (subflow["local"][0], subflow["congestion_control"])
        for socket in record["kernel"]["sockets"]["client"]
        for subflow in socket["subflows"]
    }
    assert used == {("10.0.1.2", "reno"), ("10.0.2.2", "reno")}
    # What the captures show.
    assert sorted(run.subflows["path"].to_list()) == ["lte", "wifi"]
    assert run.transfers.filter(direction="down")["bytes"].to_list() == [1_000_000]
    down = run.flows.filter(direction="down")
    assert down["bytes"].min() > 50_000  # type: ignore[operator]
    rtt = dict(down.join(run.subflows, on="subflow").select("path", "rtt_ms_min").iter_rows())
    assert 10 <= rtt["wifi"] < 40
    assert 30 <= rtt["lte"] < 60
    assert run.diagnostics.filter(pl.col("diagnostic").str.contains("clock|dropped")).is_empty()
    # What the kernel says.
    assert set(run.state["host"]) == {"client", "server"}
    assert run.state.filter(host="server")["cwnd_packets"].max() >= 10  # type: ignore[operator]
    assert run._frame("signals").height > 0
    assert run._frame("counters").height > 0


@pytest.mark.parametrize("transfer", ["request-response", "constant-bit-rate"])
def test_applications(host: Machine, transfer: str) -> None:
    sections = {
        "request-response": 'request = "1 kB"\nresponse = "50 kB"\nrequests = 5\nthink = "10 ms"',
        "constant-bit-rate": 'rate = "4 Mbit/s"\nduration = "1 s"',
    }
    said = f'application = "{transfer}"\n{sections[transfer]}'
    scenario = TWO_PATHS.replace('size = "1 MB"', said).replace("download", "upload")
    (run,) = host.emulate(scenario, "--no-baselines").values()
    assert run.outcome["finished"] is True, run.outcome
    expected = {"request-response": (250_000, 5_000), "constant-bit-rate": (500_000, 0)}
    assert tuple(run.outcome["bytes_received"].values()) == expected[transfer]


# Linux joins no announced address unless it is told.
MESHED = ("mptcp.path_manager=full-mesh", "mptcp.max_subflows=8", "mptcp.max_add_addr_accepted=8")


def test_four_subflows_over_ipv6(machine: Machine) -> None:
    scenario = TWO_PATHS.replace("[kernel]", "[server]\naddresses = 2\n\n[kernel]")
    settings = ("path.wifi.ip=6", "path.lte.ip=6", "transfer.size=3 MB", *MESHED)
    said = [word for setting in settings for word in ("--set", setting)]
    (run,) = machine.emulate(scenario, "--no-baselines", *said).values()
    assert run.outcome["finished"] is True, run.outcome
    assert sorted(run.subflows["path"].to_list()) == ["lte", "lte", "wifi", "wifi"]
    assert set(run.subflows["server_address"]) == {"fd00:9:0::1", "fd00:9:1::1"} or set(
        run.subflows["server_address"]
    ) == {"fd00:9::1", "fd00:9:1::1"}


def test_paths_may_be_named_as_ip_names_what_it_is_told(machine: Machine) -> None:
    names = ("a", "up", "dev", "src", "mtu")
    path = '[path.{}]\nrate = "10 Mbit/s"\ndelay = "5 ms"\n'
    event = '[[timeline]]\nat = "{}"\npath = "{}"\nverb = "{}"\n'
    changes = [
        event.format(at, name, verb)
        for name in names[1:]
        for at, verb in (("200 ms", "detach"), ("300 ms", "attach"))
    ]
    scenario = "\n".join(
        [
            'schema = 1\n[transfer]\ndirection = "download"\nsize = "3 MB"\n',
            *map(path.format, names),
            *changes,
        ]
    )
    (run,) = machine.emulate(scenario, "--no-baselines").values()
    assert run.outcome["finished"] is True, run.outcome
    assert set(run.subflows["path"]) == set(names)


def test_baselines_and_runs_that_are_there(machine: Machine) -> None:
    runs = machine.emulate(TWO_PATHS, "--no-captures")
    assert sorted(runs) == ["mptcp", "tcp-lte", "tcp-wifi"]
    assert runs["tcp-lte"].connections["mptcp_version"].to_list() == [None]
    assert runs["tcp-lte"].subflows["path"].to_list() == ["lte"]
    assert 5 < (runs["tcp-lte"].throughput_mbps or 0) < 10
    for run in runs.values():
        assert {path.name for path in run.directory.iterdir()} == RUN - {
            "client.pcapng",
            "server.pcapng",
        }
    file, out = machine.directory / "scenario.toml", machine.directory / "scenario"
    again = machine.run("run", file, "--engine", "kernel", "--out", out, "--no-captures")
    assert "3 runs kept from before" in again.stderr
    other = machine.run("run", file, "--out", out, "--no-captures")
    assert other.returncode == 2
    assert "its engine differs" in other.stderr


def test_payload_and_links_are_written_down_on_request(host: Machine) -> None:
    settings = ("--set", "transfer.size=100 kB", "--set", "kernel.link_log=true")
    (run,) = host.emulate(TWO_PATHS, *settings, "--full-payload", "--no-baselines").values()
    assert (run.directory / "server.pcapng").stat().st_size > 100_000
    links = pl.read_csv(run.directory / "links.csv")
    arrived = links.filter(event="arrival", link="wifi", direction="down").height
    assert arrived == about(run)["emulator"]["links"]["wifi"]["down"]["packets"] > 20


PROGRAM = """
import mptcplab
run = mptcplab.run("scenario.toml", engine="kernel", baselines=False).mptcp
print(run.outcome["finished"], run.subflows.height)
"""


def test_python_gives_the_same(host: Machine) -> None:
    host.write(TWO_PATHS)
    arguments = host.python("-c", PROGRAM)
    done = subprocess.run(
        arguments, cwd=host.directory, capture_output=True, text=True, check=False
    )
    assert done.stdout == "True 2\n", done.stderr


def test_json_names_the_engine(host: Machine) -> None:
    file = host.write(TWO_PATHS)
    done = host.run("run", file, "--engine", "kernel", "--no-baselines", "--json")
    assert json.loads(done.stdout)["runs"]["mptcp"]["about"]["engine"] == "kernel"
    (directory,) = (host.directory / "runs").iterdir()
    assert directory.name.startswith("scenario-")
    assert "-kernel-" in directory.name


def test_comparing_shows_the_policies_in_use_whoever_named_them(host: Machine) -> None:
    import mptcplab

    unsaid = TWO_PATHS.replace('congestion_control = "reno"', "")
    (run,) = host.emulate(unsaid, "--no-baselines").values()
    for settings, used in (
        # Today's Linux in both.
        ([], {}),
        (
            ["mptcp.congestion_control=lia", "mptcp.scheduler=lowest-rtt"],
            {"congestion_control": ("lia", "cubic-linux"), "scheduler": ("lowest-rtt", "linux")},
        ),
    ):
        simulated = mptcplab.run(host.write(unsaid), settings=settings, baselines=False)
        found = mptcplab.compare(simulated, run).configuration or []
        assert {one.key: (one.a, one.b) for one in found if one.section == "used"} == used


def test_captures_are_in_order_of_time(machine: Machine) -> None:
    # Packets follow one another closely enough for the emulator to rest.
    fast = TWO_PATHS.replace('"20 Mbit/s"\ndelay = "5 ms"', '"50 Mbit/s"\ndelay = "20 ms"')
    fast = fast.replace('"10 Mbit/s"\ndelay = "15 ms"', '"40 Mbit/s"\ndelay = "40 ms"')
    larger = fast.replace('"1 MB"', '"8 MB"').replace('"60 kB"', '"300 kB"')
    (run,) = machine.emulate(larger, "--no-baselines").values()
    late = run.diagnostics.filter(pl.col("diagnostic").is_in(["reordered", "not_reordered"]))
    assert late.is_empty(), late


VIDEO = """\
application = "video"
duration = "16 s"
segment = "2 s"
bitrates = 3
buffer = "12 s"
"""
CALL = """\
application = "constant-bit-rate"
rate = "64 kbit/s"
message = "160 B"
duration = "3 s"
deadline = "150 ms"
codec = "g711"
"""


def test_quality_is_that_of_simulations(host: Machine) -> None:
    for name, transfer, served in [
        ("video", VIDEO, ["video_segments", "stalls", "video_mbps_mean", "bitrate_switches"]),
        ("call", CALL, ["messages", "deadline_ms"]),
    ]:
        scenario = TWO_PATHS.replace('size = "1 MB"', transfer)
        (run,) = host.emulate(scenario, "--no-baselines", name=name).values()
        assert run.outcome["finished"] is True, run.outcome
        (kernel,) = run.transfers.filter(direction="down").iter_rows(named=True)
        file = host.write(scenario, name)
        simulated = _core.simulate(plan(load(str(file))[1], 1))
        (row,) = [row for row in simulated.rows("transfers") if row["direction"] == "down"]
        assert {key: kernel[key] for key in served} == {key: row[key] for key in served}
        if name == "call":
            assert row["late_share"] == 0
            # A machine that is busy is late, but not half of the time.
            assert kernel["late_share"] < 0.5
            assert kernel["mos"] <= row["mos"]
            # The path that takes 5 ms has all of them.
            assert 5 <= row["message_delay_ms_median"] < 7
            assert 5 <= kernel["message_delay_ms_median"] < 15
        else:
            # A handshake and a request of 10 ms each, and 125 kB at 30 Mbit/s.
            assert min(kernel["startup_ms"], row["startup_ms"]) > 53
