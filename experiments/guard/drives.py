"""The papers' drives past Wi-Fi that comes and goes, with a guard and without: ``python -m experiments.guard.drives``.

The study's campaigns (figures 11 and 12 of UM-CS-2012-022), simulated with today's defaults and an address of the server's more. What Wi-Fi carried in the visits
goes to ``drives.json`` beside this file.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from concurrent.futures import ProcessPoolExecutor
from importlib.resources import files
from pathlib import Path
from statistics import mean, median
from typing import Any

import polars as pl

from experiments.markdown import table
from mptcplab import _core
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import Scenario
from mptcplab.scenario.scenario import load as load_scenario
from mptcplab.study.campaigns import written
from mptcplab.study.experiment import TODAY, Extent

RESULTS = Path(__file__).parent / "drives.json"
# Each drive, and its path of Wi-Fi.
DRIVES = {"campus-drive": "umass", "boston-drive": "wifi"}
MANAGERS = ("full-mesh", "guard")
VISIT_S = 20
# A visit is used once Wi-Fi carries so much of it.
USED_BYTES = 50_000
Key = tuple[str, str, int]
Row = dict[str, Any]


def main() -> None:
    """Run, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("--seeds", type=int, default=10, help="runs of each")
    parser.add_argument("--at-once", type=int, default=2, help="runs at once")
    given = parser.parse_args()
    keys = [
        (drive, manager, seed)
        for drive in DRIVES
        for seed in range(1, given.seeds + 1)
        for manager in MANAGERS
    ]
    with ProcessPoolExecutor(given.at_once) as workers:
        rows = list(workers.map(driven, keys))
    lines = ",\n".join(json.dumps(row) for row in rows)
    RESULTS.write_text(f"[\n{lines}\n]\n")


def scenario(drive: str, manager: str) -> Scenario:
    """Give the study's scenario, of today's endpoint, with a path manager."""
    text = (files("mptcplab.study") / f"experiments/{drive}.toml").read_text("utf-8")
    extent = Extent(stacks=(TODAY,))
    campaign = written(tomllib.loads(text)["campaign"], extent)["main"]
    settings = campaign["axis"]["stack"]["points"][TODAY] | {"mptcp.path_manager": manager}
    made: dict[str, Any] = campaign["scenario"]
    for name, value in settings.items():
        *sections, key = name.split(".")
        place = made
        for section in sections:
            place = place.setdefault(section, {})
        place[key] = value
    return load_scenario(made)[1]


def driven(key: Key) -> Row:
    """Simulate one drive."""
    drive, manager, seed = key
    made = scenario(drive, manager)
    wifi = DRIVES[drive]
    tables = _core.simulate(plan(made, seed), samples=False)
    subflows = pl.DataFrame(tables.table("subflows")).filter(path=wifi)
    carried = (
        pl.DataFrame(tables.table("throughput"))
        .filter(direction="down")
        .join(subflows, on=["connection", "subflow"], how="semi")
    )
    transfer = pl.DataFrame(tables.table("transfers")).filter(direction="down").row(0, named=True)
    starts = (one.at / 1e9 for one in made.timeline if (one.path, one.verb) == (wifi, "restore"))
    visits = [
        _visit(carried, starts_s)
        for starts_s in starts
        if starts_s + VISIT_S <= transfer["elapsed_s"]
    ]
    return {
        "drive": drive,
        "manager": manager,
        "seed": seed,
        "mbps": round(transfer["throughput_mbps"], 3),
        "visits": visits,
    }


def _visit(carried: pl.DataFrame, starts_s: float) -> tuple[int, float]:
    """Give the bytes of a visit, and how long it took until enough of them were there."""
    within = carried.filter(pl.col("at_s").is_between(starts_s, starts_s + VISIT_S)).sort("at_s")
    so_far = within.with_columns(pl.col("bytes").cum_sum().alias("sum"))
    used = so_far.filter(pl.col("sum") >= USED_BYTES)["at_s"]
    return int(within["bytes"].sum()), round(used[0] - starts_s, 1) if len(used) else VISIT_S


def markdown() -> str:
    """Draw the table."""
    rows: list[Row] = json.loads(RESULTS.read_text())
    cells = []
    for drive in DRIVES:
        for manager in MANAGERS:
            own = [row for row in rows if (row["drive"], row["manager"]) == (drive, manager)]
            visits = [visit for row in own for visit in row["visits"]]
            if not visits:
                continue
            missed = sum(carried <= USED_BYTES for carried, _ in visits)
            cells.append(
                [
                    drive.partition("-")[0],
                    manager,
                    str(len(own)),
                    f"{missed} of {len(visits)}",
                    f"{median(after_s for _, after_s in visits):.1f}",
                    f"{mean(carried for carried, _ in visits) / 1e6:.1f}",
                    f"{mean(row['mbps'] for row in own):.2f}",
                ]
            )
    heads = ["drive", "path manager", "runs", "visits missed", "used after s", "MB a visit"]
    return "\n".join(table([*heads, "Mbit/s over the drive"], cells))


if __name__ == "__main__":
    main()
