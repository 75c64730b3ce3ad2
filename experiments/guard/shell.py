"""The guard under programs of ``mptcplab shell``: ``python -m experiments.guard.shell``.

A stream whose Wi-Fi dies for 4 s, with the guard and with Linux alone; and what the guard costs beside 50 connections. Both are
real time: leave the machine alone meanwhile. What was measured goes to ``shell.json`` beside this file.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Any

from experiments.guard.traffic import ALONE_S, MANY_S
from experiments.laws.chart import Axis, Series, svg

RESULTS = Path(__file__).parent / "shell.json"
NAMES = {"linux": "Linux alone", "guard": "with the guard"}


def main() -> None:
    """Run, and write the results."""
    scenario = (files("mptcplab.scenario") / "scenarios/guard.toml").read_text("utf-8")
    named = 'path_manager = "{}"'.format
    alone = scenario.replace(named("guard"), named("linux"))
    texts = {"linux": alone, "guard": scenario}
    ages = {manager: _play(text, ALONE_S, "ages") for manager, text in texts.items()}
    cost = _play(scenario.partition("[[timeline]]")[0], MANY_S, "cost")
    results = {"release": platform.release(), "cost": cost, "ages": ages}
    RESULTS.write_text(json.dumps(results) + "\n")


def _play(scenario: str, interval_s: float, what: str) -> Any:
    traffic = [sys.executable, "-m", "experiments.guard.traffic"]
    serving = " ".join([*traffic, "serve", str(interval_s)])
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "scenario.toml"
        file.write_text(scenario, "utf-8")
        words = [str(file), "--serve", serving, "--out", f"{directory}/run"]
        command = [sys.executable, "-m", "mptcplab", "shell", *words, "--", *traffic, what]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def drawings() -> dict[str, str]:
    """Draw the ages."""
    ages = json.loads(RESULTS.read_text())["ages"]
    series = [
        Series(name, (), tuple((at_s, max(age_ms, 10)) for at_s, age_ms in ages[manager]))
        for manager, name in NAMES.items()
    ]
    return {
        "guard-shell.svg": svg(
            Axis("s", tuple(range(0, 16, 3)), is_logarithmic=False),
            Axis("age of the oldest message, ms", (10, 30, 100, 300, 1000, 3000)),
            series,
        )
    }


if __name__ == "__main__":
    main()
