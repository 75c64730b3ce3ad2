"""Is what looks worse with the guard still so with other seeds? ``python -m experiments.guard.again``.

Of many cases some differ by chance. Those of ``results.json`` whose median is worse in simulation are simulated with seeds that no run there had; what came of it goes
to ``again.json`` beside this file, whose rows of other cases stay while they are worse.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

from experiments.guard import run, table
from experiments.guard.scenarios import Case


def main() -> None:
    """Run, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("?")[0] + "?")
    parser.add_argument("--seeds", type=int, default=200, help="runs of each")
    parser.add_argument("--way", nargs="+", help="only what goes bad like this")
    parser.add_argument("--load", nargs="+", help="only these loads")
    parser.add_argument("--at-once", type=int, default=2, help="runs at once")
    given = parser.parse_args()
    simulated = json.loads(run.RESULTS.read_text())["simulation"]
    names = {
        _case(row): table.worse((alone, row))
        for alone, row in table.pairs(simulated)
        if table.worse((alone, row))
    }
    first = 1 + max(row["tried"] for row in simulated)
    keys = [
        (case, manager, seed)
        for case in names
        if (given.way is None or case.way in given.way)
        and (given.load is None or case.load in given.load)
        for manager in run.MANAGERS
        for seed in range(first, first + given.seeds)
    ]
    with ProcessPoolExecutor(given.at_once) as workers:
        found = workers.map(run.simulated_once, keys, chunksize=10)
        rows = run.gathered(zip(keys, found, strict=True))
    before = [
        row
        for row in json.loads(table.AGAIN.read_text())
        if row["what"] in names.get(_case(row), [])
    ]
    kept = {(_case(row), row["what"]): row for row in (*before, *_ratios(table.pairs(rows), names))}
    lines = ",\n".join(json.dumps(row) for row in kept.values())
    table.AGAIN.write_text(f"[\n{lines}\n]\n")


def _case(row: table.Row) -> Case:
    return Case(row["way"], row["load"], row["beside"])


def _ratios(pairs: list[table.Pair], names: dict[Case, list[str]]) -> Iterator[table.Row]:
    for pair in pairs:
        about = {key: pair[1][key] for key in ("way", "load", "beside", "build", "tried")}
        for name in names[_case(about)]:
            low, high = table.interval(pair, name)
            ratio = table.ratio(pair, name)
            yield about | {
                "what": name,
                "ratio": ratio,
                "low": round(low, 3),
                "high": round(high, 3),
            }


if __name__ == "__main__":
    main()
