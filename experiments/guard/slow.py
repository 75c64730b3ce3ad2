"""What the guard does beside a path that is twenty times slower: ``python -m experiments.guard.slow``.

Nothing but a path of 1 Mbit/s is left where Wi-Fi goes. What was found in simulation goes to ``slow.json`` beside this file.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

from experiments.guard.figures import figures, finished, simulated
from experiments.guard.scenarios import Case
from experiments.markdown import table
from mptcplab.results.record import build
from mptcplab.scenario.scenario import load

RESULTS = Path(__file__).parent / "slow.json"
MANAGERS = ("linux", "guard")
CASES = tuple(
    Case(way, f"greedy {direction}")
    for way, direction in product(("flapping", "blackout"), ("download", "upload"))
)
SLOW = 'rate = "1 Mbit/s"\ndelay = "30 ms"'
Row = dict[str, Any]


def main() -> None:
    """Run, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("--seeds", type=int, default=10, help="runs of each")
    parser.add_argument("--at-once", type=int, default=2, help="runs at once")
    given = parser.parse_args()
    keys = list(product(CASES, MANAGERS, range(1, given.seeds + 1)))
    with ProcessPoolExecutor(given.at_once) as workers:
        found = list(workers.map(_simulated, keys))
    rows: dict[tuple[Case, str], Row] = {}
    for (case, manager, _), one in zip(keys, found, strict=True):
        about = {"way": case.way, "load": case.load, "manager": manager}
        row = rows.setdefault(
            (case, manager),
            about | {"build": build(), "tried": 0, "gap_ms": [], "mbps": [], "suspended": []},
        )
        row["tried"] += 1
        if not one:
            continue
        row["gap_ms"].append(one["gap_ms"])
        row["mbps"].append(one["mbps"])
        row["suspended"].append(len(one["suspended_s"]))
    lines = ",\n".join(json.dumps(row) for row in rows.values())
    RESULTS.write_text(f"[\n{lines}\n]\n")


def _simulated(key: tuple[Case, str, int]) -> Row:
    case, manager, seed = key
    text = case.text(manager).replace('[link.carrier]\nprofile = "lte"\n', "")
    _, scenario = load(tomllib.loads(text.replace('link = "carrier"', SLOW)))
    return simulated(scenario, seed, lambda frame: figures(frame, case))


def markdown() -> str:
    """Draw the table: minimum, maximum and median of all runs."""
    cells = []
    for row in json.loads(RESULTS.read_text()):
        about = [row["way"], row["load"], row["manager"], finished(row)]
        cells.append([*about, _shown([ms / 1000 for ms in row["gap_ms"]]), _shown(row["mbps"])])
    heads = ["Wi-Fi", "load", "path manager", "runs", "longest gap, s", "Mbit/s"]
    return "\n".join(table(heads, cells))


def _shown(values: list[float]) -> str:
    return f"{min(values):.2f}–{max(values):.2f}, {median(values):.2f}"


if __name__ == "__main__":
    main()
