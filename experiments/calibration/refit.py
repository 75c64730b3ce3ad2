"""Fits the papers' links anew, in place, and runs what hangs on them. ``python -m experiments.calibration.refit runs/study``.

For when what plain TCP of 2012 does has changed, or there are other families: every link of a row is fitted as ``mptcplab calibrate
--all`` does, a few minutes each on one core. They are kept in ``links`` of the directory until all are there, so that the same command
goes on where it was interrupted, and then written over those that ship, measured with seeds of their own (``run``, also
``--left-out``), and the study is run. What changed, of links and of the study's verdicts and scores, is printed as Markdown.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
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
from mptcplab.writing import write_whole

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
        help="where fitted links and the study's runs are kept; without it, links alone, in place",
    )
    options.add_argument("--row", action="append", help="only this row; others stay as they are")
    given = options.parse_args()
    wanted = given.row or list(rows.subjects())
    kept = LINKS if given.study is None else given.study / "links"
    kept.mkdir(parents=True, exist_ok=True)
    before = {row: library.table("links", profile_name(row)) for row in wanted}
    files = [fitted(row, kept) for row in wanted]
    changed = [cells(row, before[row], file) for row, file in zip(wanted, files, strict=True)]
    if kept != LINKS:
        for file in files:
            write_whole(LINKS / file.name, file.read_bytes())
    if given.study is not None:
        results = json.loads(KEPT["simulation"].read_text())
        chosen = [word for row in given.row or () for word in ("--row", row)]
        for arguments in (
            ["experiments.calibration.run", *chosen],
            ["experiments.calibration.run", "--left-out", *chosen],
            ["experiments.study.run", str(given.study)],
        ):
            subprocess.run([sys.executable, "-m", *arguments], check=True)
    print("\n".join(table(HEADS, changed)))
    if given.study is not None:
        print("\n".join(changes(results, json.loads(KEPT["simulation"].read_text()))))
        # Another call would take them for links of the program as it is then.
        for file in files:
            file.unlink()


def fitted(row: str, kept: Path) -> Path:
    """Fit a row's link, unless it is kept already, and give its file."""
    file = kept / f"{profile_name(row)}.toml"
    if kept == LINKS or not file.exists():
        made = mptcplab.calibrate(row=row, out=file)
        print(f"{row}: {made.verdict}", file=sys.stderr, flush=True)
    return file


def cells(row: str, before: Link, file: Path) -> list[str]:
    """Give what changed of a row's link as the cells of ``HEADS``."""
    made = tomllib.loads(file.read_text())
    direction = "downlink" if rows.subject(row).direction == "download" else "uplink"
    pairs = zip(facts(before[direction]), facts(made[direction]), strict=True)
    residuals = made["origin"]["residuals"]
    return [
        f"`{row}`",
        *(old if old == new else f"{old} → {new}" for old, new in pairs),
        ", ".join(figure for figure, one in residuals.items() if not one["met"]),
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
