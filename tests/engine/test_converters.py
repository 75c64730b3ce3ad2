"""Scenarios with converters: TCP client - converter - two paths - converter - TCP server."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from engine.machines import Machine, about
from engine.meeting import setting
from mptcplab import ScenarioError
from mptcplab.engines import named
from mptcplab.scenario import long
from mptcplab.scenario.scenario import checked, load
from mptcplab.scenario.source import Source

DOCS = Path(__file__).parents[2] / "docs"
BYTES = 4_000_000
# A Connect TLV in its message; the Extended TCP Header TLV of the answer.
REQUEST, ANSWER = 24, 12
BOTH, CLIENT, SERVER = ("client", "server"), ("client",), ("server",)


def scenario() -> str:
    """The scenario that the page shows."""
    (text,) = re.findall(
        r"```toml\n(.*?)```", (DOCS / "converters.md").read_text("utf-8"), re.DOTALL
    )
    return str(text)


@pytest.mark.parametrize(
    ("ends", "by_convert", "values"),
    [
        (BOTH, True, {}),
        (BOTH, True, {"transfer__direction": "upload"}),
        (BOTH, True, {"converter__fast_open": "true", "transfer__direction": "upload"}),
        (BOTH, True, {"path__wifi__ip": 6, "path__lte__ip": 6}),
        (BOTH, False, {"converter__protocol": "transparent"}),
        (CLIENT, False, {"converter__at": "client"}),
        (SERVER, False, {"converter__at": "server", "path__wifi__ip": 6, "path__lte__ip": 6}),
    ],
)
def test_all_arrives_over_both_paths(
    host: Machine, ends: tuple[str, ...], by_convert: bool, values: dict[str, object]
) -> None:
    arguments = setting(**values)
    (run,) = host.emulate(scenario(), "--no-baselines", *arguments).values()
    assert run.outcome["finished"] is True, run.outcome
    # Each byte was compared with the one that was sent.
    assert run.outcome["corrupt_bytes"] == 0
    assert sum(run.outcome["bytes_received"].values()) == BYTES
    # The ends had plain TCP, and their converters a connection each.
    kernel = about(run)["kernel"]
    for end in BOTH:
        (own,) = kernel["sockets"][end]
        assert own["mptcp"] is (end not in ends)
        assert [one["error"] for one in kernel["converters"].get(end, [])] == [None] * (end in ends)
    # The paths had MPTCP, both of them, and beside the data what converters say.
    (connection,) = run.connections.to_dicts()
    assert (connection["mptcp_version"], connection["fallback"]) == (1, None)
    moved = {row["direction"]: row["bytes"] for row in run.transfers.to_dicts()}
    up = values.get("transfer__direction") == "upload"
    # What is in the SYN has no mapping, and is not counted.
    in_syn = values.get("converter__fast_open") == "true"
    request = REQUEST * (by_convert and not in_syn)
    assert moved.get("up", 0) == BYTES * up + request
    assert moved.get("down", 0) == BYTES * (not up) + ANSWER * by_convert
    # Nor is their request one of the application's.
    assert run.transfers["responses"].null_count() == run.transfers.height
    assert list(run.tables.rows("responses")) == []
    opened = run.counters.filter(host="server", counter="TcpExtTCPFastOpenPassive").to_dicts()
    assert sum(row["after"] - row["before"] for row in opened) == in_syn
    paths = {row["subflow"]: row["path"] for row in run.subflows.to_dicts()}
    used = {
        paths[row["subflow"]]: row["share"] > 0.05
        for row in run.flows.to_dicts()
        if row["direction"] == ("up" if up else "down")
    }
    assert used == {"wifi": True, "lte": True}
    # What the kernel knows of subflows is sampled at the converters.
    assert {row["host"] for row in run.state.to_dicts()} == set(BOTH)


def test_baselines_have_none(host: Machine) -> None:
    runs = host.emulate(scenario(), *setting(transfer__size="500 kB"))
    assert set(runs) == {"mptcp", "tcp-wifi", "tcp-lte"}
    for name, run in runs.items():
        assert run.outcome["finished"] is True
        assert bool(about(run)["kernel"]["converters"]) is (name == "mptcp")


def _refused(*settings: str, by: str = "kernel") -> str:
    def tried() -> None:
        _, given = load(tomllib.loads(scenario()), list(settings))
        named(by).check(given)

    with pytest.raises(ScenarioError) as refusal:
        tried()
    (line,) = str(refusal.value).splitlines()
    return line


def test_what_cannot_be_is_refused_in_a_line() -> None:
    others = "run it with --engine kernel or simulation, or leave the section out"
    assert _refused(by="field") == f"[converter]: the field engine has no converters: {others}"
    assert '"convert" is spoken between two' in _refused(
        "converter.at=client", "converter.protocol=convert"
    )
    assert "[client] has no Linux" in _refused("client.stack=mptcplab")
    assert "[server] addresses" in _refused("converter.protocol=transparent", "server.addresses=2")
    assert "known: both, client, server" in _refused("converter.at=home")


def test_its_long_form_reads_back_as_the_same() -> None:
    _, given = load(tomllib.loads(scenario()), ["converter.at=client"])
    assert given.converter is not None
    assert given.converter.protocol == "transparent"
    text = long.write(given)
    again = checked(Source("again", tomllib.loads(text)))
    assert long.write(again) == text
