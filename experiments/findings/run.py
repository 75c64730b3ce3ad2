"""Provoke every finding, and look for findings where nothing is wrong: ``python -m experiments.findings.run``.

Simulates each scenario of ``scenarios.py`` and keeps in ``results.json`` what was found in it, the kind that it
provokes or what it is like beside.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments.findings.scenarios import provoked, silent
from mptcplab import _core
from mptcplab.results.findings.remedies import REMEDIES
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load

RESULTS = Path(__file__).parent / "results.json"
PROVOKED_SEEDS = (1,)
SILENT_SEEDS = (1, 2, 3)


def found(table: dict[str, Any], seed: int, settings: Sequence[str] = ()) -> dict[str, Any]:
    """Simulate a scenario; give what was found, by kind with its cost, and how long it took."""
    _, scenario = load(copy.deepcopy(table), list(settings))
    tables = _core.simulate(plan(scenario, seed, None))
    costs: dict[str, float | None] = {}
    for row in tables.rows("findings"):
        known = [cost for cost in (costs.get(row["kind"]), row["cost_s"]) if cost is not None]
        costs[row["kind"]] = round(sum(known), 3) if known else None
    elapsed = [row["elapsed_s"] or 0 for row in tables.rows("transfers")]
    return {"found": costs, "elapsed_s": round(max(elapsed, default=0), 3)}


def cost(elapsed_s: float, without: dict[str, Any] | None, seed: int) -> float | None:
    """Give what a fault cost: how much longer the transfer took than the same without it."""
    return None if without is None else round(elapsed_s - found(without, seed)["elapsed_s"], 3)


def gain(kind: str, table: dict[str, Any], seed: int, elapsed_s: float) -> float | None:
    """Give how much sooner the transfer is over with the remedy; None where that is no setting."""
    remedy = REMEDIES.get(kind)
    if remedy is None:
        return None
    after_s: float = found(table, seed, remedy.settings)["elapsed_s"]
    return round(elapsed_s - after_s, 3)


def results(seeds: tuple[tuple[int, ...], tuple[int, ...]]) -> Iterator[dict[str, Any]]:
    """Give a row per run."""
    for kind, table, without in provoked():
        for seed in seeds[0]:
            row = {"provokes": True, "name": kind, "seed": seed, **found(table, seed)}
            row |= {"true_cost_s": cost(row["elapsed_s"], without, seed)}
            yield row | {"gained_s": gain(kind, table, seed, row["elapsed_s"])}
    for name, table in silent():
        for seed in seeds[1]:
            yield {"provokes": False, "name": name, "seed": seed, **found(table, seed)}


def main() -> None:
    """Run all of them."""
    rows = []
    for row in results((PROVOKED_SEEDS, SILENT_SEEDS)):
        rows.append(row)
        print(*row.values(), file=sys.stderr, flush=True)
    lines = ",\n".join(json.dumps(row) for row in rows)
    RESULTS.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main()
