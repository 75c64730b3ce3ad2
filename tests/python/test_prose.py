"""What comments and examples give figures of is what was measured."""

from __future__ import annotations

import json
from pathlib import Path

import mptcplab
from experiments.prose.run import CONTROLLERS
from experiments.prose.table import RESULTS, example, shares
from mptcplab.scenario import library

ROOT = Path(__file__).parents[2]
NAMED = {"lia": "LIA", "olia": "OLIA", "reno": "Reno"}


def results() -> dict[str, object]:
    kept: dict[str, object] = json.loads(RESULTS.read_text())
    return kept


def test_the_shared_bottleneck_says_what_controllers_have() -> None:
    comment = " ".join(library.text("scenarios", "shared-bottleneck").replace("#", "").split())
    for controller in CONTROLLERS:
        own, neighbour = shares(results(), controller)
        assert f"{NAMED[controller]} {own} beside {neighbour}" in comment.replace(
            "had ", ""
        ).replace(" Mbit/s", "")


def test_the_example_for_python_says_what_it_gains() -> None:
    page = (ROOT / "docs" / "simulation.md").read_text()
    said = example(results())
    assert f"comparison.gain  {said}" in page
    gain = mptcplab.run("wifi-lte", seed=7, settings=["path.wifi.rate=10 Mbit/s"]).gain
    assert gain is not None
    assert said.startswith(f"# {gain:.2f}")
