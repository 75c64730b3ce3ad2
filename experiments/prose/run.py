"""What the documentation says in passing, measured: ``python -m experiments.prose.run [NAME …]``.

Simulates what a sentence of a page or a comment of a scenario gives figures of, over the seeds that it names, and keeps
them in ``results.json``, from which ``table.py`` writes the sentences.
"""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory
from typing import Any

import mptcplab
from experiments.guard.scenarios import Case
from experiments.laws import runs as laws
from experiments.prose import vantage
from mptcplab import _core
from mptcplab.analysis import Analysis
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load

RESULTS = Path(__file__).parent / "results.json"
SCHEDULERS: dict[str, dict[str, Any]] = {
    "blest": {"scheduler": "blest"},
    "ecf": {"scheduler": "ecf"},
    "lowest-rtt": {"scheduler": "lowest-rtt"},
    "lowest-rtt alone": {
        "scheduler": "lowest-rtt",
        "opportunistic_retransmission": False,
        "penalisation": False,
    },
}
SCHEDULER_SEEDS = 8
CONTROLLERS = ("lia", "olia", "reno")
SEEDS = 20
JOINS = ("specified", "simultaneous")
# LIA in the MPTCP kernel's integers, beside exact LIA: 1 % of loss, first and second path, hosts as the laws have them and as they are by default.
RTTS_MS = ((20, 100), (100, 20), (100, 100))
HOSTS: dict[str, dict[str, Any]] = {
    "plain": {"tcp": laws.PLAIN | laws.AMPLE, "run": {"processing": "0 s"}},
    "default": {"tcp": {}, "run": {}},
}
INTEGERS_S, INTEGERS_SEEDS = 600, range(1, 5)
# How Wi-Fi goes bad under paced uploads, and the bytes that are written at once: a message, or two.
STOPS_CASES, STOPS_BYTES, STOPS_SEEDS = ("20 % lost", "fade"), (1000, 2000), 30

Figures = dict[str, Any]


def main() -> None:
    """Measure those that are named, or all."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for name in sys.argv[1:] or MEASURED:
            kept[name] = MEASURED[name](pool)
            print(name, json.dumps(kept[name]), file=sys.stderr, flush=True)
            ordered = {name: kept[name] for name in MEASURED if name in kept}
            RESULTS.write_text(json.dumps(ordered, indent=1) + "\n")


def schedulers(pool: ProcessPoolExecutor) -> Figures:
    """Time a download over unequal paths with a small receive buffer, by scheduler."""
    jobs = {name: range(1, SCHEDULER_SEEDS + 1) for name in SCHEDULERS}
    return {
        name: fmean(pool.map(_elapsed_s, [name] * len(seeds), seeds))
        for name, seeds in jobs.items()
    }


def _elapsed_s(name: str, seed: int) -> float:
    path = {"queue": "128 kB", "loss": "0.05 %"}
    table = {
        "schema": 1,
        "transfer": {"direction": "download", "size": "10 MB"},
        "path": {
            "fast": path | {"rate": "20 Mbit/s", "delay": "10 ms"},
            "slow": path | {"rate": "1 Mbit/s", "delay": "150 ms"},
        },
        "mptcp": SCHEDULERS[name] | {"congestion_control": "reno"},
        "tcp": {"receive_buffer": "128 kB", "max_receive_buffer": "128 kB"},
    }
    (row,) = (
        row for row in _simulated(table, seed).rows("transfers") if row["direction"] == "down"
    )
    return float(row["elapsed_s"])


def _simulated(table: dict[str, Any], seed: int) -> Any:
    return _core.simulate(plan(load(table)[1], seed, None))


def joins(pool: ProcessPoolExecutor) -> Figures:
    """Say when the second path's first data arrives, by how it joins."""
    return dict(zip(JOINS, pool.map(_first_data_ms, JOINS), strict=True))


def _first_data_ms(join: str) -> float:
    table = {
        "schema": 1,
        "transfer": {"direction": "download", "size": "2 MB"},
        "path": {
            "wifi": {"rate": "20 Mbit/s", "delay": "10 ms", "queue": "100 kB"},
            "lte": {"rate": "10 Mbit/s", "delay": "25 ms", "queue": "100 kB"},
        },
        "mptcp": {"join": join, "path_manager": "full-mesh"},
        "run": {"processing": "0 ns"},
    }
    rows = _simulated(table, 1).rows("reordering")
    arrivals = (row["at_s"] for row in rows if row["subflow"] == 1 and row["direction"] == "down")
    return 1000 * float(min(arrivals))


