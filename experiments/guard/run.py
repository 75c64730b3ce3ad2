"""What a guard is worth, and what it costs: ``python -m experiments.guard.run DIR``.

Wi-Fi goes bad in many ways, under several loads, with Linux's path manager and with the guard, in both engines. The figures of all runs
go to ``results.json`` beside this file, with the build that made a row; those that are not asked for stay. Where nothing goes wrong only the guard is run.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import mptcplab
from experiments import pool
from experiments.builds import both
from experiments.guard.figures import figures
from experiments.guard.figures import simulated as simulation
from experiments.guard.scenarios import HEALTHY, Case, as_backup, healthy, matrix
from experiments.guard.table import BACKUPS
from mptcplab.results.record import build
from mptcplab.results.run import Run

MANAGERS = ("linux", "guard")
RESULTS = Path(__file__).parent / "results.json"
Key = tuple[Case, str, int]
Row = dict[str, Any]
# So often a run is made that is late each time.
ROUNDS = 3
KEYS = ("way", "load", "beside", "manager")


def main() -> None:
    """Run, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("directory", type=Path, help="where figures of runs with the kernel are")
    parser.add_argument("--seeds", type=int, default=50, help="runs of each in simulation")
    parser.add_argument("--kernel-seeds", type=int, default=10, help="runs of each with the kernel")
    parser.add_argument(
        "--more", action="store_true", help="with the kernel, only runs that a row lacks so far"
    )
    parser.add_argument(
        "--not-later-than",
        type=float,
        default=2,
        metavar="MS",
        help="with the kernel, make runs again whose emulator was later one time of a hundred; what stays so late is left out",
    )
    parser.add_argument("--way", nargs="+", help="only what goes bad like this")
    parser.add_argument("--load", nargs="+", help="only these loads")
    parser.add_argument("--beside", nargs="+", help="only with this beside Wi-Fi")
    parser.add_argument("--at-once", type=int, default=2, help="runs at once")
    given = parser.parse_args()
    cases = [
        case
        for case in [*matrix(), *healthy()]
        if (case.way in given.way if given.way else case in matrix())
        and (given.load is None or case.load in given.load)
        and (given.beside is None or case.beside in given.beside)
    ]
    if given.seeds:
        found = gathered(simulated(cases, given.seeds, given.at_once))
        results = _results()
        results["simulation"] = merged(results.get("simulation", []), found)
        RESULTS.write_text(written(results))
    if given.kernel_seeds:
        keys = every(cases, given.kernel_seeds)
        if given.more:
            keys = lacking(keys, _results().get("kernel", []))
        found = gathered(played(keys, given.directory, given.at_once, given.not_later_than))
        # Others may have written meanwhile.
        results = _results()
        before = results.get("kernel", [])
        results["kernel"] = merged(before, extended(before, found) if given.more else found)
        results["release"] = both(results.get("release"), platform.release())
        RESULTS.write_text(written(results))


def _results() -> dict[str, Any]:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def written(results: dict[str, Any]) -> str:
    """Write them, a row a line."""
    parts = [
        f'"{name}": [\n' + ",\n".join(json.dumps(row) for row in results[name]) + "\n]"
        for name in ("simulation", "kernel")
        if name in results
    ]
    return "{\n" + ",\n".join([f'"release": "{results.get("release", "")}"', *parts]) + "\n}\n"


def merged(before: list[Row], found: list[Row]) -> list[Row]:
    """Put new rows into the place of old ones."""
    rows = {tuple(row[name] for name in KEYS): row for row in (*before, *found)}
    return list(rows.values())


def extended(before: list[Row], found: list[Row]) -> list[Row]:
    """Put the runs of new rows behind those of old ones."""
    rows = {tuple(row[name] for name in KEYS): row for row in before}
    made = []
    for new in found:
        old = rows.get(tuple(new[name] for name in KEYS), {})
        lists = {
            name: old.get(name, []) + runs for name, runs in new.items() if isinstance(runs, list)
        }
        build, tried = both(old.get("build"), new["build"]), old.get("tried", 0) + new["tried"]
        made.append({**old, **new, **lists, "build": build, "tried": tried})
    return made


