"""Does the guard leave paths alone where nothing is wrong with them? ``python -m experiments.guard.healthy``.

Ways that are clean, lose 1 or 5 %, have queues of a second, or stand still for tens of milliseconds, under steady and bursty loads and with pauses: with
every seed nothing may be suspended. What was goes to ``healthy.json`` beside this file.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from experiments.guard.scenarios import Case, healthy
from mptcplab import _core
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import Scenario

RESULTS = Path(__file__).parent / "healthy.json"


def main() -> None:
    """Run, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("?")[0] + "?")
    parser.add_argument("--seeds", type=int, default=50, help="runs of each")
    parser.add_argument("--at-once", type=int, default=2, help="runs at once")
    given = parser.parse_args()
    keys = [(case, seed) for case in healthy() for seed in range(1, given.seeds + 1)]
    with ProcessPoolExecutor(given.at_once) as workers:
        found = list(workers.map(_simulated, keys, chunksize=given.seeds))
    rows: dict[Case, dict[str, Any]] = {}
    for (case, seed), one in zip(keys, found, strict=True):
        row = rows.setdefault(
            case,
            {"way": case.way, "load": case.load, "runs": 0, "suspicions": 0, "suspensions": []},
        )
        row["runs"] += 1
        row["suspicions"] += one["guard-suspect"]
        row["suspensions"] += [f"seed {seed}: {evidence}" for evidence in one["evidence"]]
    lines = ",\n".join(json.dumps(row) for row in rows.values())
    RESULTS.write_text(f'{{"rows": [\n{lines}\n]}}\n')
    suspended = sum(len(row["suspensions"]) for row in rows.values())
    print(f"{len(keys)} runs, {suspended} suspensions")


def _simulated(key: tuple[Case, int]) -> dict[str, Any]:
    case, seed = key
    return decisions(case.read("guard"), seed)


def decisions(scenario: Scenario, seed: int) -> dict[str, Any]:
    """Simulate one; gives how often it was suspected, and the evidence of suspensions."""
    tables = _core.simulate(plan(scenario, seed), samples=False)
    signals = list(tables.rows("signals"))
    counts = Counter(row["signal"] for row in signals)
    evidence = [row["evidence"] for row in signals if row["signal"] == "guard-suspended"]
    return {"guard-suspect": counts["guard-suspect"], "evidence": evidence}


if __name__ == "__main__":
    main()
