"""What a proxy in the path looks like from its ends, and with the probe for split connections."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import pytest

import mptcplab
from mptcplab.charts.run.subject import Subject
from mptcplab.results.run import Run
from oracles import simulated

Row = dict[str, Any]
PROXY = {"element": "proxy"}
BEHIND = {"element": "delay", "delay": "40 ms"}
HOLD_MS = 300
ROOT = pathlib.Path(__file__).parents[2]


def measured(scenario: Row, directory: pathlib.Path) -> Run:
    made = {name: value for name, value in scenario.items() if value or name == "schema"}
    return mptcplab.run(made, out=directory, baselines=False, captures="full").mptcp


def one_path(direction: str, *boxes: Row) -> Row:
    scenario = simulated.base()
    del scenario["path"]["lte"]
    scenario["path"]["wifi"] = {"rate": "12 Mbit/s", "delay": "8 ms", "middleboxes": list(boxes)}
    scenario["transfer"]["direction"] = direction
    return scenario


def remarks(run: Run) -> set[str]:
    return set(run.diagnostics["diagnostic"])


@pytest.mark.parametrize("direction", ["download", "upload"])
def test_a_split_connection_is_told_by_both_ends(direction: str, tmp_path: pathlib.Path) -> None:
    run = measured(one_path(direction, PROXY, BEHIND), tmp_path / "run")
    assert run.outcome["finished"]
    # RFC 8684 section 3.7: without the option in the SYN/ACK it is plain TCP, at either end.
    assert run.connections["mptcp_version"].to_list() == [None, None]
    assert run.connections["vantage"].to_list() == ["client", "server"]
    assert "split_connection" in remarks(run)
    assert "server_unaware" not in remarks(run)
    # The captures alone say so, too; one alone does not.
    captures = [run.directory / f"{end}.pcapng" for end in ("client", "server")]
    assert "split_connection" in set(mptcplab.analyze(captures).diagnostics["diagnostic"])
    for capture in captures:
        alone = set(mptcplab.analyze(capture).diagnostics["diagnostic"])
        assert "split_connection" not in alone
    # The client's handshake ends at the proxy: 16 ms there and back, and 80 ms more to the server.
    (handshake_ms, _) = run.subflows["handshake_rtt_ms"]
    assert 16 <= handshake_ms < 20
    sender, flow_direction, leg_ms = {"download": (1, "down", 80), "upload": (0, "up", 17)}[
        direction
    ]
    (rtt_ms,) = run.flows.filter(direction=flow_direction, connection=sender)["rtt_ms_min"]
    assert rtt_ms == pytest.approx(leg_ms, abs=3)


def test_without_a_proxy_nothing_is_split(tmp_path: pathlib.Path) -> None:
    run = measured(one_path("download", BEHIND), tmp_path / "run")
    assert run.outcome["finished"]
    assert not remarks(run) & {"split_connection", "server_unaware", "acknowledged_early"}
    assert run.connections["mptcp_version"].to_list() == [1]


@pytest.mark.parametrize("split", [False, True])
def test_the_probe_tells_who_acknowledges(split: bool, tmp_path: pathlib.Path) -> None:
    """The sender is the client; the server's ACKs are held on their way to where a proxy may be."""
    probe = {"element": "ack-delay", "delay": f"{HOLD_MS} ms"}
    boxes = [PROXY] if split else []
    run = measured(one_path("upload", *boxes, probe, BEHIND), tmp_path / "run")
    assert run.outcome["finished"]
    assert ("acknowledged_early" in remarks(run)) == split
    # The sender's capture alone shows it.
    alone = mptcplab.analyze(run.directory / "client.pcapng")
    (median_ms,) = alone.flows.filter(direction="up")["rtt_ms_median"]
    assert (median_ms > HOLD_MS) != split


def test_the_probe_tells_of_a_download_too(tmp_path: pathlib.Path) -> None:
    """The client's ACKs are held before the proxy, which answers the server in their place."""
    probe = {"element": "ack-delay", "delay": f"{HOLD_MS} ms"}
    split = measured(one_path("download", probe, PROXY, BEHIND), tmp_path / "split")
    assert "acknowledged_early" in remarks(split)
    # The server's round trips are those of its own leg, 2 · 40 ms.
    alone = mptcplab.analyze(split.directory / "server.pcapng")
    (median_ms,) = alone.flows.filter(direction="down")["rtt_ms_median"]
    assert median_ms == pytest.approx(80, abs=3)
    whole = measured(one_path("download", probe, BEHIND), tmp_path / "whole")
    assert "acknowledged_early" not in remarks(whole)


