"""Do prediction intervals hold what links outside the families do? ``python -m experiments.coverage.links``.

A truth is two links of which none is of a family: retries, handovers, grants, CoDel and losses that hang on packets, with figures drawn
by its number. Plain TCP over each gives what papers print: means and deviations over six runs. Links are calibrated on these alone, and
predict MPTCP over both. How much of the truth lies in the 90 % intervals goes to ``links.json`` beside this file.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mptcplab import _core
from mptcplab.calibration import profile
from mptcplab.calibration.choice import PRINTED_RUNS, choose
from mptcplab.calibration.measure import Measured, measure, of_tables
from mptcplab.calibration.subject import Subject
from mptcplab.calibration.target import Target
from mptcplab.scenario.plan import plan
from mptcplab.scenario.resolved import drawn
from mptcplab.scenario.scenario import load
from mptcplab.study.scoring import prediction

KEPT = Path(__file__).parent / "links.json"
# Others than those that were looked at while families and draws were chosen.
TRUTHS = range(40, 60)
RUNS = 30
FIT_RUNS, FIT_TRIES = 6, 10
TECHNOLOGIES = ("LTE", "Wi-Fi")
# Every truth draws its own, for its runs and for predictions of it, so that not all are lucky or
# unlucky at once.
SEEDS = (10_000, 1_000_000)
FIGURES = ("throughput", "rtt", "loss")
TRANSFER = {"direction": "download", "size": "4 MB"}
WORKERS = os.cpu_count() or 1

Link = dict[str, Any]


def main() -> None:
    """Make the truths, calibrate, predict, and write."""
    rows = []
    for number in TRUTHS:
        rows.append(row := judged(number))
        print(number, json.dumps(row), file=sys.stderr, flush=True)
        KEPT.write_text(json.dumps({"runs": RUNS, "truths": rows}, indent=1) + "\n")


def judged(number: int) -> dict[str, Any]:
    """Give, for each figure, the interval, the truth's mean, and how many of its runs are inside."""
    chance = random.Random(number)
    truths = {name: hidden(name, chance) for name in TECHNOLOGIES}
    links, families = {}, {}
    for name, truth in truths.items():
        printed = [chance.randrange(*SEEDS) for _ in range(PRINTED_RUNS)]
        found = choose(
            subject(name, truth, printed), runs=FIT_RUNS, tries=FIT_TRIES, workers=WORKERS
        )
        links[name] = profile.link(found)
        families[name] = {one.fit.family.name: round(one.weight, 3) for one in found.standing}
    theirs, ours = (
        both(one, [chance.randrange(*SEEDS) for _ in range(RUNS)]) for one in (truths, links)
    )
    row: dict[str, Any] = {"families": families}
    for figure in FIGURES:
        interval = prediction([run[figure] for run in ours.runs])
        mean = theirs.mean(figure)
        if interval is None or mean is None:
            continue
        values = [value for run in theirs.runs if (value := run[figure]) is not None]
        row[figure] = {
            "low": interval[0],
            "high": interval[1],
            "mean": mean,
            "inside": sum(interval[0] <= one <= interval[1] for one in values),
            "runs": len(values),
        }
    return row


def hidden(technology: str, chance: random.Random) -> Link:
    """Draw a link that no family has."""
    cellular = technology == "LTE"
    mbps = chance.uniform(3, 15)
    delay = {
        "element": "delay",
        "delay": f"{chance.uniform(*((20, 60) if cellular else (3, 15))):.1f} ms",
    }
    limited = {
        "element": "rate-process",
        "mean": f"{mbps:.2f} Mbit/s",
        "deviation": f"{mbps * chance.uniform(0.1, 0.4):.2f} Mbit/s",
        "correlation": f"{chance.uniform(0.1, 1):.2f} s",
        "floor": f"{mbps / 20:.2f} Mbit/s",
        "queue": {"queue": "codel", "bytes": f"{round(mbps * chance.uniform(10, 60))} kB"},
    }
    lossy = {
        "element": "gilbert-elliott",
        "p": f"{chance.uniform(0.01, 0.1):.3f} %",
        "r": f"{chance.uniform(20, 80):.0f} %",
    }
    radio = (
        [
            {"element": "grants", "share": f"{chance.uniform(20, 60):.0f} %"},
            {"element": "handover", "every": "8 s", "shortest": "30 ms", "longest": "150 ms"},
        ]
        if cellular
        else [{"element": "arq", "error_ratio": "20 %", "back_off": "135 us", "tries": 5}]
    )
    up = {"element": "rate", "rate": "5 Mbit/s"}
    return {
        "uplink": [up, delay],
        "downlink": [limited, *radio, lossy, delay],
        "draw": {"rate": {"of": ["downlink.0.mean"], "spread": 0.2}},
    }


def subject(technology: str, truth: Link, seeds: Sequence[int]) -> Subject:
    """Give what a paper would print of plain TCP over a link."""
    blank = Subject(
        name=technology,
        title=technology,
        origin={"kind": "calibrated", "row": technology},
        technology=technology,
        direction="download",
        targets=(),
        transfers=(TRANSFER,),
        mptcp={"era": "2012"},
        tcp={"congestion_control": "reno"},
        draws=True,
    )
    printed = measure(blank, truth, seeds, workers=WORKERS)
    targets = tuple(
        Target(figure, mean, printed.sd(figure))
        for figure in ("throughput", "rtt", "handshake_rtt", "loss")
        if (mean := printed.mean(figure))
    )
    return Subject(**{**vars(blank), "targets": targets})


def both(links: dict[str, Link], seeds: Sequence[int]) -> Measured:
    """Give the figures of MPTCP over two links."""
    names = {technology: technology.lower().replace("-", "") for technology in links}
    given = {
        "schema": 1,
        "transfer": TRANSFER,
        "link": {names[one]: link for one, link in links.items()},
        "path": {name: {"link": name} for name in names.values()},
        "mptcp": {"era": "2012", "congestion_control": "lia"},
        "tcp": {"congestion_control": "reno"},
    }
    scenario = load(given)[1]

    def run(seed: int) -> dict[str, float | None]:
        tables = _core.simulate(plan(drawn(scenario, seed), seed), samples=False)
        return of_tables(tables, "down")

    with ThreadPoolExecutor(WORKERS) as pool:
        return Measured(list(pool.map(run, seeds)))


if __name__ == "__main__":
    main()
