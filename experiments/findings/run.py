"""Provoke every finding, and look for findings where nothing is wrong: ``python -m experiments.findings.run``.

Simulates each scenario of ``provoked.py`` and ``scenarios.py`` and keeps in ``results.json`` what was found in it,
the kind that it provokes or what it is like beside.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mptcplab
from experiments.findings import views
from experiments.findings.provoked import provoked
from experiments.findings.scenarios import silent
from mptcplab import _core
from mptcplab.engines import named
from mptcplab.labels.findings import is_minimum
from mptcplab.results.findings.remedies import FindingPaths, paths_of
from mptcplab.results.findings.tries import Trials, gained, recommending
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load

RESULTS = Path(__file__).parent / "results.json"
SEED = 1
SILENT_SEEDS = (1, 2, 3)


def found(*arguments: Any, **options: Any) -> dict[str, Any]:
    """Run a scenario; give what was found, by kind with its cost, and how long it took."""
    result = recommended(*arguments, **options)
    return {key: value for key, value in result.items() if key not in ASIDE}


ASIDE = {"findings"}


def recommended(
    table: dict[str, Any],
    seed: int,
    settings: Sequence[str] = (),
    view: views.View | None = None,
    engine: str = "simulation",
) -> dict[str, Any]:
    """Give the same, and the findings with their paths, whose remedies ``gains`` tries."""
    if view is None and engine == "simulation":
        _, scenario = load(copy.deepcopy(table), list(settings))
        tables = _core.simulate(plan(scenario, seed, None))
        paths = {
            (row["connection"], row["subflow"]): row["path"] for row in tables.rows("subflows")
        }
        return _told(
            tables.rows("findings"),
            tables.rows("transfers"),
            lambda row: FindingPaths(paths.get((row["connection"], row["subflow"]))),
        )
    with TemporaryDirectory() as directory:
        run = mptcplab.run(
            copy.deepcopy(table),
            seed=seed,
            out=Path(directory) / "run",
            settings=settings,
            baselines=view is views.beside,
            captures="none" if view in (None, views.beside) else "headers",
            engine=engine,
        )
        kept = run.mptcp.tables
        rows = view(run) if view else kept.rows("findings")
        return _told(rows, kept.rows("transfers"), lambda row: paths_of(run, row))


def _told(findings: Any, transfers: Any, where: Callable[[Any], FindingPaths]) -> dict[str, Any]:
    costs: dict[str, float | None] = {}
    minima = set()
    rows = list(findings)
    for row in rows:
        if is_minimum(row):
            minima.add(row["kind"])
        known = [cost for cost in (costs.get(row["kind"]), row["cost_s"]) if cost is not None]
        costs[row["kind"]] = round(sum(known), 3) if known else None
    elapsed = [row["elapsed_s"] or 0 for row in transfers]
    result = {"found": costs, "elapsed_s": round(max(elapsed, default=0), 3)}
    result["findings"] = [(row, where(row)) for row in rows]
    return result | ({"minima": sorted(minima)} if minima else {})


def cost(
    elapsed_s: float, without: dict[str, Any] | None, engine: str = "simulation", seed: int = SEED
) -> float | None:
    """Give what a fault cost: how much longer the transfer took than the same without it."""
    if without is None:
        return None
    without_s: float = found(without, seed, engine=engine)["elapsed_s"]
    return round(elapsed_s - without_s, 3)


def gains(
    table: dict[str, Any], result: dict[str, Any], seed: int = SEED
) -> dict[str, list[dict[str, Any]]]:
    """Give by kind how much sooner the transfer is over with each remedy that its findings recommend.

    As ``why --try`` tries them. The time is None where the transfer stopped without the remedy, and goes on with it.
    """
    direction = "up" if table["transfer"]["direction"] == "upload" else "down"
    trials = Trials(named("simulation"), table, (seed,), direction)
    paths = {id(row): where for row, where in result["findings"]}
    findings = [row for row, _ in result["findings"]]
    remedies = recommending(trials, findings, lambda row: paths[id(row)])
    tried: dict[str, list[dict[str, Any]]] = {}
    if not remedies:
        return tried
    (before,) = trials.transfers(())
    for settings, own in remedies.items():
        (after,) = trials.transfers(settings)
        gained_s = gained(before, after)
        for kind, remedy in {row["kind"]: remedy for remedy, row in own}.items():
            one: dict[str, Any] = {"remedy": remedy.name}
            one["gained_s"] = None if gained_s is None else round(gained_s, 3)
            if kind == "bufferbloat":
                one["rtt_ms"] = [round(row["rtt_ms_mean"]) for row in (before, after)]
            if "longest wait" in remedy.limit:
                one["wait_ms"] = [round(row["response_time_ms_max"]) for row in (before, after)]
            tried.setdefault(kind, []).append(
                one | ({"limit": remedy.limit} if remedy.limit else {})
            )
    return tried


def jobs(
    silent_seeds: Sequence[int],
) -> Iterator[tuple[Callable[..., dict[str, Any]], tuple[Any, ...]]]:
    """Give what makes a row per run, with its arguments."""
    for number, _ in enumerate(provoked()):
        yield provoke, (number,)
    for number, _ in enumerate(silent()):
        for seed in silent_seeds:
            # Once with plain TCP beside it.
            yield leave, (number, seed, seed == silent_seeds[0])


def provoke(number: int) -> dict[str, Any]:
    """Run a scenario that provokes a kind, without the fault, and with the remedy."""
    case = list(provoked())[number]
    result = recommended(case.table, SEED, view=case.view)
    result["true_cost_s"] = cost(result["elapsed_s"], case.without)
    tried = gains(case.table, result)
    result = {key: value for key, value in result.items() if key not in ASIDE}
    result |= {"tried": tried} if tried else {}
    return {"provokes": True, "name": case.kind, "seed": SEED, **result}


def leave(number: int, seed: int, beside: bool) -> dict[str, Any]:
    """Run a scenario in which nothing is wrong; of what is found, try the remedies."""
    name, table = list(silent())[number]
    result = recommended(table, seed, view=views.beside if beside else None)
    tried = gains(table, result, seed)
    result = {key: value for key, value in result.items() if key not in ASIDE}
    result |= {"tried": tried} if tried else {}
    return {"provokes": False, "name": name, "seed": seed, **result}


def main() -> None:
    """Run all of them."""
    rows = []
    with ProcessPoolExecutor() as pool:
        futures = [pool.submit(make, *arguments) for make, arguments in jobs(SILENT_SEEDS)]
        for future in futures:
            rows.append(future.result())
            print(*rows[-1].values(), file=sys.stderr, flush=True)
    lines = ",\n".join(json.dumps(row) for row in rows)
    RESULTS.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main()
