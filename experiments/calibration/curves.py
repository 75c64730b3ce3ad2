"""What would curves decide that papers draw? ``python -m experiments.calibration.curves``.

Papers draw the throughput of some single paths over time, and say of it in words whether it is a saw-tooth. The choice of families reads
no more of it than whether throughput varies at all, and that of three rows. Here the families that stand of such a row are simulated, and a constant capacity beside them where it does not stand. How
much throughput varies within a run, what its best second carries, and by which factor it grows between losses go to ``curves.json``
beside this file.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from experiments.calibration.run import SECTIONS, SEEDS
from mptcplab import _core
from mptcplab.calibration import choice, rows, start
from mptcplab.calibration.families import families
from mptcplab.calibration.fit import RUNS, balanced_seeds, searched
from mptcplab.calibration.measure import DATA_DIRECTIONS, PATH
from mptcplab.calibration.subject import Subject
from mptcplab.results import run_metrics
from mptcplab.scenario import library
from mptcplab.scenario.plan import plan
from mptcplab.scenario.resolved import drawn
from mptcplab.scenario.scenario import load

RESULTS = Path(__file__).parent / "curves.json"
# Rows of whose throughput over time the text says something, with the figure.
CURVES = {
    "umass-tr/II/amherst-verizon-lte": ("figure 1", "saw-tooth, peak of 13.54 Mbit/s"),
    "umass-tr/II/boston-att-lte": ("figure 2", "no saw-tooth, capped at 11 Mbit/s"),
    "umass-tr/II/boston-att-lte-adjusted": ("§IV-A, not drawn", "no prominent saw-tooth"),
    "umass-tr/II/amherst-att-hspa": ("figure 2", "saw-tooth"),
    "umass-tr/IV/boston-att-lte-mobile": ("figure 6", "saw-tooth"),
    "umass-up/1/verizon-lte": ("figure 1", "saw-tooth"),
    "umass-up/1/att-hspa": ("figure 2", "steady"),
    "umass-up/1/verizon-ehrpd": ("figure 3", "steady"),
}
CONSTANT = "steady-bursts"
# Times between losses that are shorter say nothing of growth, in s.
CALM_S = 6
LOST = ("retransmission", "timeout")

Row = dict[str, Any]


def main() -> None:
    """Simulate, and write."""
    kept = {}
    for name in CURVES:
        subject = rows.subject(name)
        tried = library.table("links", subject.name)["origin"]["families"]
        weights = {one["family"]: one["weight"] for one in tried}
        kept[name] = {
            family: {"weight": weights[family]} | shown(subject, link)
            for family, link in links(subject, weights)
        }
        print(name, json.dumps(kept[name]), file=sys.stderr, flush=True)
    RESULTS.write_text(json.dumps({"seeds": len(SEEDS), "rows": kept}, indent=1) + "\n")


def links(subject: Subject, weights: dict[str, float]) -> Iterator[tuple[str, Row]]:
    """Give the link of each family that stands, and that of a constant capacity."""
    table = library.table("links", subject.name)
    stands = [family for family, weight in weights.items() if weight >= choice.LEAST_WEIGHT]
    for family, link in zip(stands, (table, *table.get("alternatives", ())), strict=True):
        yield family, {key: link[key] for key in SECTIONS[1:4] if key in link}
    if CONSTANT not in stands:
        model = start.of(subject, families()[CONSTANT])
        seeds = balanced_seeds(model, RUNS // choice.RIVAL_PART)
        found = searched(model, seeds, choice.RIVAL_TRIES, 1)
        yield CONSTANT, model.link(found.parameters)


def shown(subject: Subject, link: Row) -> Row:
    """Give the means over runs, and of how many there were losses far enough apart."""
    scenario = load(
        {
            "schema": 1,
            "transfer": subject.transfers[0],
            "link": {PATH: link},
            "path": {PATH: {"link": PATH}},
            "mptcp": subject.mptcp,
            "tcp": subject.tcp,
        }
    )[1]
    runs = [of_run(subject, plan(drawn(scenario, seed), seed, PATH)) for seed in SEEDS]
    grown = [run["growth"] for run in runs if run["growth"]]
    return {
        "variation": fmean(run["variation"] for run in runs),
        "peak_mbps": fmean(run["peak_mbps"] for run in runs),
        "growth": math.exp(fmean(map(math.log, grown))) if grown else None,
        "grown": len(grown),
    }


def of_run(subject: Subject, planned: Any) -> Row:
    """Give the figures of a run."""
    direction = DATA_DIRECTIONS[subject.direction]
    tables = _core.simulate(
        planned,
        samples=False,
        smoothing_seconds=subject.smoothing_s,
        trim_seconds=subject.trim_s,
    )
    transfer = run_metrics.transfer(tables.rows("connections"), tables.rows("transfers"), direction)
    assert transfer is not None
    carried = [
        row["bytes"]
        for row in tables.rows("throughput")
        if row["subflow"] is None and row["direction"] == direction
    ]
    lost = [
        row["at_s"]
        for row in tables.rows("events")
        if row["event"] in LOST and row["direction"] == direction
    ]
    return {
        "variation": transfer["coefficient_of_variation"],
        "peak_mbps": 8e-6 * max(carried),
        "growth": growth(carried, lost),
    }


def growth(carried: list[int], lost: list[float]) -> float | None:
    """Give by which factor throughput grows between losses: of the last third of each time without any to the first.

    The second of a loss and the next one are left out: what recovers is no growth.
    """
    logs = []
    for lost_s, next_s in pairwise(lost):
        calm = carried[math.ceil(lost_s) + 1 : math.floor(next_s)]
        third = len(calm) // 3
        if next_s - lost_s >= CALM_S and third and sum(calm[:third]) and sum(calm[-third:]):
            logs.append(math.log(sum(calm[-third:]) / sum(calm[:third])))
    return math.exp(fmean(logs)) if logs else None


if __name__ == "__main__":
    main()
