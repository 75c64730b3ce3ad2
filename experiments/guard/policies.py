"""When policies open and close paths, simulated and with Linux: ``python -m experiments.guard.policies``.

The scenarios that ship, once with either engine. With Linux it is real time. What was measured goes to ``policies.json`` beside this file.
"""

from __future__ import annotations

import argparse
import json
import platform
import tempfile
from pathlib import Path
from typing import Any

import mptcplab
from experiments.markdown import table
from mptcplab.results.run import Run

RESULTS = Path(__file__).parent / "policies.json"
# Each scenario that ships, and the policy in it.
SCENARIOS = {
    "data-plan": "budget of data",
    "metered": "budget of cost",
    "offload": "offload",
    "on-demand": "on-demand",
    "maps": "MAPS",
    "signal": "signal (the guard)",
}
ENGINES = ("simulation", "kernel")
# How near the times of both engines are to be: by a part of them, or so many seconds.
PART, SECONDS = 0.2, 0.5
Changes = list[tuple[str, str, float]]


def main() -> None:
    """Run, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("--engine", nargs="+", choices=ENGINES, default=ENGINES, help="only these")
    parser.add_argument("--scenario", nargs="+", choices=SCENARIOS, default=SCENARIOS)
    given = parser.parse_args()
    results: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in given.scenario:
        for engine in given.engine:
            results.setdefault(engine, {})[name] = changes(name, engine)
    results["release"] = platform.release()
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def changes(name: str, engine: str) -> Changes:
    """Give when paths came and went while data was carried, but for the first: path, what, seconds."""
    with tempfile.TemporaryDirectory() as directory:
        mptcplab.run(name, engine=engine, seed=1, baselines=False, out=directory, force=True)
        run = Run(Path(directory) / "mptcp")
        subflows = run.subflows.filter(connection=0).sort("start_s").to_dicts()
        over_s = run.transfers.filter(direction="down")["elapsed_s"].max()
    assert isinstance(over_s, float)
    found = [(one["path"], "joins", one["start_s"]) for one in subflows[1:]]
    # Whatever is there ends with the connection.
    ends = [(one["path"], "leaves", one["end_s"]) for one in subflows if one["end_s"] is not None]
    found += [end for end in ends if end[2] < over_s - SECONDS]
    return [
        (path, what, round(at_s, 2)) for path, what, at_s in sorted(found, key=lambda one: one[2])
    ]


def markdown() -> str:
    """Draw the table."""
    results = json.loads(RESULTS.read_text())
    cells = []
    for name, policy in SCENARIOS.items():
        simulated, played = (results[engine][name] for engine in ENGINES)
        cells.append(
            [
                policy,
                f"`{name}`",
                _joins_and_leaves(simulated),
                _joins_and_leaves(played),
                _agree(simulated, played),
            ]
        )
    heads = ["policy", "scenario", "simulated", "with Linux", "first times within 20 % or 0.5 s"]
    return "\n".join(table(heads, cells))


def _joins_and_leaves(found: Changes) -> str:
    return ", ".join(f"{path} {what} at {at_s:.2f} s" for path, what, at_s in found) or "–"


def _agree(one: Changes, other: Changes) -> str:
    """Say whether each path comes and goes at the same time in both, the first time."""
    first, same = (_first(found) for found in (one, other))
    if first.keys() != same.keys():
        return "no"
    near = (abs(at_s - same[key]) <= max(SECONDS, PART * at_s) for key, at_s in first.items())
    return "yes" if all(near) else "no"


def _first(found: Changes) -> dict[tuple[str, str], float]:
    return {(path, what): at_s for path, what, at_s in reversed(found)}


if __name__ == "__main__":
    main()
