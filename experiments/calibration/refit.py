"""Fits the papers' links anew, in place, and runs what hangs on them. ``python -m experiments.calibration.refit runs/study``.

For when what plain TCP of 2012 does has changed: every link of a row is fitted as ``mptcplab calibrate --all`` does and
written over the one that ships, then measured with seeds of its own (``run``, also ``--left-out``), then the study is run. What
changed, of links and of the study's verdicts and scores, is printed as Markdown.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import mptcplab
from experiments.markdown import table
from experiments.study.changes import changes
from experiments.study.run import KEPT
from mptcplab.calibration import rows
from mptcplab.calibration.subject import profile_name
from mptcplab.scenario import library

LINKS = Path(mptcplab.__file__).parent / "scenario" / "links" / "papers"
HEADS = ("row", "rate", "queue", "delay there", "lost in bursts", "does not show")

Link = dict[str, Any]


def main() -> None:
    """Fit, measure, run, and say what changed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "study",
        nargs="?",
        type=Path,
        help="where the study's runs are kept; without it, links alone",
    )
    options.add_argument("--row", action="append", help="only this row; others stay as they are")
    given = options.parse_args()
    changed = [refitted(row) for row in given.row or rows.subjects()]
    if given.study is not None:
        before = json.loads(KEPT["simulation"].read_text())
        chosen = [word for row in given.row or () for word in ("--row", row)]
        for words in (
            ["experiments.calibration.run", *chosen],
            ["experiments.calibration.run", "--left-out", *chosen],
            ["experiments.study.run", str(given.study)],
        ):
            subprocess.run([sys.executable, "-m", *words], check=True)
    print("\n".join(table(HEADS, changed)))
    if given.study is not None:
        print("\n".join(changes(before, json.loads(KEPT["simulation"].read_text()))))


def refitted(row: str) -> list[str]:
    """Fit a row's link, write it, and give what changed as the cells of ``HEADS``."""
    name = profile_name(row)
    before = library.table("links", name)
    made = mptcplab.calibrate(row=row, out=LINKS / f"{name}.toml")
    print(
        f"{row}: {'shows every figure' if not made.missed else made.missed}",
        file=sys.stderr,
        flush=True,
    )
    direction = "downlink" if rows.subject(row).direction == "download" else "uplink"
    pairs = zip(facts(before[direction]), facts(made.link[direction]), strict=True)
    return [
        f"`{row}`",
        *(old if old == new else f"{old} → {new}" for old, new in pairs),
        ", ".join(made.missed),
    ]


def facts(elements: Iterable[Link]) -> Iterator[str]:
    """Give what is fitted of the direction of the data: rate, queue, delay, share of time in bursts."""
    found = {key: value for element in elements for key, value in element.items()}
    yield str(found.get("mean", found.get("rate", found.get("high"))))
    limited = next(one for one in elements if {"queue", "drain_rate"} & one.keys())
    yield str(limited["queue"]["bytes"] if "queue" in limited else limited["delay"])
    yield str(next(one["delay"] for one in elements if one.get("element") == "delay"))
    times = [float(found[key].split()[0]) for key in ("bad_time", "good_time") if key in found]
    yield f"{100 * times[0] / sum(times):.3g} %" if times else str(found.get("ratio", "–"))


if __name__ == "__main__":
    main()
