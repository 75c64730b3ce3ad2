"""The papers' experiments, as ``mptcplab study all`` runs them; keeps what the documentation tells.

``--engine kernel`` runs those that Linux itself can, with ``--quick`` as they take real time, and keeps them apart. ``--today`` runs them
with today's stack alone. Of those that are given by name, to ``--only``, ``--today`` or ``--linux``, the results replace those that were kept.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from experiments.builds import both
from mptcplab.engines import DEFAULT, named
from mptcplab.study import outcome
from mptcplab.study.experiment import LINUX, TODAY, Extent
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
    parser.add_argument("--linux", nargs="+", metavar="NAME", help="experiments, on Linux")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="experiments, simulated")
    given = parser.parse_args()
    if given.only and given.engine != DEFAULT.name:
        parser.error("--only is of simulated experiments: for Linux, --linux")
    if given.only:
        _some(given.only, given.directory, Extent(), DEFAULT.name)
        return
    if given.today:
        _today(given.today, given.directory)
        return
    if given.linux:
        linux = Extent(quick=True, engine=named("kernel"), stacks=(LINUX,))
        _some(given.linux, given.directory, linux, "kernel")
        return
    extent = ["--quick"] if named(given.engine).real_time else []
    arguments = ["study", "all", *extent, "--engine", given.engine, "--out", str(given.directory)]
    subprocess.run([sys.executable, "-m", "mptcplab", *arguments], check=True)
    shutil.copyfile(given.directory / NAME, KEPT[given.engine])


def _today(names: list[str], directory: Path) -> None:
    """Run experiments with today's stack, and keep their findings beside those of others."""
    extent = Extent(stacks=(TODAY,))
    ran = study(chosen(names), directory, extent)
    experiments = [
        {key: one[key] for key in ("name", "runs", "failed", "findings")}
        for one in _with_kept(ran, OF_TODAY)
    ]
    # All findings are corrected together, whenever they were run.
    outcome.decide([finding for one in experiments for finding in one["findings"]])
    results = {"build": _builds(ran, OF_TODAY), "extent": ran["extent"], "experiments": experiments}
    OF_TODAY.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")


def _some(names: list[str], directory: Path, extent: Extent, engine: str) -> None:
    """Run experiments with an engine, and keep their results beside those of others."""
    ran = study(chosen(names), directory, extent)
    results = outcome.document(extent, _with_kept(ran, KEPT[engine]))
    outcome.write(results | {"build": _builds(ran, KEPT[engine])}, directory)
    shutil.copyfile(directory / NAME, KEPT[engine])


def _with_kept(ran: dict[str, Any], file: Path) -> list[dict[str, Any]]:
    """Give all experiments in their order, those that ran in place of those that were kept."""
    kept = json.loads(file.read_text())["experiments"] if file.exists() else []
    every = {one["name"]: one for one in (*kept, *ran["experiments"])}
    return [every[one.name] for one in chosen(["all"]) if one.name in every]


def _builds(ran: dict[str, Any], file: Path) -> str:
    """Name what the results were made with: those that are kept, and those that replace them."""
    kept = json.loads(file.read_text()) if file.exists() else {"experiments": []}
    names = {one["name"] for one in ran["experiments"]}
    stays = any(one["name"] not in names for one in kept["experiments"])
    return both(kept["build"] if stays else None, ran["build"])


if __name__ == "__main__":
    main()
