"""Transfers over QUIC, beside what the program that carries them counted itself."""

from __future__ import annotations

import os
import subprocess

import polars as pl
import pytest

from engine.machines import Machine, about
from mptcplab.machine import programs
from requirements import need_quic

TWO_PATHS = """\
schema = 1

[transfer]
direction = "download"
size = "1 MB"
protocol = "quic"

[path.wifi]
rate = "20 Mbit/s"
delay = "5 ms"
queue = "60 kB"
loss = "1 %"

[path.lte]
rate = "10 Mbit/s"
delay = "15 ms"
queue = "60 kB"

[run]
stop = "20 s"
"""
ASKED = TWO_PATHS.replace(
    'size = "1 MB"',
    'application = "request-response"\nrequests = 5\nrequest = "1 kB"\nresponse = "20 kB"',
)
GONE = """
[[timeline]]
at = "0.2 s"
path = "wifi"
verb = "detach"
"""
ADDRESSES = {"10.0.1.2": "wifi", "10.0.2.2": "lte"}


@pytest.mark.parametrize("direction", ["download", "upload"])
def test_captures_show_what_the_program_counted(host: Machine, direction: str) -> None:
    need_quic()
    text = TWO_PATHS.replace("download", direction)
    (run,) = host.emulate(text, "--no-baselines").values()
    down = direction == "download"
    assert run.outcome["finished"] is True, run.outcome
    assert run.outcome["bytes_received"] == {"up": 0, "down": 0} | {
        "down" if down else "up": 1_000_000
    }
    assert run.connections["protocol"].to_list() == ["quic"]
    assert run.transfer is not None
    assert run.transfer["bytes"] == 1_000_000
    paths = dict(run.subflows.select("subflow", "path").iter_rows())
    assert sorted(paths.values()) == ["lte", "wifi"]
    counted = about(run)["quic"]
    known = {
        end: {
            ADDRESSES[path["local" if end == "client" else "remote"][0]]: path
            for path in counted[end]
        }
        for end in ("client", "server")
    }
    for flow in run.flows.iter_rows(named=True):
        path = paths[flow["subflow"]]
        sender, receiver = (
            ("client", "server") if flow["direction"] == "up" else ("server", "client")
        )
        sent, received = known[sender][path], known[receiver][path]
        assert flow["bytes"] == sent["sent_bytes"]
        assert flow["packets"] == sent["sent_datagrams"]
        # The server does not count the datagram that opens the connection.
        opening = flow["direction"] == "up" and sent["path"] == 0
        arrived = received["received_datagrams"] + opening
        assert flow["lost_packets"] == sent["sent_datagrams"] - arrived
    assert set(run.state["congestion_control"]) == {"cubic"}
    assert set(run.state["subflow"]) == set(paths)


def test_a_baseline_is_quic_over_its_path_alone(host: Machine) -> None:
    need_quic()
    runs = host.emulate(TWO_PATHS)
    assert list(runs) == ["mptcp", "tcp-lte", "tcp-wifi"]
    for name in ("lte", "wifi"):
        run = runs[f"tcp-{name}"]
        assert run.outcome["finished"] is True, run.outcome
        assert run.connections["protocol"].to_list() == ["quic"]
        assert run.subflows["path"].to_list() == [name]


def test_a_path_that_goes_ends_no_transfer(host: Machine) -> None:
    need_quic()
    (run,) = host.emulate(TWO_PATHS + GONE, "--no-baselines").values()
    assert run.outcome["finished"] is True, run.outcome
    assert run.outcome["bytes_received"]["down"] == 1_000_000


def test_a_long_round_trip_ends_as_a_short_one(host: Machine) -> None:
    need_quic()
    text = TWO_PATHS.replace("5 ms", "1 s").replace("15 ms", "1 s").replace("1 MB", "10 kB")
    (run,) = host.emulate(text, "--no-baselines").values()
    assert run.outcome["finished"] is True, run.outcome


def test_response_times_are_those_of_the_application(host: Machine) -> None:
    need_quic()
    (run,) = host.emulate(ASKED, "--no-baselines").values()
    assert run.outcome["finished"] is True, run.outcome
    rows = run.responses
    assert rows["response_bytes"].to_list() == [20_000] * 5
    assert rows["connection"].to_list() == [0] * 5
    times = rows["response_time_ms"].to_list()
    # A round trip at least.
    assert min(rows["first_data_ms"]) > 10.0
    assert (rows["first_data_ms"] <= rows["response_time_ms"]).all()
    # It asks one after the other, for the first time maybe just before QUIC's first packet leaves.
    answered_s = (rows["at_s"] + rows["response_time_ms"] / 1e3).to_list()
    assert all(
        one <= next_ + 1e-6 for one, next_ in zip(answered_s, rows["at_s"][1:], strict=False)
    )
    assert answered_s[-1] <= run.connections["duration_s"][0]
    assert run.transfer is not None
    assert run.transfer["responses"] == 5
    assert run.transfer["response_time_ms_max"] == pytest.approx(max(times), abs=1e-3)
    assert run.transfer["response_time_ms_mean"] == pytest.approx(sum(times) / 5, abs=1e-3)


def test_nobody_has_to_read_what_the_program_says() -> None:
    need_quic()
    unread, written = os.pipe()
    os.close(unread)
    job = (
        '{"application": "127.0.0.1:0", "server": "127.0.0.1:0", "congestion_control": "cubic", '
        '"receive_window": 100000, "send_window": 100000}'
    )
    with os.fdopen(written, "wb") as gone:
        ends = subprocess.run([programs.quic(), job], stdin=subprocess.DEVNULL, stdout=gone)
        assert ends.returncode == 0
        assert subprocess.run([programs.quic(), b"\xff"], stderr=gone).returncode == 2


def test_little_still_has_to_arrive_when_the_duration_is_over(host: Machine) -> None:
    need_quic()
    text = TWO_PATHS.replace('size = "1 MB"', 'duration = "3 s"').replace('loss = "1 %"\n', "")
    (run,) = host.emulate(text, "--no-baselines").values()
    assert run.outcome["finished"] is True, run.outcome
    assert run.transfer is not None
    # No more than the send buffer of 4 MiB holds, and the queues of the links.
    late = run.throughput.filter(pl.col("subflow").is_null() & (pl.col("at_s") >= 3))
    assert late.filter(direction="down")["bytes"].sum() < 6_000_000
