"""How soon is a path that comes back used again? ``python -m experiments.revisit.run DIR``.

A path goes away for 5 to 60 s and comes back, by `blackout` (nobody is told) or by `detach` and `attach` (the client is told),
under a download that one path could carry and under a greedy one, with both engines. The figures go to
``results.json`` beside this file.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import mptcplab
from experiments import pool
from mptcplab.engines import named
from mptcplab.results.run import Run

ENGINES = ("simulation", "kernel")
RESULTS = Path(__file__).parent / "results.json"
LEAVES_S = 8
# After the return; a back-off of Linux and of RFC 6298 is 120 s and 60 s at most.
WATCHED_S = 70
SHORTEST_S, LONGEST_S = 5, 60
BIN_S = 0.1
# A transfer stalls while less than this part of the lesser load arrives in order; the path is used again when it carries that.
ENOUGH = 0.8
LOAD_MBPS = 4
USED_MBPS = 0.5

VERBS = {"blackout": "restore", "detach": "attach"}
LOADS = {
    "4 Mbit/s": 'application = "constant-bit-rate"\nrate = "4 Mbit/s"\nmessage = "10 kB"',
    "greedy": "",
}
SCENARIO = """\
schema = 1

[transfer]
direction = "download"
duration = "{duration} s"
{load}

[path.one]
rate = "10 Mbit/s"
delay = "10 ms"
queue = "60 kB"

[path.two]
rate = "10 Mbit/s"
delay = "20 ms"
queue = "80 kB"

[mptcp]
congestion_control = "cubic-linux"
scheduler = "linux"
path_manager = "full-mesh"
max_subflows = 8
max_add_addr_accepted = 8

[run]
stop = "{stop} s"

[[timeline]]
at = "{leaves} s"
path = "one"
verb = "{leave}"

[[timeline]]
at = "{returns:.3f} s"
path = "one"
verb = "{come}"
"""


def main() -> None:
    """Run, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("?")[0] + "?")
    parser.add_argument("directory", type=Path, help="where figures of single runs are kept")
    parser.add_argument("--absences", type=int, default=30, help="how many return times")
    parser.add_argument("--at-once", type=int, default=8, help="runs at once")
    parser.add_argument(
        "--engine", choices=ENGINES, help="only of this one; those of the other stay"
    )
    given = parser.parse_args()
    engines = (given.engine,) if given.engine else ENGINES
    absences = dict(enumerate(spread(given.absences), 1))
    keys = [
        (verb, load, engine, seed)
        for seed in absences
        for verb in VERBS
        for load in LOADS
        for engine in ENGINES
    ]
    jobs = {
        (verb, load, engine, seed): pool.Job(
            f"{verb}-{load.split()[0]}",
            scenario(verb, load, absences[seed]),
            engine,
            seed,
            partial(figures, absence_s=absences[seed]),
        )
        for verb, load, engine, seed in keys
        if engine in engines
    }
    done = pool.run(jobs.values(), given.directory, given.at_once)
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"rows": []}
    for engine in engines:
        results |= named(engine).conditions()
    kept = {
        (row["verb"], row["load"], row["engine"], row["absence_s"]): row
        for row in results["rows"]
        if row["engine"] not in engines
    }
    rows = []
    for verb, load, engine, seed in keys:
        absence = absences[seed]
        job = jobs.get((verb, load, engine, seed))
        if job in done:
            known = {"verb": verb, "load": load, "engine": engine, "absence_s": absence}
            rows.append(known | done[job])
        elif (verb, load, engine, absence) in kept:
            rows.append(kept[verb, load, engine, absence])
    results["rows"] = rows
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def spread(count: int) -> Iterator[float]:
    """Give absences, evenly from the shortest to the longest."""
    step = (LONGEST_S - SHORTEST_S) / max(count - 1, 1)
    return (round(SHORTEST_S + number * step, 3) for number in range(count))


def scenario(verb: str, load: str, absence_s: float) -> str:
    """Write one."""
    returns = LEAVES_S + absence_s
    return SCENARIO.format(
        duration=round(returns + WATCHED_S),
        stop=round(returns + WATCHED_S + 5),
        load=LOADS[load],
        leaves=LEAVES_S,
        leave=verb,
        returns=returns,
        come=VERBS[verb],
    )


def figures(run: Run, absence_s: float) -> pool.Figures:
    """Say how long too little arrived, and when the path was used again after its return; none: never while watched."""
    returns = LEAVES_S + absence_s
    captures = [run.directory / f"{end}.pcapng" for end in ("client", "server")]
    analysis = mptcplab.analyze(captures, bin_seconds=BIN_S, samples=False)
    bins = analysis.throughput.join(analysis.subflows, on=["connection", "subflow"], how="left")
    one: dict[float, float] = {}
    whole: dict[float, float] = {}
    for row in bins.filter(connection=0, direction="down").iter_rows(named=True):
        carried = whole if row["subflow"] is None else one if row["path"] == "one" else {}
        carried[row["at_s"]] = carried.get(row["at_s"], 0) + row["throughput_mbps"]
    enough = ENOUGH * LOAD_MBPS
    return {
        "stalled_s": longest_below(whole, enough, LEAVES_S, returns),
        "used_s": first(one, USED_MBPS, returns),
    }


def longest_below(bins: dict[float, float], mbps: float, from_s: float, to_s: float) -> float:
    """Give the longest time on end with less than that."""
    longest = count = 0
    for at in sorted(bins):
        if from_s <= at < to_s:
            count = count + 1 if bins[at] < mbps else 0
            longest = max(longest, count)
    return round(longest * BIN_S, 2)


def first(bins: dict[float, float], mbps: float, after_s: float) -> float | None:
    """Give the end of the first bin after a time that carries so much, from that time."""
    ends = (at + BIN_S for at, carried in sorted(bins.items()) if carried >= mbps and at >= after_s)
    return next((round(end - after_s, 2) for end in ends if end <= after_s + WATCHED_S), None)


if __name__ == "__main__":
    main()
