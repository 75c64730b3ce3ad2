"""What ``mptcplab serve`` carries in a day and at once, and whom it counts as one."""

from __future__ import annotations

from pathlib import Path

import pytest

from mptcplab import Error
from mptcplab.api.runs import run
from mptcplab.engines.field.server.limits import Ledger, network
from serving import serving


def test_a_day_has_its_limit(tmp_path: Path) -> None:
    with serving(tmp_path, "--per-day", "150 kB") as small:
        assert len(small.transfer()) == 100_000
        # The rest of the day's is less than it asks for, and it is cut there.
        assert len(small.transfer()) <= 50_000
        spent = pytest.raises(Error, match="carried all that it may today")
        with spent:
            small.transfer()


def test_a_rate_is_kept(tmp_path: Path) -> None:
    # 100 kB at 400 kbit/s; a burst of 256 KiB at most goes before.
    with serving(tmp_path, "--rate", "8 Mbit/s") as slow:
        scenario = {
            "schema": 1,
            "transfer": {"direction": "download", "size": "2 MB"},
            "path": {"near": {"interface": "lo"}},
            "field": {"server": str(slow.line), "token": str(slow.state / "token")},
        }
        made = run(scenario, engine="field", out=tmp_path / "run", baselines=False)
        (down,) = made.mptcp.transfers.filter(direction="down").iter_rows(named=True)
        least_s = (2_000_000 - (1 << 18)) * 8 / 8e6
        assert down["elapsed_s"] >= least_s


def test_yesterday_is_not_counted(tmp_path: Path) -> None:
    day = ["2026-03-01"]
    ledger = Ledger(tmp_path / "served.json", lambda: day[0])
    reserved = ledger.reserve(100, 150)
    assert reserved is not None
    assert Ledger(tmp_path / "served.json", lambda: day[0]).spent() == 100
    ledger.settle(reserved, 5)
    assert ledger.spent() == 5
    # Where nobody knows what was carried, all that might have been was.
    late = ledger.reserve(200, 150)
    assert late is not None
    assert late.count == 145
    ledger.settle(late, None)
    assert ledger.reserve(1, 150) is None
    day[0] = "2026-03-02"
    assert ledger.spent() == 0


def test_a_clock_that_jumps_and_comes_back_does_not_forget_a_day(tmp_path: Path) -> None:
    day = ["2026-03-01"]
    ledger = Ledger(tmp_path / "served.json", lambda: day[0])
    assert ledger.reserve(100, 150) is not None
    for jump in ("2036-01-01", "1970-01-01", "2026-03-01"):
        day[0] = jump
        assert ledger.spent() == (100 if jump == "2026-03-01" else 0)
        assert ledger.reserve(50, 150) is not None
    assert Ledger(tmp_path / "served.json", lambda: day[0]).spent() == 150


def test_all_addresses_of_a_network_of_ipv6_count_as_one() -> None:
    assert network("2001:db8:1:2::1") == network("2001:db8:1:2:ffff::9%eth0")
    assert network("2001:db8:1:2::1") != network("2001:db8:1:3::1")
    assert network("192.0.2.1") != network("192.0.2.2")
    assert network("::ffff:192.0.2.1") == "::ffff:192.0.2.1"
