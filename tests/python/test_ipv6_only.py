"""A carrier that has IPv6 only: 464XLAT between a client and a server of IPv4."""

from __future__ import annotations

from pathlib import Path

import mptcplab
from mptcplab.results.run import Run

SIZE = 1_000_000


def ran(directory: Path, settings: dict[str, object]) -> Run:
    settings = {"transfer.size": "1 MB", **settings}
    run = mptcplab.run("ipv6-only", out=directory, settings=settings, baselines=False).mptcp
    assert run.outcome["bytes_received"] == {"up": 0, "down": SIZE}
    assert run.connections["fallback"].to_list() == [None]
    return run


def shares(run: Run) -> list[float]:
    return list(run.flows.filter(direction="down").sort("subflow")["share"])


def test_both_ends_speak_ipv4(tmp_path: Path) -> None:
    run = ran(tmp_path / "run", {})
    wifi, lte = run.subflows.sort("subflow").to_dicts()
    assert (lte["client_address"], lte["server_address"]) == ("10.0.2.2", "10.9.0.1")
    assert (wifi["client_mss_bytes"], lte["client_mss_bytes"]) == (1460, 1440)
    assert min(shares(run)) > 0.1
    found = run.diagnostics["diagnostic"].to_list()
    assert "address_translated" in found
    assert "large_segments_lost" not in found


def test_what_is_ipv6_already_passes(tmp_path: Path) -> None:
    run = ran(tmp_path / "run", {"path.wifi.ip": 6, "path.lte.ip": 6})
    assert run.subflows.sort("subflow")["client_address"].to_list()[1] == "fd00:0:2::2"
    assert min(shares(run)) > 0.1


def test_what_is_too_large_for_the_carrier_is_told(tmp_path: Path) -> None:
    """The server hears of it by ICMP that was translated."""
    assert min(shares(ran(tmp_path / "run", {"path.lte.mtu": 1500}))) > 0.1


def test_where_nobody_says_so_the_path_is_a_black_hole(tmp_path: Path) -> None:
    silent = {"path.lte.mtu": 1500, "link.carrier.uplink.3.answer": "silent"}
    run = ran(tmp_path / "run", silent)
    assert shares(run)[1] < 0.01
    assert "large_segments_lost" in run.diagnostics["diagnostic"].to_list()
