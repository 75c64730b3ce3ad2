"""Pages of the documentation that tell of the study."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from experiments.study import table, thresholds, today
from mptcplab.study.experiments import experiments

ROOT = Path(__file__).parents[2]


ITEMS = tomllib.loads((ROOT / "experiments/study/items.toml").read_text())["item"]


def test_every_item_of_the_papers_is_answered() -> None:
    counts = {"A": 14, "B": 24, "C": 12, "D": 31, "E": 9}
    wanted = [f"{kind}{one}" for kind, count in counts.items() for one in range(1, count + 1)]
    assert [one["id"] for one in ITEMS] == wanted
    assert {one["is"] for one in ITEMS} == {"yes", "part", "no"}
    assert all(one["how"] for one in ITEMS)
    named = {name for one in ITEMS for name in one.get("experiments", [])}
    assert named == set(experiments())
    for one in ITEMS:
        assert "page" not in one or (ROOT / "docs" / one["page"]).exists()


def test_pages_of_today_tell_only_of_what_was_run() -> None:
    pages = {paper: today.page(paper) for paper in today.PAPERS}
    for text in pages.values():
        assert "; 1 hold " not in text
        assert ("*On Linux* is" in text) == ("| on Linux |" in text)
        assert "None of" not in text


def test_every_finding_stands_on_the_page_of_today_of_its_paper() -> None:
    asked = {(found.paper, one.name) for one in experiments().values() for found in one.findings}
    parts = [(part["paper"], name) for part in today.PARTS for name in part["experiments"]]
    assert sorted(parts) == sorted(asked)
    results = json.loads((ROOT / "experiments/study/results.json").read_text())
    found = [finding for one in results["experiments"] for finding in one["findings"]]
    pages = {paper: today.page(paper) for paper in today.PAPERS}
    for finding in found:
        assert finding["says"].replace("|", r"\|") in pages[finding["paper"]]


def test_what_was_aimed_at_is_set_beside_every_number_that_was_predicted() -> None:
    results = json.loads((ROOT / "experiments/study/results.json").read_text())
    predicted = [
        row
        for one in results["experiments"]
        for row in one["comparisons"]
        if row["scored"] and not row["fitted"] and row["origin"] == "calibrated"
        if row["log_error"] is not None and row["inside"] is not None
    ]
    inside = sum(row["inside"] for row in predicted)
    lines = table.markdown("goals").splitlines()
    (line,) = (one for one in lines if "intervals" in one)
    assert f"| {inside} of {len(predicted)}, " in line
    assert line.endswith("| yes |" if inside >= 0.8 * len(predicted) else "| no |")


def test_thresholds_are_those_that_runs_begin_with() -> None:
    kept = json.loads(thresholds.KEPT.read_text())["runs"]
    assert [int(seed) for seed in kept] == list(thresholds.SEEDS)
    assert kept["1"] == thresholds.begun(1)
