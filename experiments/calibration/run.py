"""Do the links that ship show what was measured? ``python -m experiments.calibration.run [--left-out]``.

Every link of a row is simulated with 30 seeds that it was not fitted with; the figures go to ``results.json`` beside
this file. ``--left-out`` fits each row anew without one figure after the other, and keeps how that figure
comes out then.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from mptcplab.calibration import rows
from mptcplab.calibration.fit import fit, residuals
from mptcplab.calibration.measure import measure
from mptcplab.calibration.subject import Subject
from mptcplab.scenario import library

RESULTS = Path(__file__).parent / "results.json"
SEEDS = range(1, 31)
# Less than a link that ships is fitted with: there is one for each figure of each row.
LEFT_OUT_RUNS, LEFT_OUT_TRIES = 2, 4
LEFT_OUT_SEEDS = SEEDS[:4]
SECTIONS = ("title", "uplink", "downlink", "draw", "alternatives")

Row = dict[str, Any]


def main() -> None:
    """Measure, and write."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--left-out", action="store_true", help="fit again without each figure")
    options.add_argument("--row", action="append", help="only this row; others stay as they were")
    given = options.parse_args()
    known: Row = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    subjects = rows.subjects()
    wanted = given.row or list(subjects)
    part, judge = ("left_out", left_out) if given.left_out else ("rows", shown)
    for name in wanted:
        known.setdefault(part, {})[name] = row = judge(subjects[name])
        print(name, json.dumps(row), file=sys.stderr, flush=True)
        ordered = {
            one: {row: known[one][row] for row in subjects if row in known[one]}
            for one in ("rows", "left_out")
            if one in known
        }
        RESULTS.write_text(json.dumps({"seeds": len(SEEDS), **ordered}, indent=1) + "\n")


def shown(subject: Subject) -> Row:
    """Give every target of a row beside what its link shows."""
    table = library.table("links", subject.name)
    link = {key: table[key] for key in SECTIONS if key in table}
    measured = measure(subject, link, SEEDS, workers=os.cpu_count() or 1)
    return {
        "fitted": table["origin"]["families"][0]["parameters"],
        "figures": {one.target.figure: one.row() for one in residuals(subject, measured)},
    }


def left_out(subject: Subject) -> Row:
    """Give how each figure comes out when a link is fitted to the others."""
    row = {}
    for target in subject.targets:
        others = tuple(one for one in subject.targets if one is not target)
        # Its parameter stays at its first guess, which no longer knows the figure.
        found = fit(
            replace(subject, targets=others),
            runs=LEFT_OUT_RUNS,
            tries=LEFT_OUT_TRIES,
            workers=os.cpu_count() or 1,
        )
        measured = measure(subject, found.link, LEFT_OUT_SEEDS, workers=os.cpu_count() or 1)
        (residual,) = (
            one for one in residuals(subject, measured) if one.target.figure == target.figure
        )
        row[target.figure] = residual.row()
    return row


if __name__ == "__main__":
    main()
