"""What probes conclude from what arrived, and what they found over emulated links."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments.probe import carriers
from experiments.probe.cases import CASES
from experiments.probe.run import KEPT
from experiments.probe.table import BEGIN, PAGE, table, wrong
from mptcplab.probing import (
    announce,
    idle,
    join,
    large,
    scenario,
    syn,
)
from mptcplab.probing.client import ProbedPath
from mptcplab.probing.probes import Probes
from mptcplab.probing.row import Row
from mptcplab.probing.session import opened
from mptcplab.scenario.scenario import load
from serving import HOST, TIMEOUT_SECONDS, serving

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@UNHURRIED
@given(st.integers(537, 9000), st.integers(500, 9000))
def test_the_largest_segment_is_found_in_few_rounds(full: int, hole: int) -> None:
    rounds = []

    def fits(sizes: list[int]) -> list[bool]:
        rounds.append(sizes)
        assert len(sizes) <= large.AT_A_TIME
        return [size <= hole for size in sizes]

    found = large.largest(fits, full)
    assert found == (min(hole, full - 1) if hole >= large.LEAST_MSS else None)
    # 16 sizes at a time, so a round leaves a 17th, and each costs a time-out.
    assert len(rounds) <= 5


@pytest.mark.parametrize("mss", [1357, 1372, 1428])
def test_the_limits_of_the_papers_networks_come_out(mss: int) -> None:
    """Section 3.2: what carriers let through of segments of 1460."""
    assert large.largest(lambda sizes: [size <= mss for size in sizes], 1460) == mss


def test_a_syn_is_read() -> None:
    """Of a Linux client, with MP_CAPABLE of version 1, as TCP_SAVED_SYN gave it."""
    ip = bytes.fromhex("4528004412340000 3f06 0000 0a000102 0a090001".replace(" ", ""))
    options = bytes.fromhex(
        "020405b4 0402080a 00000001 00000000 0103030a 1e040101".replace(" ", "")
    )
    tcp = (
        bytes.fromhex("c350 1f90 00000001 00000000 b0c2 faf0 0000 0000".replace(" ", "")) + options
    )
    read = syn.parse(ip + tcp)
    assert (read.mss, read.ttl, read.dscp, read.mp_capable) == (1460, 63, 10, True)
    assert read.asks_for_ecn
    assert read.unknown == []


@pytest.mark.parametrize(
    ("answered", "verdict", "arrived"),
    [
        ({2: True, 5: True}, "clear", "5 s"),
        ({2: True, 5: True, 8: False}, "blocked", "5 s"),
        ({2: True, 5: False, 8: True}, "unknown", ""),
        ({2: False, 5: False}, "unknown", ""),
        # Where nothing else was answered either, a silence says nothing.
        ({2: True, 5: None, 8: False}, "blocked", "2 s"),
        ({2: True, 5: None, 8: True}, "clear", "8 s"),
        ({2: True, 5: None}, "unknown", "2 s"),
        ({2: None, 5: None}, "unknown", "0 s"),
    ],
)
def test_idle_times_are_bracketed(
    answered: dict[float, bool | None], verdict: str, arrived: str
) -> None:
    row = idle.judged("wifi", "idle, server speaks", answered)
    assert (row.verdict, row.arrived) == (verdict, arrived)


FORGOTTEN = Row("wifi", "idle, server speaks", "blocked", "30 s", "16 s", "")
KEPT_30_S = Row("wifi", "idle, server speaks", "clear", "30 s", "30 s", "")


def test_the_longest_interval_of_keep_alives_that_helps_is_told() -> None:
    answered: dict[float, bool] = {1: True, 8: True, 10: False, 15: False}
    row = idle.kept_alive("wifi", 30.0, answered, silent=FORGOTTEN)
    assert (row.verdict, row.arrived) == ("clear", "every 8 s")
    assert scenario.recommended([row, FORGOTTEN]) == {"keep-alive": "every 8 s"}
    assert idle.kept_alive("wifi", 30.0, {1: False}, silent=FORGOTTEN).verdict == "blocked"


@pytest.mark.parametrize(
    ("answered", "silent"),
    [
        # Nothing is forgotten without them: something else was in the way.
        ({1: False, 8: False}, KEPT_30_S),
        ({1: True, 8: False}, KEPT_30_S),
        # One that is more frequent did not help.
        ({1: False, 8: True, 15: False}, FORGOTTEN),
    ],
)
def test_keep_alives_are_not_judged_by_what_they_cannot_cause(
    answered: dict[float, bool], silent: Row
) -> None:
    assert idle.kept_alive("wifi", 30.0, answered, silent=silent).verdict == "unknown"


def test_a_server_that_goes_meanwhile_has_forgotten_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Longer silences end after it has gone, as if there were a time-out."""
    monkeypatch.setattr(idle, "STEPS", (1, 4))
    with serving(tmp_path) as made, opened(made.line, made.token, 600) as session:
        gone = threading.Timer(2.5, made.process.terminate)
        gone.start()
        rows = list(idle.silence(ProbedPath(HOST, session), 6.0))
        made.process.wait(TIMEOUT_SECONDS)
    assert {row.verdict for row in rows} == {"unknown"}, rows


def test_silences_of_an_hour_are_bracketed() -> None:
    steps = [float(step) for step in idle.STEPS]
    assert steps == sorted(steps)
    assert (steps[0], steps[-1]) == (2, 4000)
    row = idle.judged("wifi", "idle, client speaks", {step: step <= 1800 for step in steps})
    assert row.evidence == "forgotten between 1800 and 2400 s"
    # Twice for each, both ways and with keep-alives, and what else is probed meanwhile.
    assert 3 * idle.TIMES * len(steps) + 2 * large.AT_A_TIME * large.TIMES < 256