def gain(pool: ProcessPoolExecutor) -> Figures:
    """Give what MPTCP gains over the best single path, over many seeds, and in the example for Python."""
    gains = list(pool.map(_gain, range(1, SEEDS + 1)))
    return {
        "mean": fmean(gains),
        "sigma": stdev(gains),
        "example": _gain(7, "path.wifi.rate=10 Mbit/s"),
    }


def _gain(seed: int, *settings: str) -> float:
    return float(mptcplab.run("wifi-lte", seed=seed, settings=settings).gain or 0)


def bottleneck(pool: ProcessPoolExecutor) -> Figures:
    """Give what a controller has at a shared bottleneck, and the neighbour beside it."""
    found: Figures = {}
    for controller in CONTROLLERS:
        both = list(pool.map(_shares_mbps, [controller] * SEEDS, range(1, SEEDS + 1)))
        for who, values in zip(("own", "neighbour"), zip(*both, strict=True), strict=True):
            found.setdefault(controller, {})[who] = {"mean": fmean(values), "sigma": stdev(values)}
    return found


def _shares_mbps(controller: str, seed: int) -> tuple[float, float]:
    settings = [f"mptcp.congestion_control={controller}"]
    run = mptcplab.run("shared-bottleneck", seed=seed, settings=settings, baselines=False).mptcp
    (neighbour,) = run.outcome["cross_traffic"]
    return run.throughput_mbps or 0, neighbour["bytes"] * 8e-6 / neighbour["active_s"]


def integers(pool: ProcessPoolExecutor) -> Figures:
    """Give what `lia-linux` carries, in parts of what `lia` does, by hosts and round-trip times."""
    found: Figures = {}
    for hosts in HOSTS:
        for rtts_ms in RTTS_MS:
            exact, rounded = (
                fmean(pool.map(partial(_packets_per_s, controller, hosts, rtts_ms), INTEGERS_SEEDS))
                for controller in ("lia", "lia-linux")
            )
            found.setdefault(hosts, {})["/".join(map(str, rtts_ms))] = rounded / exact
    return found


def _packets_per_s(controller: str, hosts: str, rtts_ms: tuple[int, int], seed: int) -> float:
    links = {f"path-{i}": laws.path(rtt_ms, laws.loss(0.01)) for i, rtt_ms in enumerate(rtts_ms)}
    table = {
        "schema": 1,
        "transfer": {"direction": "download", "duration": f"{INTEGERS_S} s"},
        "link": links,
        "path": {name: {"link": name} for name in links},
        "mptcp": laws.POLICIES | {"congestion_control": controller},
        "tcp": HOSTS[hosts]["tcp"],
        "run": HOSTS[hosts]["run"] | {"sample": "0 s", "stop": f"{2 * INTEGERS_S} s"},
    }
    analysis = Analysis(_core.simulate(plan(load(table)[1], seed), samples=False))
    return sum(laws.packets_per_s(analysis).values())


def stops(pool: ProcessPoolExecutor) -> Figures:
    """Count uploads that stop for good, by how Wi-Fi goes bad and by what is written at once."""
    seeds = range(1, STOPS_SEEDS + 1)
    stopped = {
        case: {str(size): sum(pool.map(partial(_stops, case, size), seeds)) for size in STOPS_BYTES}
        for case in STOPS_CASES
    }
    return {"runs": STOPS_SEEDS, "stopped": stopped}


def _stops(case: str, size: int, seed: int) -> bool:
    table = tomllib.loads(Case(case, "paced upload").text("linux"))
    table["transfer"]["message"] = f"{size} B"
    return any(row["kind"] == "receiver_stuck" for row in _simulated(table, seed).rows("findings"))


def vantages(_: ProcessPoolExecutor) -> Figures:
    """Count captures, and pieces of them without a handshake, by whether their end was told rightly."""
    with TemporaryDirectory() as directory:
        counts = vantage.counted(Path(directory))
    found = {
        name: {
            word: sum(
                count
                for said, count in counts.items()
                if said.handshake is handshake and said.right is right
            )
            for word, right in (("right", True), ("wrong", False), ("not told", None))
        }
        for name, handshake in (("whole", True), ("pieces", False))
    }
    rtts_ms = [2 * delay_ms for delay_ms in vantage.DELAYS_MS]
    return {"rtt_ms": [min(rtts_ms), max(rtts_ms)], **found}


MEASURED: dict[str, Callable[[ProcessPoolExecutor], Figures]] = {
    "schedulers": schedulers,
    "joins": joins,
    "gain": gain,
    "bottleneck": bottleneck,
    "integers": integers,
    "vantage": vantages,
    "stops": stops,
}

if __name__ == "__main__":
    main()
