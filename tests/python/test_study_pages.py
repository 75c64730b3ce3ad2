"""Pages of the documentation that tell of the study."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from experiments.study import overshoot, table, thresholds, today
from mptcplab.study.experiment import Extent
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


def test_every_number_has_its_prediction_interval_beside_it() -> None:
    results = json.loads((ROOT / "experiments/study/results.json").read_text())
    rows = [row for one in results["experiments"] for row in one["comparisons"]]
    known = [row for row in rows if row["predicted_low"] is not None]
    assert known
    outside = [
        row for row in known if not row["predicted_low"] <= row["theirs"] <= row["predicted_high"]
    ]
    assert table.markdown("numbers").count(", outside |") == len(outside)


def test_what_cannot_be_judged_is_counted_by_what_is_not_known() -> None:
    results = json.loads((ROOT / "experiments/study/results.json").read_text())
    found = [
        finding
        for one in results["experiments"]
        for finding in one["findings"]
        if finding["status"] == "cannot be judged"
    ]
    said = table.markdown("unjudged")
    counts = [int(count) for count in re.findall(r"(\d+) on `", said)]
    assert sum(counts) == sum(bool(finding["assumed"]) for finding in found)
    assert f"Of {len(found)} findings" in said
    assert f"Of {len(found) - sum(counts)} others" in said


def test_thresholds_are_those_that_runs_begin_with() -> None:
    kept = json.loads(thresholds.KEPT.read_text())["runs"]
    assert [int(seed) for seed in kept] == list(thresholds.SEEDS)
    assert kept["1"] == thresholds.begun(1)


def test_what_slow_start_overshoots_is_of_the_runs_that_are_kept() -> None:
    networks = json.loads(overshoot.KEPT.read_text())["networks"]
    campaign = experiments()["eight-subflows"].campaigns(Extent())["amherst"]
    kept = {(path, how): (lost, early) for path, how, lost, early in networks["amherst"]}
    one = list(overshoot.summed(overshoot.lost(campaign, overshoot.SEEDS[0])))
    assert {(path, how) for path, how, _, _ in one} == set(kept)
    for path, how, lost, early in one:
        assert early <= lost <= kept[path, how][0]
        assert early <= kept[path, how][1]
