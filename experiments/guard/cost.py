"""What the guard costs beside 50 connections in ``mptcplab shell``: ``python -m experiments.guard.cost``.

It is real time: leave the machine alone meanwhile. What was measured goes to ``cost.json`` beside this file.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

RESULTS = Path(__file__).parent / "cost.json"
# Of each connection a message as often: 8 Mbit/s in all.
INTERVAL_S = 0.05


def main() -> None:
    """Run, and write the results."""
    scenario = (files("mptcplab.scenario") / "scenarios/guard.toml").read_text("utf-8")
    traffic = [sys.executable, "-m", "experiments.guard.traffic"]
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "scenario.toml"
        # Nothing goes wrong.
        file.write_text(scenario.partition("[[timeline]]")[0], "utf-8")
        serving = " ".join([*traffic, "serve", str(INTERVAL_S)])
        arguments = [str(file), "--serve", serving, "--out", f"{directory}/run"]
        command = [sys.executable, "-m", "mptcplab", "shell", *arguments, "--", *traffic, "cost"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    RESULTS.write_text(
        json.dumps({"release": platform.release(), **json.loads(done.stdout)}) + "\n"
    )


if __name__ == "__main__":
    main()
