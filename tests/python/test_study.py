"""The study's experiments, from end to end."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from browser import Shown, chromium

import mptcplab.study.experiments as all_experiments
from command import Run
from mptcplab import Error, measurements
from mptcplab.charts.paper.paper import Paper
from mptcplab.controllers import catalogue
from mptcplab.engines import named
from mptcplab.study import formatting, judging, links, outcome, page
from mptcplab.study.experiment import LINUX, PAPERS, TODAY, Experiment, Extent
from mptcplab.study.experiments import chosen, experiments
from mptcplab.study.running import planned, study

QUICK = Extent(quick=True)
NAMES = list(experiments())


def test_no_multipath_or_mobile_row_is_called_fitted_and_single_rows_have_their_links() -> None:
    data = measurements.load()
    for row in data.single_path:
        assert links.origin(links.profile(row)) == "calibrated"
    assert links.worst([links.profile("naist/A/wimax"), "wifi-edge-weak"]) == "assumed"


@pytest.mark.parametrize("extent", [QUICK, Extent(), Extent(stacks=("2012", TODAY))])
@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_expands(name: str, extent: Extent) -> None:
    matrices, tables = planned(experiments()[name], extent)
    assert all(matrix.runs for matrix in matrices.values())
    for table in tables.values():
        assert list(table["axis"]["stack"]["points"]) == list(extent.stacks)
    if not extent.quick:
        fewer = _quick(name)
        assert all(len(matrix.runs) > fewer[one] for one, matrix in matrices.items())


@cache
def _quick(name: str) -> dict[str, int]:
    """Count the runs of a quick study, by campaign."""
    matrices, _ = planned(experiments()[name], QUICK)
    return {one: len(matrix.runs) for one, matrix in matrices.items()}


def test_todays_stack_is_as_linux_comes_whatever_the_papers_set() -> None:
    extent = Extent(stacks=(PAPERS, TODAY))
    tables = experiments()["eight-subflows"].campaigns(extent)
    stacks = tables["amherst"]["axis"]["stack"]["points"]
    assert stacks[PAPERS]["tcp.initial_ssthresh"] == 46
    chosen_by_papers = ("initial_ssthresh", "congestion_control", "without")
    assert not any(key.endswith(chosen_by_papers) for key in stacks[TODAY])


def test_every_file_of_an_experiment_is_listed() -> None:
    files = Path(all_experiments.__file__).parent.glob("*.toml")
    assert sorted(file.stem for file in files) == sorted(NAMES)


@pytest.mark.parametrize(
    ("right", "wrong", "complaint"),
    [
        ("title =", "titel =", "there is no key titel; did you mean title?"),
        ("where =", "were =", "there is no key were; did you mean where?"),
        ("paths =", "path =", "there is no key path; did you mean paths?"),
        ("below =", "bellow =", "there is no key bellow; did you mean below?"),
    ],
)
def test_a_key_that_no_experiment_has_is_refused(
    tmp_path: Path, right: str, wrong: str, complaint: str
) -> None:
    text = (Path(all_experiments.__file__).parent / "att-4g-to-3g.toml").read_text()
    assert right in text
    file = tmp_path / "own.toml"
    file.write_text(text.replace(right, wrong))
    with pytest.raises(Error, match=rf"own\.toml: .*{re.escape(complaint)}"):
        all_experiments.read(file)


def _tiny(experiment: Experiment) -> Experiment:
    """Give it with two runs of each configuration, of which none takes long."""

    def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
        return {
            # What happens on the way must happen before the end.
            name: _shortened(table, keep="timeline" in str(table)) | {"repetitions": 2}
            for name, table in experiment.campaigns(extent).items()
        }

    return replace(experiment, campaigns=campaigns)


def _shortened(value: Any, *, keep: bool) -> Any:
    if not isinstance(value, dict):
        return value
    short = SIZES if keep else SIZES | DURATIONS
    return {
        key: short[key] if isinstance(one, str) and key in short else _shortened(one, keep=keep)
        for key, one in value.items()
    }


SIZES = {"size": "300 kB", "transfer.size": "300 kB"}
DURATIONS = {"duration": "3 s", "transfer.duration": "3 s"}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "infinite-backlog"])
def test_an_experiment_passes_from_end_to_end(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its figures are drawn, which others hold to be files: that takes as long again.
    monkeypatch.setattr(Paper, "save", lambda _, file: file.touch())
    experiment = _tiny(experiments()[name])
    results = study([experiment], tmp_path, QUICK, jobs=1)
    (table,) = results["experiments"]
    assert table["failed"] == 0
    assert len(table["findings"]) == len(experiment.findings)
    assert {one["status"] for one in table["findings"]} <= {
        judging.HOLDS,
        judging.DIRECTION,
        judging.FAILS,
        judging.OPEN,
        judging.CONTRADICTED,
        judging.UNJUDGED,
    }
    for finding in table["findings"]:
        unjudged = bool(finding["assumed"] or finding["unprinted"])
        assert (finding["status"] == judging.UNJUDGED) == unjudged
        # Of two runs nothing is said, but of what the very rows contradict.
        contradicted = finding["against"] and finding["fitted"]
        assert unjudged or finding["status"] == (
            judging.CONTRADICTED if contradicted else judging.OPEN
        )
    data = measurements.load()
    for row in table["comparisons"]:
        assert row["row"] in data.single_path | data.multipath | data.mobile
        if row["fitted"]:
            assert row["row"] in data.single_path
        if row["log_error"] is not None:
            assert row["log_error"] == pytest.approx(math.log(row["ours"] / row["theirs"]))
    assert outcome.read(tmp_path)["experiments"][0]["name"] == name
    if table["comparisons"]:
        frame = pl.read_parquet(tmp_path / outcome.FRAME)
        assert frame.height == len(table["comparisons"])
    assert (tmp_path / page.NAME).exists()
    assert all((tmp_path / one).exists() for one, why in table["drawings"].items() if why is None)


def test_single_figures_over_time_are_of_the_run_that_is_chosen(done: Path) -> None:
    results = outcome.read(done)
    drawn = results["experiments"][0]["drawings"]
    assert drawn == {"receive-window/rtt.svg": None, "receive-window/figure-5.svg": None}
    assert "Round-trip time" in (done / "receive-window/figure-5.svg").read_text()


def test_what_stands_still_in_real_time_is_given_up_and_virtual_time_is_free() -> None:
    experiment = experiments()["receive-window"]
    stops = {
        engine: experiment.campaigns(Extent(engine=named(engine), stacks=(LINUX,)))["main"][
            "scenario"
        ]["run"]["stop"]
        for engine in ("simulation", "kernel")
    }
    assert stops == {"simulation": "3 h", "kernel": "5 min"}


def test_what_is_no_prediction_is_shown_and_in_no_score(tmp_path: Path) -> None:
    experiment = _tiny(experiments()["eight-subflows-settings"])
    results = study([experiment], tmp_path, QUICK, jobs=1)
    assert results["scores"] == []
    (table,) = results["experiments"]
    assert {formatting.compared(row)[-1] for row in table["comparisons"]} == {
        "calibrated, not scored"
    }


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("study")
    study([_tiny(experiments()["receive-window"])], directory, QUICK, jobs=1)
    return directory


def test_every_printed_number_stands_on_the_page(done: Path) -> None:
    results = outcome.read(done)
    described = page.describe(results)
    table = next(one for one in described.tables if one.id == "receive-window")
    assert table.rows == [
        formatting.compared(row) for row in results["experiments"][0]["comparisons"]
    ]
    assert next(row[1] for row in table.rows) == "throughput Mbit/s"


def test_the_same_again_runs_nothing_and_gives_the_same(done: Path) -> None:
    before = (done / outcome.NAME).read_bytes()
    shards = sorted(done.glob("*/*/shards/*"))
    study([_tiny(experiments()["receive-window"])], done, QUICK, jobs=1)
    assert (done / outcome.NAME).read_bytes() == before
    assert sorted(done.glob("*/*/shards/*")) == shards


@pytest.fixture(scope="module")
def shown(done: Path) -> Iterator[Shown]:
    with chromium() as browser:
        shown = Shown(browser, done / page.NAME, 1280)
        yield shown
        shown.close()


def test_the_page_is_quiet_and_holds_scores_numbers_and_findings(shown: Shown) -> None:
    heads = shown.page.locator("h2").all_inner_texts()
    assert heads[0] == "How near ours are"
    assert any(head.startswith("receive-window:") for head in heads)
    assert (shown.said, [one for one in shown.asked if not one.startswith("file:")]) == ([], [])


def test_the_command_lists_the_experiments(mptcplab: Run) -> None:
    printed = mptcplab("study").stdout
    assert [line.split()[0] for line in printed.splitlines()[1 : len(NAMES) + 1]] == NAMES


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["eight-subflow"], "did you mean eight-subflows?"),
        (["campus-drive", "--engine", "kernel"], "campus-drive is not run on the kernel engine"),
    ],
)
def test_what_cannot_be_run_is_refused(
    mptcplab: Run, tmp_path: Path, words: list[str], complaint: str
) -> None:
    out = tmp_path / "out"
    done = mptcplab("study", *words, "--out", str(out), check=False)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1
    assert not out.exists()


def test_all_are_those_that_the_engine_runs() -> None:
    assert [one.name for one in chosen(["all"])] == NAMES
    on_the_kernel = chosen(["all"], named("kernel"))
    assert {one.name for one in on_the_kernel} >= {"eight-subflows", "prague-lte"}
    assert all(one.on_linux for one in on_the_kernel)
    extent = Extent(quick=True, engine=named("kernel"), stacks=(LINUX,))
    assert not any(one.lacking(named("kernel")) for one in on_the_kernel)
    for one in on_the_kernel:
        matrices, _ = planned(one, extent)
        assert all(matrix.runs for matrix in matrices.values())


def test_linux_has_the_controllers_that_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    extent = Extent(quick=True, engine=named("kernel"), stacks=(LINUX,))

    def stack(name: str) -> dict[str, Any]:
        (one,) = chosen([name])
        campaign = next(iter(one.campaigns(extent).values()))
        return dict(campaign["axis"]["stack"]["points"][LINUX])

    monkeypatch.setattr(catalogue, "loaded", list)
    assert stack("eight-subflows")["kernel.congestion_control"] == "reno"
    assert "large-downloads" not in {one.name for one in chosen(["all"], named("kernel"))}
    with pytest.raises(Error, match="needs lia and olia .*: sudo mptcplab controllers --load lia"):
        planned(chosen(["large-downloads"])[0], extent)

    monkeypatch.setattr(catalogue, "loaded", lambda: ["lia", "olia"])
    assert stack("eight-subflows")["kernel.congestion_control"] == "lia"
    assert "large-downloads" in {one.name for one in chosen(["all"], named("kernel"))}
    # Its axis says which.
    assert "kernel.congestion_control" not in stack("large-downloads")


def test_results_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / outcome.NAME).write_text(json.dumps({"schema": 1}))
    with pytest.raises(Exception, match="holds no study"):
        outcome.read(tmp_path)