def test_the_probe_of_the_documentation_runs(tmp_path: pathlib.Path) -> None:
    text = (ROOT / "docs" / "middleboxes.md").read_text()
    (probe,) = [
        block
        for block in re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
        if "schema" in block and 'proxy" }' in block
    ]
    split, whole = tmp_path / "split.toml", tmp_path / "whole.toml"
    split.write_text(probe)
    whole.write_text("".join(line for line in probe.splitlines(True) if 'proxy" }' not in line))
    assert whole.read_text() != probe
    for file in (split, whole):
        run = mptcplab.run(file, out=tmp_path / file.stem, baselines=False).mptcp
        assert ("acknowledged_early" in remarks(run)) == (file == split)


def test_throughput_is_what_the_receiver_got(tmp_path: pathlib.Path) -> None:
    """A narrow leg behind the proxy holds an upload back, whatever the client was told arrived."""
    slow = {"element": "rate", "rate": "2 Mbit/s"}
    comparison = mptcplab.run(
        {"schema": 1} | one_path("upload", PROXY, slow, BEHIND), out=tmp_path / "runs"
    )
    for run in comparison.runs:
        assert run.throughput_mbps is not None
        assert run.throughput_mbps < 2
        assert run.transfer is not None
        (vantage,) = run.connections.filter(connection=run.transfer["connection"])["vantage"]
        assert vantage == "server"
    moved = Subject.of(comparison).transfer["throughput_mbps"]
    assert moved == comparison.mptcp.throughput_mbps


@pytest.mark.parametrize("application", ["bulk", "request-response"])
def test_a_cache_answers_at_its_own_distance(application: str, tmp_path: pathlib.Path) -> None:
    runs = []
    for cached in (False, True):
        scenario = one_path("download", PROXY | {"cached": cached}, BEHIND)
        if application == "request-response":
            scenario["transfer"] = simulated.scenario("requests")["transfer"]
        runs.append(measured(scenario, tmp_path / str(cached)))
    fetched, cached_run = runs
    assert fetched.outcome["finished"]
    assert cached_run.outcome["finished"]
    took = [run.transfers.filter(direction="down", connection=0) for run in runs]
    assert took[0]["bytes"].to_list() == took[1]["bytes"].to_list()
    assert took[1]["elapsed_s"][0] < took[0]["elapsed_s"][0]
    assert "server_unaware" in remarks(cached_run)
    assert "split_connection" not in remarks(cached_run)


def test_a_cache_that_learns_says_what_it_answered(tmp_path: pathlib.Path) -> None:
    scenario = one_path("download", PROXY | {"caches": True}, BEHIND)
    scenario["transfer"] = simulated.scenario("requests")["transfer"]
    run = measured(scenario, tmp_path / "run")
    assert run.outcome["finished"]
    transfer = scenario["transfer"]
    answered = run.diagnostics.filter(diagnostic="cache_answered")
    (came,) = run.transfers.filter(direction="down", connection=0)["bytes"]
    (sent,) = run.transfers.filter(direction="down", connection=1)["bytes"]
    # One answer of all is a miss, the others are hits.
    assert came == transfer["requests"] * sent
    assert answered["count"].to_list() == [came - sent]
    assert "split_connection" in remarks(run)


def test_boxes_that_keep_the_ends_of_plain_tcp_apart_are_no_proxy(tmp_path: pathlib.Path) -> None:
    boxes = [{"element": "nat"}, {"element": "rewrite-sequence"}]
    scenario = one_path("download", *boxes) | {"mptcp": {"enabled": False}}
    run = measured(scenario, tmp_path / "run")
    assert run.outcome["finished"]
    assert "ends_unmatched" in remarks(run)
    assert not remarks(run) & {"split_connection", "server_unaware"}


def test_a_join_through_a_proxy_is_done_without(tmp_path: pathlib.Path) -> None:
    scenario = simulated.base()
    scenario["path"]["lte"]["middleboxes"] = [PROXY]
    run = measured(scenario, tmp_path / "run")
    assert run.outcome["finished"]
    connection = run.connections.row(0, named=True)
    assert connection["mptcp_version"] == 1
    assert connection["fallback"] is None
    assert "join_refused" in run.events["event"].to_list()


def test_all_arrives_where_both_legs_lose(tmp_path: pathlib.Path) -> None:
    loss = {"element": "loss", "ratio": "1 %"}
    scenario = one_path("download", loss, PROXY, loss, BEHIND)
    run = measured(scenario, tmp_path / "run")
    assert run.outcome["finished"]
    assert run.transfers.filter(direction="down")["bytes"].to_list() == [800_000, 800_000]
