"""Does the guard leave paths alone where nothing is wrong with them? ``python -m experiments.guard.healthy``.

Ways that are clean, lose 1 to 5 %, have queues of a second, or stand still for tens of milliseconds, under steady and bursty loads and with pauses: with
every seed nothing may be suspended. What was goes to ``healthy.json`` beside this file.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from experiments.guard import scenarios
from mptcplab import _core
from mptcplab.scenario.plan import plan

RESULTS = Path(__file__).parent / "healthy.json"


def main() -> None:
    """Run, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("?")[0] + "?")
    parser.add_argument("--seeds", type=int, default=50, help="runs of each")
    parser.add_argument("--at-once", type=int, default=2, help="runs at once")
    given = parser.parse_args()
    cases = [
        (way, load, seed)
        for way in scenarios.HEALTHY
        for load in scenarios.LOADS
        for seed in range(1, given.seeds + 1)
    ]
    with ProcessPoolExecutor(given.at_once) as pool:
        rows = list(pool.map(decisions, cases))
    RESULTS.write_text(json.dumps({"runs": len(rows), "rows": summary(rows)}, indent=1) + "\n")
    print(json.dumps(summary(rows), indent=1))


def decisions(case: tuple[str, str, int]) -> dict[str, Any]:
    """Simulate one; gives how often each was decided."""
    way, load, seed = case
    scenario = scenarios.read(way, load, "guard", backup=False)
    tables = _core.simulate(plan(scenario, seed), samples=False)
    found = Counter(row["signal"] for row in tables.rows("signals"))
    suspended = [
        row["evidence"] for row in tables.rows("signals") if row["signal"] == "guard-suspended"
    ]
    return {"way": way, "load": load, "seed": seed, "found": found, "suspended": suspended}


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the runs of each up."""
    found = []
    for way in scenarios.HEALTHY:
        for load in scenarios.LOADS:
            own = [row for row in rows if (row["way"], row["load"]) == (way, load)]
            if own:
                found.append(
                    {
                        "way": way,
                        "load": load,
                        "runs": len(own),
                        "suspicions": sum(row["found"]["guard-suspect"] for row in own),
                        "runs_with_suspensions": sum(bool(row["suspended"]) for row in own),
                        "suspensions": [
                            f"seed {row['seed']}: {words}"
                            for row in own
                            for words in row["suspended"]
                        ],
                    }
                )
    return found


if __name__ == "__main__":
    main()
