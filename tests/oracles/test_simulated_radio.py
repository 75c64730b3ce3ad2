"""The same seed: the same radio for all runs, and the same bytes however and wherever it is run."""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import pathlib
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from mptcplab import _core
from oracles import segments, simulated
from oracles.simulated import SimulatedRun

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "crates" / "sim" / "tests" / "golden"
ENDS = ("client", "server")
PERIOD_NS = 100_000_000
HASHES = [line.split() for line in (GOLDEN / "hashes.txt").read_text().splitlines()]


@pytest.mark.parametrize("name", [line[0] for line in HASHES])
def test_captures_are_those_of_before(name: str, tmp_path: pathlib.Path) -> None:
    """In the module's release build as in crates/sim/tests/golden.rs, which says how to renew."""
    simulated.simulate(name, golden(name), tmp_path)
    found = [hashlib.sha256((tmp_path / f"{end}.pcapng").read_bytes()) for end in ENDS]
    (known,) = [line[2:] for line in HASHES if line[0] == name]
    assert [digest.hexdigest() for digest in found] == known


def golden(name: str) -> _core.Plan:
    scenario = json.loads((GOLDEN / f"{name}.json").read_text())
    config = _core.transport_defaults()
    for key, value in scenario["transport"].items():
        config[key] = config[key] | value if isinstance(value, dict) else value
    return _core.Plan(scenario | {"transport": {"client": config, "server": config}})


@pytest.mark.parametrize("threads", [1, 4])
def test_threads_change_nothing(threads: int, tmp_path: pathlib.Path) -> None:
    kinds = ["two-paths", "mesh-ipv6", "reordering", "path-lost"] * 2

    def run(number: int) -> SimulatedRun:
        directory = tmp_path / str(number)
        directory.mkdir()
        made = simulated.planned(simulated.scenario(kinds[number]))
        return simulated.simulate(kinds[number], made, directory)

    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        runs = list(pool.map(run, range(len(kinds))))
    for first, second in zip(runs[:4], runs[4:], strict=True):
        assert first.outcome == second.outcome
        for end in ENDS:
            assert getattr(first, end).read_bytes() == getattr(second, end).read_bytes()
        for name in _core.Tables.NAMES:
            ours, theirs = (getattr(one.tables, name) for one in (first, second))
            assert_frame_equal(ours, theirs, check_exact=True)


def radio() -> dict[str, Any]:
    """Make a scenario in which senders always keep the first link busy, whatever they are."""
    made = simulated.base()
    made["transfer"] = {"direction": "download", "duration": "12 s"}
    elements = [
        {
            "element": "rate-process",
            "mean": "6 Mbit/s",
            "deviation": "2 Mbit/s",
            "correlation": "500 ms",
            "queue": {"queue": "drop-tail", "bytes": "400 kB"},
        },
        {"element": "delay", "delay": "10 ms"},
    ]
    made["link"] = {"air": {"uplink": elements, "downlink": elements}}
    made["path"]["wifi"] = {"link": "air"}
    made["timeline"] = [
        {"at": "6 s", "path": "wifi", "verb": "blackout"},
        {"at": "6.3 s", "path": "wifi", "verb": "restore"},
    ]
    return {name: value for name, value in made.items() if value}


def test_all_runs_meet_the_same_rates(tmp_path: pathlib.Path) -> None:
    """Where a queue waits throughout, as many bytes pass in MPTCP's run as in plain TCP's."""

    def passed(seed: int, baseline: str | None) -> dict[int, int]:
        directory = tmp_path / f"{seed}-{baseline}"
        directory.mkdir()
        made = simulated.planned(radio(), seed, baseline)
        run = simulated.simulate("radio", made, directory, full=False)
        start = 1_735_689_600 * 10**9
        queues = run.tables.queues.filter(link="air", direction="down")
        busy = (
            queues.group_by((pl.col("at_ns") - start) // PERIOD_NS)
            .agg(pl.col("queued_bytes").min())
            .filter(pl.col("queued_bytes") > 3000)
        )
        bins = dict.fromkeys(busy["at_ns"].to_list(), 0)
        for segment in segments.read(run.client):
            number = (segment.at_ns - start - 10_000_000) // PERIOD_NS
            if not segment.outbound and segment.interface == "client:wifi" and number in bins:
                bins[number] += segment.wire_bytes
        return bins

    mptcp, plain, other = passed(1, None), passed(1, "wifi"), passed(2, None)
    outage = range(58, 66)
    both = [number for number in mptcp.keys() & plain.keys() if number not in outage]
    assert len(both) > 30
    for number in both:
        # A packet at each border of the bin belongs here or there.
        assert abs(mptcp[number] - plain[number]) <= 3000, number
    differing = [
        number
        for number in mptcp.keys() & other.keys()
        if number not in outage and abs(mptcp[number] - other[number]) > 3000
    ]
    assert len(differing) > 20


def test_all_runs_meet_the_same_losses_in_time() -> None:
    """Bursts of loss come when they come, whoever sends."""

    def bursts(seed: int, baseline: str | None) -> set[int]:
        made = simulated.base()
        made["transfer"] = {
            "application": "constant-bit-rate",
            "direction": "download",
            "rate": "2 Mbit/s",
            "message": "1000 B",
            "duration": "15 s",
        }
        lossy = {
            "element": "gilbert-elliott-time",
            "good_time": "800 ms",
            "bad_time": "60 ms",
            "bad_loss": "100 %",
        }
        delay = {"element": "delay", "delay": "10 ms"}
        made["link"] = {"air": {"uplink": [delay], "downlink": [delay, lossy]}}
        # A backup, so that the radio is what is sent on: what the scheduler of Linux puts on so
        # slow a path holds up all that follows, and bursts pass while nothing is sent.
        lte = {"rate": "100 kbit/s", "delay": "200 ms", "backup": True}
        made["path"] = {"wifi": {"link": "air"}, "lte": lte}
        made = {name: value for name, value in made.items() if value}
        run = simulated.simulate("bursts", simulated.planned(made, seed, baseline))
        drops = run.tables.drops.filter(place="air", direction="down", reason="loss")
        return set((drops["at_ns"] // 40_000_000).to_list())

    mptcp, plain, other = bursts(1, None), bursts(1, "wifi"), bursts(2, None)
    assert len(mptcp) > 10
    # After a burst each sends what it sends: nearly every burst met both.
    assert len(mptcp & plain) > 0.7 * min(len(mptcp), len(plain))
    assert len(mptcp & other) < 0.4 * min(len(mptcp), len(other))
