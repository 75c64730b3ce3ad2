"""Samples of the kernel's state: what is left out, and what was so all the same."""

from __future__ import annotations

import io
import json
from itertools import pairwise
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mptcplab.engines.kernel.agent import diagnosis
from mptcplab.engines.kernel.agent.samples import Look, Series

ENDS = ("192.0.2.1", 40_000), ("192.0.2.2", 80)


def look(cwnd: int) -> Look:
    raw = bytearray(256)
    raw[80:84] = cwnd.to_bytes(4, "little")
    information = diagnosis.Information(
        None, False, [diagnosis.Subflow(ENDS, diagnosis.fields(diagnosis.TCP_INFO, raw))]
    )
    return Look(information, {ENDS: diagnosis.Policy("cubic", None)})


def written(windows: list[int]) -> list[dict[str, Any]]:
    """Look ten times a second, and read what was written."""
    file = io.StringIO()
    file.name = "samples"
    series = Series("server", file)
    for at, cwnd in enumerate(windows):
        series.add(at * 10**8, None, look(cwnd))
    series.end()
    return [json.loads(line) for line in file.getvalue().splitlines()]


@given(st.lists(st.integers(1, 3), min_size=1, max_size=40))
def test_what_is_missing_lies_between_two_that_are_equal(windows: list[int]) -> None:
    rows = written(windows)
    found = {row["at_ns"] // 10**8: row["cwnd_packets"] for row in rows}
    assert list(found) == sorted(found)
    assert all(windows[at] == cwnd for at, cwnd in found.items())
    assert {0, len(windows) - 1} <= found.keys()
    for before, after in pairwise(found):
        if after - before > 1:
            assert set(windows[before : after + 1]) == {windows[before]}
    # And no more than that.
    assert all(
        len({found[at - 1], found[at], found[at + 1]}) > 1
        for at in found
        if {at - 1, at + 1} <= found.keys()
    )


def test_an_hour_of_silence_is_two_rows() -> None:
    assert len(written([10] * 36_000)) == 2


@pytest.mark.parametrize("application", ["bulk", "request-response"])
def test_a_finding_is_the_same_of_all_samples_and_of_those_that_are_kept(application: str) -> None:
    """Nothing was there to send in the four tenths of a second in the middle."""
    from test_findings_runs import _comparison

    from mptcplab.results.findings import send_buffer

    def rows(written: list[int]) -> list[dict[str, Any]]:
        return [
            {
                **{"connection": 0, "subflow": 0, "host": "server", "at_ns": at * 10**8},
                **{"in_flight_packets": 5, "cwnd_packets": 90, "queued_bytes": 0},
                **{"unacknowledged_bytes": waiting, "peer_window_bytes": None},
            }
            for at, waiting in enumerate(written)
        ]

    every = rows([0, 0, 9000, 9000, 9000, 9000, 9000, 9100, 0, 0])
    kept = [row for at, row in enumerate(every) if at not in (3, 4, 5)]
    found = []
    for state in (every, kept):
        comparison = _comparison()
        comparison.mptcp.state = pl.DataFrame(state)
        comparison.mptcp.scenario = {"transfer": {"application": application}}
        found.append(send_buffer.find(comparison, []))
    assert found[0] == found[1]
    assert bool(found[0]) == (application == "bulk")
