"""Measures every law: ``python -m experiments.laws.run``, in some minutes on two cores. The same cases are tests in ``tests/laws``.

The figures go to ``results.json`` beside this file, of which ``docs/generate.py`` draws the tables and figures of the
documentation.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from math import inf
from pathlib import Path
from typing import Any

from experiments.laws.families import LAWS
from experiments.laws.law import Case, Reading

RESULTS = Path(__file__).parent / "results.json"


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("--only", nargs="*", choices=LAWS, default=list(LAWS), help="laws")
    parser.add_argument("--at-once", type=int, default=2, help="laws at once")
    given = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    with ProcessPoolExecutor(given.at_once) as pool:
        waiting = {pool.submit(rows, name): name for name in given.only}
        for done in as_completed(waiting):
            results[waiting[done]] = done.result()
    results = {name: results[name] for name in LAWS if name in results}
    RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")


def rows(name: str) -> list[dict[str, Any]]:
    """Measure the cases of a law, in its order."""
    measured = []
    for case in LAWS[name].cases:
        reading = case.read()
        verdict = "" if case.holds(reading) else "  OUT OF ITS BAND"
        print(f"{name}: {case.name}: {reading.ratio:.3f}{verdict}", file=sys.stderr, flush=True)
        measured.append(row(case, reading))
    return measured


def row(case: Case, reading: Reading) -> dict[str, Any]:
    """Write a case down."""
    return {
        "of": list(case.of),
        "law": reading.law,
        "measured": reading.measured,
        "also": list(reading.also),
        "low": case.low,
        "high": None if case.high == inf else case.high,
        "found": case.is_found,
    }


if __name__ == "__main__":
    main()
