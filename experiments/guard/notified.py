"""How old messages get if Wi-Fi is left as soon as anybody could know that it is dead: ``python -m experiments.guard.notified DIR``.

In the cases in which the guard misses a third of the age with Linux alone, Linux is told of the end of Wi-Fi some time after it: its address is removed. What was found
goes to ``notified.json`` beside this file.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from experiments import pool
from experiments.guard.figures import Row, age_ms, simulated
from experiments.guard.scenarios import COMES_S, GOES_S, Case
from experiments.guard.table import NOTIFIED, aged, misses
from experiments.guard.table import RESULTS as COMPARED
from mptcplab.results.record import build
from mptcplab.results.run import Run
from mptcplab.scenario.scenario import load

# A radio may stand still for so long with nothing wrong, and an answer takes a round trip more: until then nobody can tell.
STANDS_STILL_MS, RTT_MS = 80, 20
NOTIFIED_S = GOES_S + (STANDS_STILL_MS + RTT_MS) / 1000
# About when the guard comes back.
BACK_S = COMES_S + 0.4


def main() -> None:
    """Run, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("directory", type=Path, help="where figures of runs with the kernel are")
    parser.add_argument("--seeds", type=int, default=20, help="runs of each in simulation")
    parser.add_argument("--kernel-seeds", type=int, default=3, help="runs of each with the kernel")
    parser.add_argument("--at-once", type=int, default=2, help="runs at once")
    given = parser.parse_args()
    results = json.loads(COMPARED.read_text())
    missed = {
        engine: [
            Case(pair[0]["way"], pair[0]["load"], pair[0]["beside"])
            for pair in aged(results[engine])
            if misses(pair)
        ]
        for engine in ("simulation", "kernel")
    }
    # Before threads of any kind: processes are forked.
    keys = [(case, seed) for case in missed["simulation"] for seed in range(1, given.seeds + 1)]
    with ProcessPoolExecutor(given.at_once) as workers:
        found = dict(zip(keys, workers.map(simulated_once, keys), strict=True))
    jobs = {
        pool.Job(
            f"{case.name}-notified", notified(case), "kernel", seed, partial(_taken, case)
        ): case
        for seed in range(1, given.kernel_seeds + 1)
        for case in missed["kernel"]
    }
    done = pool.run(jobs, given.directory, given.at_once)
    rows = [
        _row("simulation", case, [one for key, one in found.items() if key[0] == case])
        for case in missed["simulation"]
    ] + [
        _row("kernel", case, [done.get(job, {}) for job, own in jobs.items() if own == case])
        for case in missed["kernel"]
    ]
    lines = ",\n".join(json.dumps(row) for row in rows)
    NOTIFIED.write_text(f"[\n{lines}\n]\n")


def notified(case: Case) -> str:
    """Write a case in which Linux is told that Wi-Fi is dead, and that it is back."""
    events = [(NOTIFIED_S, "detach"), (BACK_S, "attach")]
    return case.text("linux") + "".join(
        f'\n[[timeline]]\nat = "{round(at_s * 1000)} ms"\npath = "wifi"\nverb = "{verb}"\n'
        for at_s, verb in events
    )


def simulated_once(key: tuple[Case, int]) -> Row:
    """Simulate one; gives its age."""
    case, seed = key
    _, scenario = load(tomllib.loads(notified(case)))
    return simulated(scenario, seed, lambda frame: {"age_ms": age_ms(frame, case)})


def _row(engine: str, case: Case, runs: list[Row]) -> Row:
    """Put what was found of a case together, without runs that did not come to their end."""
    return {
        **{"engine": engine, "way": case.way, "load": case.load, "beside": case.beside},
        **{"manager": "linux notified", "build": build(), "tried": len(runs)},
        "age_ms": [one["age_ms"] for one in runs if one],
    }


def _taken(case: Case, run: Run) -> pool.Figures:
    return {"age_ms": age_ms(lambda name: getattr(run, name), case)}


if __name__ == "__main__":
    main()