def every(cases: list[Case], seeds: int) -> list[Key]:
    """Name all runs."""
    return [
        (case, manager, seed)
        for case in cases
        for manager in managers(case)
        for seed in range(1, seeds + 1)
    ]


def lacking(keys: list[Key], rows: list[Row]) -> list[Key]:
    """Name those of these runs that rows lack; where there is no row, none."""
    # Those that were late each time are not tried again: others take their place.
    tried: dict[tuple[Any, ...], int] = {
        tuple(row[name] for name in KEYS): row.get("last") or row["tried"] for row in rows
    }
    return [
        (case, manager, seed)
        for case, manager, seed in keys
        if seed > tried.get((case.way, case.load, case.beside, manager), seed)
    ]


def managers(case: Case) -> tuple[str, ...]:
    """Say whose runs are compared."""
    if case.way in HEALTHY:
        return ("guard",)
    return (*MANAGERS, BACKUPS) if as_backup(case) else MANAGERS


def gathered(runs: Iterator[tuple[Key, Row]]) -> list[Row]:
    """Put the figures of all runs of a case together: a list of each, without those of runs that did not come to their end."""
    rows: dict[tuple[Case, str], Row] = {}
    for (case, manager, seed), found in runs:
        about = {"way": case.way, "load": case.load, "beside": case.beside, "manager": manager}
        row = rows.setdefault((case, manager), about | {"build": build(), "tried": 0})
        row["tried"] += 1
        row["last"] = max(seed, row.get("last", 0))
        for name, value in found.items():
            row.setdefault(name, []).append(value)
    return list(rows.values())


def simulated(cases: list[Case], seeds: int, at_once: int) -> Iterator[tuple[Key, Row]]:
    """Simulate each with both."""
    keys = every(cases, seeds)
    with ProcessPoolExecutor(at_once) as workers:
        yield from zip(keys, workers.map(simulated_once, keys, chunksize=seeds), strict=True)


def simulated_once(key: Key) -> Row:
    """Simulate one; gives its figures, none if it did not come to its end, as with the kernel."""
    case, manager, seed = key
    return simulation(case.read(manager), seed, lambda frame: figures(frame, case))


def played(
    keys: list[Key], directory: Path, at_once: int, most_ms: float
) -> Iterator[tuple[Key, Row]]:
    """Play each with the kernel; leaves out those that were late each time."""
    jobs = {
        pool.Job(
            f"{case.name}-{manager}", case.text(manager), "kernel", seed, partial(_taken, case=case)
        ): (case, manager, seed)
        for case, manager, seed in sorted(keys, key=lambda key: key[2])
    }
    # Of a series that was interrupted those stay, too, that stopped for good.
    for job in jobs:
        _stopped(job, directory)
    found: dict[Key, Row] = {}
    for _ in range(ROUNDS):
        waiting = [job for job, key in jobs.items() if key not in found]
        done = pool.run(waiting, directory, at_once)
        for job in waiting:
            figures = done[job] if job in done else _stopped(job, directory)
            if figures is not None and not is_late(figures, most_ms):
                found[jobs[job]] = figures
            else:
                job.forget(directory)
    yield from ((key, found[key]) for key in sorted(found, key=str))


def is_late(figures: Row, most_ms: float) -> bool:
    """Say whether the emulator was later than that one time of a hundred."""
    late_ms = figures["late_ms_p99"]
    return late_ms is not None and late_ms > most_ms


def _stopped(job: pool.Job, directory: Path) -> Row | None:
    """Give what is known of a run that stopped for good: why it ended, whether its captures show why, and how late its emulator was."""
    try:
        run = Run(job.out(directory) / "run" / "mptcp")
    except mptcplab.Error:
        return None
    reason = run.outcome["reason"]
    if not reason.startswith("stopped after"):
        return None
    is_stuck = "receiver_stuck" in run.findings["kind"].to_list()
    return job.keep(directory, {"outcome": reason, "stuck": is_stuck} | pool.late(run))


def _taken(run: Run, *, case: Case) -> pool.Figures:
    return figures(lambda name: getattr(run, name), case)


if __name__ == "__main__":
    main()
