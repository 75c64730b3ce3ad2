"""The recorder of ACKs: a row of `state` for each, with what the kernel says itself."""

from __future__ import annotations

import os
import subprocess
from bisect import bisect
from pathlib import Path
from typing import Any

import pytest

import mptcplab
from mptcplab import Error
from mptcplab.engines import named
from mptcplab.results.run import Run
from mptcplab.scenario.scenario import load
from requirements import missing, need_kernel_namespaces, need_root, need_tool

SCENARIO: dict[str, Any] = {
    "schema": 1,
    "transfer": {"direction": "download", "size": "2 MB"},
    "path": {
        "one": {"rate": "10 Mbit/s", "delay": "10 ms"},
        "two": {"rate": "10 Mbit/s", "delay": "20 ms", "loss": "1 %"},
    },
    "kernel": {"state_per_ack": True},
}
# What TCP_INFO has, too: ACKs alone change the first, timers that find losses the second as well.
MEASURED = ("srtt_ms", "rttvar_ms")
ANSWERED = ("cwnd_packets", "ssthresh_packets", "timeout_ms")


def need_recorder() -> None:
    """Root, and a kernel that describes its types."""
    need_root()
    need_kernel_namespaces()
    if not Path("/sys/kernel/btf/vmlinux").exists():
        missing("needs a kernel that describes its types")


def of_server(run: Run, subflow: int, *, acks: bool) -> list[dict[str, Any]]:
    """What the server's ACKs found, or its samples, which have more columns."""
    rows = run.tables.rows("state")
    own = [row for row in rows if (row["host"], row["subflow"]) == ("server", subflow)]
    return [row for row in own if (row["busy_ms"] is None) == acks]


def captured(run: Run, port: int) -> list[int]:
    """What was acknowledged before each segment that came while data was in flight."""
    fields = ("tcp.srcport", "tcp.seq", "tcp.len", "tcp.ack", "tcp.flags.syn", "tcp.flags.fin")
    names = [word for field in fields for word in ("-e", field)]
    command = ["tshark", "-r", str(run.directory / "server.pcapng"), "-T", "fields", *names]
    shown = subprocess.run(
        [*command, "-Y", f"tcp.port == {port}"], capture_output=True, text=True, check=True
    )
    found, sent, acknowledged = [], 1, 1
    for line in shown.stdout.splitlines():
        source, seq, length, ack, syn, fin = (
            int(value == "True") if value in ("True", "False") else int(value or 0)
            for value in line.split("\t")
        )
        if fin:
            # No longer established.
            break
        if source != port:
            sent = max(sent, seq + length)
        elif not syn:
            if sent > acknowledged:
                found.append(acknowledged - 1)
            acknowledged = max(acknowledged, ack)
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    need_recorder()
    out = tmp_path_factory.mktemp("acks") / "run"
    return mptcplab.run(SCENARIO, engine="kernel", baselines=False, out=out).mptcp


def test_each_ack_of_the_capture_has_a_row(run: Run) -> None:
    need_tool("tshark")
    about = run.about["kernel"]["acks"]
    subflows = run.tables.rows("subflows")
    assert about["lost"] == 0
    found = {one["subflow"]: of_server(run, one["subflow"], acks=True) for one in subflows}
    assert about["recorded"] == sum(map(len, found.values()))
    for one in subflows:
        recorded = [row["acknowledged_bytes"] for row in found[one["subflow"]]]
        assert len(recorded) > 100
        assert recorded == captured(run, one["client_port"])


def test_a_sample_of_the_kernel_says_what_acks_say_beside_it(run: Run) -> None:
    compared = 0
    changed_between = 0
    for one in run.tables.rows("subflows"):
        acks = of_server(run, one["subflow"], acks=True)
        times = [row["at_ns"] for row in acks]
        for sample in of_server(run, one["subflow"], acks=False):
            at = bisect(times, sample["at_ns"])
            if not 0 < at < len(acks):
                continue
            # An ACK tells of the state that it finds: the next one has what the sample has.
            beside = acks[at - 1 : at + 2]
            same = [row for row in beside if all(row[name] == sample[name] for name in MEASURED)]
            assert same
            changed_between += not any(
                all(row[name] == sample[name] for name in ANSWERED) for row in same
            )
            compared += 1
    assert compared > 10
    assert changed_between <= compared / 10


def test_nothing_is_recorded_that_was_not_asked_for_or_may_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_recorder()
    plain = {**SCENARIO, "transfer": {"direction": "download", "size": "100 kB"}, "kernel": {}}
    run = mptcplab.run(plain, engine="kernel", baselines=False, out=tmp_path / "run").mptcp
    assert run.about["kernel"]["acks"] is None
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(Error, match=r"^\[kernel\] state_per_ack: only root may record ACKs; to"):
        named("kernel").check(load(SCENARIO, [])[1])
