"""Simulated runs with converters: TCP client - converter - two paths - converter - TCP server."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

import mptcplab
from mptcplab.cli.main import run as command
from mptcplab.results import policies
from mptcplab.results.comparison import Comparison
from mptcplab.scenario.fault import ScenarioError
from requirements import need_tool

DOCS = Path(__file__).parents[2] / "docs"
BYTES = 4_000_000
REQUEST, ANSWER = 24, 12
# The request of RFC 8803 for 10.10.1.2:8080, and how an answer begins that has a segment size.
ASKED = "010622630a051f9000000000000000000000ffff0a0a0102"
ANSWERED = "0103226314020000020405a8"


def scenario() -> str:
    """The scenario that the page shows."""
    (text,) = re.findall(
        r"```toml\n(.*?)```", (DOCS / "converters.md").read_text("utf-8"), re.DOTALL
    )
    return str(text)


def ran(directory: Path, settings: dict[str, object], *, baselines: bool = False) -> Comparison:
    return mptcplab.run(
        tomllib.loads(scenario()), out=directory, settings=settings, baselines=baselines
    )


BY_CONVERT = "converters at both ends by the Convert Protocol"


@pytest.mark.parametrize(
    ("settings", "says", "ending"),
    [
        ({}, (REQUEST, ANSWER), BY_CONVERT),
        ({"transfer.direction": "upload"}, (REQUEST, ANSWER), BY_CONVERT),
        # What is in the SYN has no place in the data, and is not counted.
        ({"transfer.direction": "upload", "converter.fast_open": True}, (0, ANSWER), BY_CONVERT),
        ({"path.wifi.ip": 6, "path.lte.ip": 6}, (REQUEST, ANSWER), BY_CONVERT),
        ({"converter.protocol": "transparent"}, (0, 0), "transparent converters at both ends"),
        ({"converter.at": "client"}, (0, 0), "a converter at the client's end"),
        ({"converter.at": "server"}, (0, 0), "a converter at the server's end"),
    ],
)
def test_all_arrives_over_both_paths(
    settings: dict[str, object], says: tuple[int, int], ending: str, tmp_path: Path
) -> None:
    run = ran(tmp_path / "run", settings).mptcp
    assert run.outcome["finished"], run.outcome
    up = settings.get("transfer.direction") == "upload"
    assert run.outcome["bytes_received"] == {"up": BYTES * up, "down": BYTES * (not up)}
    (connection,) = run.connections.to_dicts()
    assert (connection["mptcp_version"], connection["fallback"]) == (1, None)
    moved = {row["direction"]: row["bytes"] for row in run.transfers.to_dicts()}
    assert moved.get("up", 0) == BYTES * up + says[0]
    assert moved.get("down", 0) == BYTES * (not up) + says[1]
    # What converters say is no request of the application's.
    assert run.transfers["responses"].null_count() == run.transfers.height
    assert list(run.tables.rows("responses")) == []
    shares = run.flows.filter(direction="up" if up else "down")["share"].to_list()
    assert len(shares) == 2
    assert min(shares) > 0.05
    assert {row["host"] for row in run.state.to_dicts()} == {"client" if up else "server"}
    # Between converters it is one connection, as both captures have it: nothing is split.
    assert not {"split_connection", "ends_unmatched", "server_unaware"} & {
        *run.diagnostics["diagnostic"],
        *run.findings["kind"],
    }
    assert policies.of_run(run).endswith(f", {ending}")


def said(capture: Path, source: str) -> tuple[bool, str]:
    """Give the first payload that one host sent, and whether a SYN has it."""
    fields = ["-T", "fields", "-e", "tcp.flags.syn", "-e", "tcp.payload"]
    wanted = f"tcp.len > 0 && ip.src == {source}"
    command = ["tshark", "-r", str(capture), *fields, "-Y", wanted]
    first, *_ = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    syn, payload = first.split("\t")
    return syn in ("1", "True"), payload


@pytest.mark.parametrize("fast_open", [False, True])
def test_what_converters_say_is_in_the_capture(fast_open: bool, tmp_path: Path) -> None:
    need_tool("tshark")
    run = ran(tmp_path / "run", {"converter.fast_open": fast_open}).mptcp
    for end in ("client", "server"):
        in_syn, request = said(run.directory / f"{end}.pcapng", "10.0.1.2")
        assert (in_syn, request[: len(ASKED)]) == (fast_open, ASKED)
        in_syn, answer = said(run.directory / f"{end}.pcapng", "10.9.0.1")
        assert (in_syn, answer[: len(ANSWERED)]) == (False, ANSWERED)


def test_the_headline_names_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bonded.toml"
    file.write_text(scenario(), "utf-8")
    assert command(["run", str(file), "--out", str(tmp_path / "run"), "--no-baselines"]) == 0
    policies = "Linux's default scheduler, converters at both ends by the Convert Protocol · seed 1"
    assert policies in " ".join(capsys.readouterr().out.split())


def test_the_headline_of_a_campaign_names_them(tmp_path: Path) -> None:
    size = {"key": "transfer.size", "values": ["100 kB", "200 kB"]}
    asked = {"schema": 1, "scenario": tomllib.loads(scenario()), "axis": {"size": size}}
    campaign = mptcplab.sweep(asked | {"repetitions": 1}, out=tmp_path / "alike")
    assert campaign.about["policies"]["in_words"].endswith(f", {BY_CONVERT}")
    # What the configurations do not share is none of it.
    at = {"key": "converter.at", "values": ["client", "server"]}
    asked["axis"] = {"at": at}
    campaign = mptcplab.sweep(asked | {"repetitions": 1}, out=tmp_path / "other")
    assert "converter" not in campaign.about["policies"]["in_words"]


def test_baselines_have_none(tmp_path: Path) -> None:
    found = ran(tmp_path / "run", {}, baselines=True)
    assert set(found.baselines) == {"wifi", "lte"}
    for run in found.baselines.values():
        assert run.outcome["finished"]
        assert "converter" not in policies.of_run(run)
        assert sum(row["bytes"] for row in run.transfers.to_dicts()) == BYTES


def test_simulated_proxies_are_refused_where_converters_speak(tmp_path: Path) -> None:
    """They pass on lengths: what is said between converters would be lost."""
    proxied: dict[str, Any] = {"path.wifi.middleboxes": [{"element": "proxy"}]}
    with pytest.raises(ScenarioError, match=r'"convert" passes no proxy, and link wifi has one'):
        ran(tmp_path / "told", proxied)
    transparent = proxied | {"converter.protocol": "transparent"}
    assert ran(tmp_path / "run", transparent).mptcp.outcome["finished"]


@pytest.mark.parametrize("settings", [{"protocol": "transparent"}, {"at": "client"}])
def test_fast_open_without_a_request_is_refused(settings: dict[str, str], tmp_path: Path) -> None:
    section = {f"converter.{key}": value for key, value in settings.items()}
    with pytest.raises(ScenarioError, match="transparent converters send none: leave it out"):
        ran(tmp_path / "run", section | {"converter.fast_open": True})
