"""Ends that speak other versions of MPTCP: the connection falls back to TCP."""

from __future__ import annotations

from pathlib import Path

import pytest

import mptcplab
from mptcplab import ScenarioError
from mptcplab.engines import named
from mptcplab.scenario.scenario import load


@pytest.mark.parametrize(("client", "server"), [(1, 0), (0, 1)])
def test_two_versions_fall_back_to_tcp(tmp_path: Path, client: int, server: int) -> None:
    settings = {"mptcp.version": client, "server.version": server, "transfer.size": "500 kB"}
    run = mptcplab.run("version-0", out=tmp_path / "run", settings=settings, baselines=False).mptcp
    assert run.outcome["bytes_received"] == {"up": 0, "down": 500_000}
    (connection,) = run.connections.to_dicts()
    assert connection["mptcp_version"] is None
    assert connection["fallback"] == "the SYN/ACK came without MP_CAPABLE"
    assert run.subflows.height == 1


@pytest.mark.parametrize("version", [0, 1])
def test_a_server_of_the_clients_version_does_not(tmp_path: Path, version: int) -> None:
    settings = {"mptcp.version": version, "server.version": version, "transfer.size": "500 kB"}
    run = mptcplab.run("version-0", out=tmp_path / "run", settings=settings, baselines=False).mptcp
    assert run.connections["mptcp_version"].to_list() == [version]


@pytest.mark.parametrize(
    ("engine", "settings", "message"),
    [
        ("kernel", (), r"\[server\] version: Linux cannot have 0; to run it: --set server\.versi"),
        ("field", ("path.wifi.interface=a", "path.lte.interface=b"), r"\[server\] version: the f"),
    ],
)
def test_linux_speaks_version_1(engine: str, settings: tuple[str, ...], message: str) -> None:
    _, scenario = load("wifi-lte", ["server.version=0", *settings])
    with pytest.raises(ScenarioError, match=message):
        named(engine).check(scenario)
