"""The papers' drives past Wi-Fi that comes and goes, with a guard and without: ``python -m experiments.guard.drives``.

The study's campaigns (figures 11 and 12 of UM-CS-2012-022), simulated with today's defaults and an address of the server's more, or played with Linux. What Wi-Fi carried in the visits
goes to ``drives.json`` beside this file; rows of another engine, drive or receive buffer stay.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import tomllib
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.resources import files
from itertools import product
from pathlib import Path
from statistics import mean, median
from typing import Any

import polars as pl

import mptcplab
from experiments.guard.figures import Frame
from experiments.markdown import table
from mptcplab import _core
from mptcplab.results.run import Run
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import Scenario
from mptcplab.scenario.scenario import load as load_scenario
from mptcplab.study.campaigns import written
from mptcplab.study.experiment import TODAY, Extent

RESULTS = Path(__file__).parent / "drives.json"
# Each drive, and its path of Wi-Fi.
DRIVES = {"campus-drive": "umass", "boston-drive": "wifi"}
# Of each engine: Linux's own opens the same subflows as a full mesh.
MANAGERS = {"simulation": ("full-mesh", "guard"), "kernel": ("linux", "guard")}
# What Linux has no setting for, or a default of its own.
SIMULATED = ("mptcp.era", "tcp.ssthresh_cache", "tcp.initial_ssthresh")
# That sockets begin with: Linux's own, and one that holds what is under way over slow paths.
BUFFERS = (None, "4 MB")
VISIT_S = 20
# A visit is used once Wi-Fi carries so much of it.
USED_BYTES = 50_000
Key = tuple[str, str, str, int]
Row = dict[str, Any]


def main() -> None:
    """Run, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("--seeds", type=int, default=10, help="runs of each")
    parser.add_argument("--at-once", type=int, default=2, help="runs at once")
    parser.add_argument("--engine", choices=MANAGERS, default="simulation", help="what runs them")
    parser.add_argument("--drive", nargs="+", choices=DRIVES, default=DRIVES, help="only these")
    parser.add_argument("--receive-buffer", help="that sockets begin with; Linux's if left out")
    given = parser.parse_args()
    keys = [
        (given.engine, drive, manager, seed)
        for drive in given.drive
        for seed in range(1, given.seeds + 1)
        for manager in MANAGERS[given.engine]
    ]
    with ProcessPoolExecutor(given.at_once) as workers:
        found = list(workers.map(partial(driven, receive_buffer=given.receive_buffer), keys))
    before = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    done = {(given.engine, drive, given.receive_buffer) for drive in given.drive}
    rows = [
        row for row in before if (row["engine"], row["drive"], row["receive_buffer"]) not in done
    ]
    lines = ",\n".join(json.dumps(row) for row in rows + found)
    RESULTS.write_text(f"[\n{lines}\n]\n")


def settings(engine: str, drive: str, manager: str) -> dict[str, Any]:
    """Give the study's scenario, of today's endpoint, with a path manager."""
    text = (files("mptcplab.study") / f"experiments/{drive}.toml").read_text("utf-8")
    extent = Extent(stacks=(TODAY,))
    campaign = written(tomllib.loads(text)["campaign"], extent)["main"]
    own = campaign["axis"]["stack"]["points"][TODAY] | {"mptcp.path_manager": manager}
    made: dict[str, Any] = campaign["scenario"]
    for name, value in own.items():
        if engine == "kernel" and name in SIMULATED:
            continue
        *sections, key = name.split(".")
        table = made
        for section in sections:
            table = table.setdefault(section, {})
        table[key] = value
    return made


def scenario(drive: str, manager: str) -> Scenario:
    """Give it as it is read, for simulation."""
    return load_scenario(settings("simulation", drive, manager))[1]


def driven(key: Key, receive_buffer: str | None = None) -> Row:
    """Run one drive."""
    engine, drive, manager, seed = key
    made = settings(engine, drive, manager)
    if receive_buffer is not None:
        made.setdefault("tcp", {})["receive_buffer"] = receive_buffer
    _, read = load_scenario(made)
    about: Row = {"engine": engine, "drive": drive, "receive_buffer": receive_buffer}
    about |= {"manager": manager, "seed": seed}
    if engine == "simulation":
        tables = _core.simulate(plan(read, seed), samples=False)
        return about | _figures(lambda name: pl.DataFrame(tables.table(name)), drive, read)
    with tempfile.TemporaryDirectory() as directory:
        mptcplab.run(made, engine=engine, seed=seed, baselines=False, out=directory, force=True)
        run = Run(Path(directory) / "mptcp")
        return about | _figures(lambda name: getattr(run, name), drive, read)


def _figures(frame: Frame, drive: str, made: Scenario) -> Row:
    wifi = DRIVES[drive]
    subflows = frame("subflows").filter(path=wifi)
    carried = (
        frame("throughput")
        .filter(direction="down")
        .join(subflows, on=["connection", "subflow"], how="semi")
    )
    transfer = frame("transfers").filter(direction="down").row(0, named=True)
    starts = (one.at / 1e9 for one in made.timeline if (one.path, one.verb) == (wifi, "restore"))
    visits = [
        _visit(carried, starts_s)
        for starts_s in starts
        if starts_s + VISIT_S <= transfer["elapsed_s"]
    ]
    return {"mbps": round(transfer["throughput_mbps"], 3), "visits": visits}


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
    keys = ("engine", "drive", "receive_buffer", "manager")
    for engine, drive, buffer in product(MANAGERS, DRIVES, BUFFERS):
        for manager in MANAGERS[engine]:
            about = (engine, drive, buffer, manager)
            own = [row for row in rows if tuple(row[key] for key in keys) == about]
            visits = [visit for row in own for visit in row["visits"]]
            if not visits:
                continue
            missed = sum(carried <= USED_BYTES for carried, _ in visits)
            cells.append(
                [
                    engine,
                    drive.partition("-")[0],
                    buffer or "Linux's",
                    manager,
                    str(len(own)),
                    f"{missed} of {len(visits)}",
                    f"{median(after_s for _, after_s in visits):.1f}",
                    f"{mean(carried for carried, _ in visits) / 1e6:.1f}",
                    f"{mean(row['mbps'] for row in own):.2f}",
                ]
            )
    heads = [
        "engine",
        "drive",
        "receive buffer",
        "path manager",
        "runs",
        "visits missed",
        "used after s",
        "MB a visit",
    ]
    return "\n".join(table([*heads, "Mbit/s over the drive"], cells))


if __name__ == "__main__":
    main()
