"""What happens to paths while Linux uses them, and who else is on their links."""

from __future__ import annotations

import polars as pl
import pytest

from engine.machines import Machine, about, began_s
from engine.two_paths import two_paths
from mptcplab.results.run import Run

PATHS = two_paths('duration = "3 s"', 'stop = "15 s"\nsample = "50 ms"')


def event(at: str, path: str, verb: str, more: str = "") -> str:
    return f'[[timeline]]\nat = "{at}"\npath = "{path}"\nverb = "{verb}"\n{more}\n'


def emulate(machine: Machine, *events: str, more: tuple[str, ...] = ()) -> Run:
    (run,) = machine.emulate(PATHS + "\n".join(events), "--no-baselines", *more).values()
    assert run.outcome["finished"] is True, run.outcome
    return run


def received(run: Run, path: str, since: float, until: float) -> float:
    """Megabytes that a path brought in that time of the timeline, by bins of the analysis."""
    began = began_s(run)
    numbers = run.subflows.filter(path=path)["subflow"].implode()
    bins = run.throughput.filter(
        pl.col("subflow").is_in(numbers)
        & (pl.col("direction") == "down")
        & (pl.col("at_s") >= since - began)
        & (pl.col("at_s") < until - began)
    )
    return float(bins["bytes"].sum()) / 1e6


def test_a_detached_path_is_told_of_and_comes_again(machine: Machine) -> None:
    events = event("1 s", "wifi", "detach"), event("1.5 s", "wifi", "attach", 'takes = "500 ms"')
    run = emulate(machine, *events, more=("--set", "transfer.duration=4 s"))
    wifi = run.subflows.filter(path="wifi")
    # The one that opened the connection, and another after it.
    assert wifi.height == 2
    assert round(began_s(run) + max(wifi["start_s"]), 6) >= 2
    assert "removed" in run._frame("signals").filter(host="server")["signal"].to_list()
    assert about(run)["kernel"]["paths"]["wifi"]["detach"] == [
        "link set dev wifi down",
        "mptcp endpoint delete id 1",
        "address flush dev wifi",
    ]


def test_a_blackout_is_noticed_by_time_outs_alone(host: Machine) -> None:
    run = emulate(host, event("1 s", "wifi", "blackout"), event("2 s", "wifi", "restore"))
    assert run.subflows.height == 2
    assert received(run, "wifi", 0, 1) > 0.4
    # What was in the link when it went dark has come after some milliseconds.
    assert received(run, "wifi", 1.2, 2) == 0
    assert received(run, "lte", 1, 2) > 0.2
    assert run.state.filter(host="server")["backoffs"].max() >= 1  # type: ignore[operator]


def test_what_is_held_comes_later(host: Machine) -> None:
    settings = ("--set", "transfer.duration=2 s")
    events = event("0.5 s", "lte", "hold"), event("1 s", "lte", "restore")
    run = emulate(host, *events, more=settings)
    assert run.reordering["out_of_order_delay_ms"].max() > 400  # type: ignore[operator]


def test_a_translator_forgets(host: Machine) -> None:
    run = emulate(host, event("1 s", "lte", "rebind"))
    # To the server it is somebody else, whom nobody knows: the path is lost, the transfer not.
    assert run.outcome["bytes_received"]["down"] > 4_000_000


def test_a_link_becomes_another(host: Machine) -> None:
    profile = 'uplink = [{ element = "rate", rate = "1 Mbit/s" }]\n'
    profile += 'downlink = [{ element = "rate", rate = "1 Mbit/s" }]'
    run = emulate(host, event("1 s", "wifi", "profile", profile))
    assert received(run, "wifi", 0, 1) > 0.4
    assert received(run, "wifi", 2, 3) < 0.2


def test_a_path_that_comes_late_joins(host: Machine) -> None:
    settings = ("--set", "path.lte.attached=false", "--set", "transfer.duration=2 s")
    run = emulate(host, event("500 ms", "lte", "attach", 'takes = "200 ms"'), more=settings)
    (joined,) = run.subflows.filter(path="lte")["start_s"].to_list()
    assert round(began_s(run) + joined, 6) >= 0.7


def test_a_backup_waits(host: Machine) -> None:
    settings = ("--set", "path.lte.backup=true", "--set", "transfer.duration=2 s")
    run = emulate(host, more=settings)
    assert run.subflows.filter(path="lte")["backup"].to_list() == [True]
    assert received(run, "lte", 0, 3) < 0.01


def test_a_run_is_stopped_in_time_and_says_who_waited(host: Machine) -> None:
    scenario = PATHS + event("0.5 s", "wifi", "blackout") + event("0.5 s", "lte", "blackout")
    settings = ("--set", "transfer.size=30 MB", "--set", "run.stop=2 s", "--no-baselines")
    (run,) = host.emulate(scenario, *settings, status=1).values()
    assert run.outcome["finished"] is False
    assert run.outcome["reason"].startswith("stopped after 2 s: the client ")
    assert run.outcome["elapsed_ns"] >= 2 * 10**9


@pytest.mark.parametrize("verb", ["blackout", "detach", "hold"])
def test_a_run_ends_soon_where_no_path_comes_back(host: Machine, verb: str) -> None:
    scenario = PATHS + event("0.4 s", "wifi", verb) + event("0.5 s", "lte", verb)
    (run,) = host.emulate(scenario, "--no-baselines", status=1).values()
    assert run.outcome["finished"] is False
    reason = run.outcome["reason"]
    assert reason.startswith("nothing more can happen: no path from 0.5 s on: the client ")
    assert run.outcome["elapsed_ns"] >= 5.5 * 10**9


@pytest.mark.parametrize("kind", ["tcp", "udp"])
def test_cross_traffic(machine: Machine, kind: str) -> None:
    more = {
        "tcp": 'flows = 2\ncongestion_control = "cubic"',
        "udp": 'rate = "8 Mbit/s"\npacket = "1000 B"',
    }
    traffic = f'[[cross_traffic]]\nkind = "{kind}"\nlink = "wifi"\nname = "near"\n{more[kind]}\n'
    run = emulate(machine, traffic, 'start = "0.5 s"\nstop = "2.5 s"\n')
    (near,) = run.outcome["cross_traffic"]
    assert near["active_s"] == 2
    assert 1.0e6 < near["bytes"] < 4.8e6
    # It is on the link and not in the captures.
    assert run.connections.height == 1
    assert about(run)["emulator"]["links"]["wifi"]["down"]["bytes"] > near["bytes"]
    used = [
        subflow["congestion_control"]
        for socket in about(run)["kernel"]["sockets"]["neighbour near"]
        for subflow in socket["subflows"]
    ]
    assert used == (["cubic"] * 2 if kind == "tcp" else [])
