"""The papers' experiments, as ``mptcplab study all`` runs them; keeps what the documentation tells.

``--engine kernel`` runs those that Linux itself can, with ``--quick`` as they take real time, and keeps them apart. ``--today`` runs them
with today's stack alone; of those that it is given by name the results replace those that were kept.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

from mptcplab.engines import DEFAULT, named
from mptcplab.study import outcome
from mptcplab.study.experiment import TODAY, Extent
from mptcplab.study.experiments import chosen
from mptcplab.study.outcome import NAME
from mptcplab.study.running import study

HERE = Path(__file__).parent
KEPT = {"simulation": HERE / NAME, "kernel": HERE / "linux.json"}
OF_TODAY = HERE / "today.json"


def main() -> None:
    """Run what is not there already, and keep the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, help="where runs are kept")
    parser.add_argument("--engine", choices=KEPT, default=DEFAULT.name)
    parser.add_argument("--today", nargs="+", metavar="NAME", help="experiments, or all")
    parser.add_argument("--quick", action="store_true", help="of --today: fewer repetitions")
    given = parser.parse_args()
    if given.today:
        _today(given.today, given.directory, quick=given.quick)
        return
    extent = ["--quick"] if named(given.engine).real_time else []
    words = ["study", "all", *extent, "--engine", given.engine, "--out", str(given.directory)]
    subprocess.run([sys.executable, "-m", "mptcplab", *words], check=True)
    shutil.copyfile(given.directory / NAME, KEPT[given.engine])


def _today(names: list[str], directory: Path, *, quick: bool) -> None:
    """Run experiments with today's stack, and keep their findings beside those of others."""
    extent = Extent(quick, stacks=(TODAY,))
    ran = study(chosen(names), directory, extent)
    kept = json.loads(OF_TODAY.read_text())["experiments"] if OF_TODAY.exists() else []
    every = {one["name"]: one for one in (*kept, *ran["experiments"])}
    experiments = [
        {key: every[one.name][key] for key in ("name", "runs", "failed", "findings")}
        for one in chosen(["all"])
        if one.name in every
    ]
    # All findings are corrected together, whenever they were run.
    outcome.decide([finding for one in experiments for finding in one["findings"]])
    results = {"build": ran["build"], "extent": ran["extent"], "experiments": experiments}
    OF_TODAY.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