ADDRESS = announce.Tried(sent=1, taken=0, received=1, others=0)
LOST = replace(ADDRESS, received=0)
SILENT = announce.Tried(sent=0, taken=0, received=0, others=0)


@pytest.mark.parametrize(
    ("tries", "verdict"),
    [
        ([ADDRESS, ADDRESS, ADDRESS], "clear"),
        ([ADDRESS, LOST, ADDRESS], "clear"),
        ([LOST, LOST, LOST], "blocked"),
        # A single one is not sent again for two minutes.
        ([LOST, SILENT, SILENT], "unknown"),
        # Other programs' are counted, too, ...
        ([LOST, replace(LOST, received=1), LOST], "unknown"),
        ([replace(ADDRESS, others=1)] * 3, "unknown"),
        # ... but not among what the connection itself took.
        ([replace(ADDRESS, taken=1, others=1), LOST, LOST], "clear"),
    ],
)
def test_addresses_that_are_announced_arrive_or_are_taken_out(
    tries: list[announce.Tried], verdict: str
) -> None:
    row = announce.judged("wifi", "ADD_ADDR down", tries)
    assert row.verdict == verdict, row
    taken = 'option = "add-addr"' in " ".join(scenario.elements([row]))
    assert taken == (verdict == "blocked")


JOINED = join.Tried(left=True, joined=True, syns=1, others=0)
REFUSED = replace(JOINED, joined=False)
STRIPPED = replace(REFUSED, syns=0)


@pytest.mark.parametrize(
    ("tries", "verdict"),
    [
        ([JOINED] * 3, "clear"),
        # Whoever else joins there: ours did.
        ([replace(JOINED, syns=5, others=3)] * 3, "clear"),
        ([JOINED, STRIPPED, JOINED], "unknown"),
        ([STRIPPED] * 3, "blocked"),
        ([REFUSED] * 3, "altered"),
        # Another program's SYNs hide that ours are taken out.
        ([replace(REFUSED, others=1)] * 3, "unknown"),
        ([REFUSED, STRIPPED, STRIPPED], "unknown"),
        # This host joins nothing, whatever other programs on it do.
        ([replace(STRIPPED, left=False)] * 3, "unknown"),
        ([STRIPPED, STRIPPED, replace(STRIPPED, left=False)], "unknown"),
    ],
)
def test_joins_are_judged_by_what_is_the_connections_own(
    tries: list[join.Tried], verdict: str
) -> None:
    row = join.judged("lte", tries)
    assert row.verdict == verdict, row


def test_a_port_that_lets_mptcp_through_is_recommended() -> None:
    rows = [
        Row("wifi", "MP_CAPABLE", "altered", "version 1", "none", ""),
        Row("wifi", "port 80", "clear", "2, 3, 4, 8", "2, 3, 4, 8", ""),
        Row("wifi", "port 443", "altered", "2, 3, 4, 8", "2, 3, 4, 8, 30", ""),
    ]
    assert scenario.recommended(rows) == {"port": "443, where MP_CAPABLE arrives"}


def test_a_table_as_csv_holds_no_formula_and_steers_nothing(tmp_path: Path) -> None:
    """What others on the way wrote is text in a spreadsheet, too, and the same in Parquet."""
    texts = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "a=b", "\x1b[2J\x9b2J", "\u202ex\u2028", "é-"]
    found = Probes([Row("", "options", "altered", one, one, one, 0) for one in texts])
    for kind in ("parquet", "csv"):
        found.write(tmp_path, kind)
    assert pl.read_parquet(tmp_path / "probes.parquet")["evidence"].to_list() == texts
    wanted = ["'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\ufffdx", "a=b"]
    wanted += ["\ufffd[2J\ufffd2J", "\ufffdx\ufffd", "é-"]
    for name in ("sent", "arrived", "evidence"):
        assert pl.read_csv(tmp_path / "probes.csv")[name].to_list() == wanted


def test_what_was_found_over_links_is_what_stands_there() -> None:
    kept = json.loads(KEPT.read_text("utf-8"))
    assert kept.keys() == {case.name for case in CASES}
    assert wrong(kept) == []
    assert table(kept) in PAGE.read_text("utf-8").partition(BEGIN)[2]


def test_what_the_papers_tell_of_their_carriers_was_found_on_the_studys_links() -> None:
    kept = carriers.read()
    assert kept.keys() == {one.name for one in carriers.CARRIERS}
    for carrier in carriers.CARRIERS:
        assert kept[carrier.name].keys() == carriers.PARTS.keys()
        for part, found in kept[carrier.name].items():
            assert carriers.wrong(carrier, part, found.probes, found.minute_seconds) == []
    assert carriers.table(kept) in PAGE.read_text("utf-8").partition(carriers.BEGIN)[2]


def test_what_was_found_is_a_scenario(tmp_path: Path) -> None:
    kept = json.loads(KEPT.read_text("utf-8"))
    for case in CASES:
        # Where a host did not ask for what a box takes away, it is not known once.
        several = [[Row(**row) for row in one] for one in kept[case.name]]
        file = tmp_path / "found.toml"
        for rows in several:
            file.write_text(scenario.toml(rows), "utf-8")
            load(str(file), [])
        if case.found_by:
            found = any(scenario.elements(rows) for rows in several)
            assert found or case.found_by == ("payload",), case.name
