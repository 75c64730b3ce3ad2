"""What do QUIC and multipath QUIC give beside TCP and MPTCP? ``python -m experiments.quic.run DIR``.

Runs ``examples/quic.toml``, each configuration five times, and keeps the figures in ``results.json`` beside this file. The
campaign stays in ``DIR``: the same command goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from pathlib import Path
from typing import Any

import polars as pl

import mptcplab
from mptcplab.results.campaign import Campaign

ROOT = Path(__file__).parents[2]
RESULTS = Path(__file__).parent / "results.json"
REPETITIONS = 5
SORTED = ["protocol", "outage", "path", "repetition"]


def main() -> None:
    """Run, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("?")[0] + "?")
    parser.add_argument("directory", type=Path, help="where the campaign is kept")
    given = parser.parse_args()
    asked = tomllib.loads((ROOT / "examples/quic.toml").read_text("utf-8"))
    duration = asked["scenario"]["transfer"]["duration"]
    campaign = mptcplab.sweep(asked | {"repetitions": REPETITIONS}, out=given.directory, jobs=1)
    rows = figures(campaign)
    RESULTS.write_text(json.dumps({"duration": duration, "runs": rows}, indent=1) + "\n", "utf-8")


def figures(campaign: Campaign) -> list[dict[str, Any]]:
    """Give what is kept of each run; one that failed has not finished."""
    late = campaign.table("diagnostics").filter(diagnostic="emulator_late").collect()
    runs = campaign.runs.with_columns(late=pl.col("run").is_in(late["run"].implode()))
    failed = campaign.failures.with_columns(finished=False, late=False)
    columns = [*SORTED, "finished", "throughput_mbps", "elapsed_s", "late"]
    return pl.concat([runs, failed], how="diagonal").select(columns).sort(SORTED).to_dicts()


if __name__ == "__main__":
    main()
