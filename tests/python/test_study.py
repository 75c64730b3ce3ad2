"""The study: scores and verdicts in closed form, and every experiment from end to end."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from browser import Shown, chromium

import mptcplab.study.experiments as all_experiments
from command import Run
from experiments.study import today
from mptcplab import Error, measurements
from mptcplab.engines import named
from mptcplab.measurements import Figure
from mptcplab.results.statistics import interval
from mptcplab.study import formatting, judging, links, outcome, page, questions, scoring
from mptcplab.study.experiment import LINUX, PAPERS, TODAY, Experiment, Extent
from mptcplab.study.experiments import chosen, experiments
from mptcplab.study.running import planned, study

QUICK = Extent(quick=True)
NAMES = list(experiments())
ROOT = Path(__file__).parents[2]


def test_errors_are_logarithms_of_ratios() -> None:
    assert scoring.log_error(2 * math.e, Figure(2)) == pytest.approx(1)
    assert scoring.log_error(1, Figure(2)) == pytest.approx(-math.log(2))
    assert scoring.log_error(0, Figure(2)) is None
    assert scoring.log_error(1, Figure(0.03, below=True)) is None


def test_skill_is_one_where_perfect_zero_where_naive_and_compares_means() -> None:
    assert scoring.skill([0, 0], [1, -1]) == 1
    assert scoring.skill([1, -1], [-1, 1]) == 0
    assert scoring.skill([2, 0.5], [0.5, 4.5]) == pytest.approx(0.5)
    assert scoring.skill([1], [0]) is None
    assert scoring.skill([], []) is None


def test_a_prediction_interval_holds_the_next_run_in_nine_of_ten() -> None:
    chance = np.random.default_rng(1)
    held = 0
    for _ in range(1000):
        *runs, after = chance.lognormal(size=31)
        low, high = scoring.prediction(runs) or (0.0, 0.0)
        held += low <= after <= high
    # The share of 1000 has a standard error of 0.0095.
    assert held / 1000 == pytest.approx(0.9, abs=0.03)
    pairs = judging.Ratio([2.0 * n for n in range(1, 31)], [float(n) for n in range(1, 31)])
    assert scoring.prediction(pairs) == (2, 2)
    assert scoring.prediction([1.0, None] * 5) is None


def test_naive_predictors_say_what_they_are_said_to() -> None:
    assert scoring.aggregate([6, 3, 1]) == {scoring.BEST: 6, scoring.SUM: 10, scoring.EQUAL: 6}
    found = scoring.part({"a": 6, "b": 3, "c": 1}, "b", subflows=2)
    expected = {scoring.BEST: 6 * 3 / 10 / 2, scoring.SUM: 3 / 2, scoring.EQUAL: 6 / 3 / 2}
    assert found == pytest.approx(expected)


def test_parts_of_the_naive_add_up_to_the_whole() -> None:
    alone = {"a": 6.0, "b": 3.0, "c": 1.0}
    whole = scoring.aggregate(list(alone.values()))
    for name, value in whole.items():
        parts = (scoring.part(alone, path, 2)[name] * 2 for path in alone)
        assert sum(parts) == pytest.approx(value)


WITHIN = [3.0, 4.0, 5.0, 6.0, 5.5, 4.2]
LESS = [1.0, 2.0, 3.1, 4.0, 3.2, 2.5]


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        (judging.more(WITHIN, LESS, "x"), judging.HOLDS),
        (judging.more(LESS, WITHIN, "x"), judging.FAILS),
        (judging.more([1, 5, 2, 6], [2, 4, 3, 5], "x"), judging.OPEN),
        # All the same: six say something, as their signs do, and three nothing.
        (judging.more([3] * 6, [1] * 6, "x"), judging.HOLDS),
        (judging.more([3] * 3, [1] * 3, "x"), judging.OPEN),
        (judging.more([3, 4, None], [1, 1, 1], "x"), judging.OPEN),
        (judging.more([None], [None], "x"), judging.OPEN),
        (judging.above([2, 2.1, 2.2], 1, "x"), judging.HOLDS),
        (judging.above([2, 2.1, 2.2], 3, "x"), judging.FAILS),
        (judging.above([0] * 6, 0, "x"), judging.FAILS),
        (judging.below([0] * 6, 0.1, "x"), judging.HOLDS),
        (judging.below([2, 2.1, 2.2], 1, "x"), judging.FAILS),
        (judging.above([2], 1, "x"), judging.OPEN),
        (judging.above(judging.Ratio(WITHIN, LESS), 1.2, "x"), judging.HOLDS),
        (judging.below(judging.Ratio(WITHIN, LESS), 1.2, "x"), judging.FAILS),
        (judging.above(judging.Ratio([None], [1]), 1.2, "x"), judging.OPEN),
        # 5 of 5 have p = 0.0625, 20 of 30 have 0.099, 21 of 30 have 0.043.
        (judging.in_most([True] * 5, "x"), judging.OPEN),
        (judging.in_most([True] * 6, "x"), judging.HOLDS),
        (judging.in_most([True] * 16 + [False] * 14, "x"), judging.OPEN),
        (judging.in_most([True] * 20 + [False] * 10, "x"), judging.OPEN),
        (judging.in_most([True] * 21 + [False] * 9, "x"), judging.HOLDS),
        (judging.in_most([True] * 9 + [False] * 21, "x"), judging.FAILS),
        (judging.in_most([None], "x"), judging.OPEN),
    ],
)
def test_verdicts_follow_the_tests(verdict: judging.Verdict, status: str) -> None:
    assert verdict.status == status


@pytest.mark.parametrize("bound", [0.9, 1.4, 1.62, 2.2])
@pytest.mark.parametrize("of", [WITHIN, judging.Ratio(WITHIN, LESS)])
def test_a_side_is_decided_where_the_interval_lies_on_it(of: Any, bound: float) -> None:
    """Tests and intervals are of one kind: what is printed says what is decided."""
    found = of.estimate if isinstance(of, judging.Ratio) else interval(of)
    assert found.low is not None
    assert found.high is not None
    sides = {
        judging.HOLDS: found.low > bound,
        judging.FAILS: found.high < bound,
        judging.OPEN: found.low <= bound <= found.high,
    }
    assert [status for status, so in sides.items() if so] == [judging.above(of, bound, "x").status]


def test_runs_by_chance_decide_seldom() -> None:
    """Of two that are the same in the mean few verdicts say more, and few less."""
    chance = np.random.default_rng(5)
    for n in (4, 6, 15, 30):
        statuses = [
            judging.more(
                chance.lognormal(sigma=0.3, size=n).tolist(),
                chance.lognormal(sigma=0.3, size=n).tolist(),
                "x",
            ).status
            for _ in range(1000)
        ]
        for side in (judging.HOLDS, judging.FAILS):
            # 25 are to be expected: with more than 45 the binomial law has p < 0.0002.
            assert statuses.count(side) <= 45, n


def test_of_several_questions_the_weakest_answer_counts() -> None:
    holds, unsure, fails = (
        judging.Verdict(*p_values, "") for p_values in ((0.01, 1.0), (0.2, 1.0), (1.0, 0.01))
    )
    assert judging.both(holds, holds).status == judging.HOLDS
    assert judging.both(holds, unsure).status == judging.OPEN
    assert judging.both(unsure, fails, holds).status == judging.FAILS
    assert judging.both(holds, holds, unsure).holds == 0.2
    # One of several that fails is one of as many comparisons.
    assert judging.both(unsure, fails, holds).fails == pytest.approx(0.03)


def test_a_size_is_reproduced_where_the_whole_interval_is_within_a_tenth() -> None:
    more = judging.more(WITHIN, LESS, "x")
    near, wide = [1.49, 1.5, 1.51], [1.3, 1.5, 1.7]
    assert judging.sized(more, near, 1.5 / 1.05, "it").status == judging.HOLDS
    # The same mean: that it is near is not shown by runs that differ so.
    assert judging.sized(more, wide, 1.5 / 1.05, "it").status == judging.DIRECTION
    far = judging.sized(more, near, 1.07, "it")
    assert far.status == judging.DIRECTION
    assert far.because.endswith("it 1.50 (95 % CI 1.48 to 1.52), printed 1.07: ×1.40")
    less = judging.more(LESS, WITHIN, "x")
    assert judging.sized(less, near, 1.5, "it").status == judging.FAILS
    assert judging.both(more, far).status == judging.DIRECTION
    assert judging.sized(more, [None], 1.5, "it") == more


def test_verdicts_are_corrected_together() -> None:
    clear, slight = judging.Verdict(1e-5, 1.0, "a"), judging.Verdict(0.03, 1.0, "b", 0.001)
    against = judging.Verdict(1.0, 0.04, "c")
    assert [one.status for one in judging.corrected([clear])] == [judging.HOLDS]
    assert [one.status for one in judging.corrected([slight])] == [judging.HOLDS]
    found = judging.corrected([clear, slight, against])
    assert [one.status for one in found] == [judging.HOLDS, judging.OPEN, judging.OPEN]
    # Four claims: three sides and a size.
    assert [min(one.holds, one.fails) for one in found] == pytest.approx([4e-5, 0.06, 0.06])
    assert found[1].sized == pytest.approx(0.003)
    # Of 72 that say nothing hardly any study says something.
    chance = np.random.default_rng(7)
    wrong = 0
    for _ in range(200):
        drawn = chance.normal(size=(72, 30))
        given = [judging.above(values.tolist(), 0, "x") for values in drawn]
        wrong += any(one.status != judging.OPEN for one in judging.corrected(given))
    # 10 are to be expected; the binomial law gives more than 21 with p < 0.001.
    assert wrong <= 21


def test_findings_get_their_verdict_when_all_are_known() -> None:
    def finding(p_holds: float, **other: Any) -> dict[str, Any]:
        row = {"p_holds": p_holds, "p_fails": 1.0, "p_sized": None, "because": ""}
        return {**row, "assumed": [], "unprinted": None, "against": None, "fitted": False, **other}

    findings = [
        finding(1e-6),
        finding(0.03),
        finding(1e-6, assumed=["lte"]),
        finding(1e-6, unprinted="an axis"),
        finding(1e-6, fitted=True),
    ]
    outcome.decide(findings)
    assert [one["status"] for one in findings] == [
        judging.HOLDS,
        judging.HOLDS,
        judging.UNJUDGED,
        judging.UNJUDGED,
        judging.FITTED,
    ]
    assert findings[0]["p_corrected"] == pytest.approx(5e-6)
    findings += [finding(0.5)]
    outcome.decide(findings)
    assert findings[1]["status"] == judging.OPEN


def test_what_stands_at_an_axis_is_no_number_that_was_printed() -> None:
    unprinted = {
        finding.where: finding.unprinted
        for one in experiments().values()
        for finding in one.findings
        if finding.unprinted
    }
    of_axes = {where for where, reason in unprinted.items() if "of the axis" in reason}
    assert of_axes == {"figure 8", "figure 10", "figure 11"}
    assert set(unprinted) - of_axes == {"figure 9"}


def test_what_a_paper_says_of_some_carriers_is_asked_of_those_with_long_round_trips() -> None:
    """IMC 2013, §5.1, has "some carriers", and does not name them: AT&T is not asked."""
    (finding,) = (
        finding
        for one in experiments().values()
        for finding in one.findings
        if "512 kB" in finding.says
    )
    assert finding.says.startswith("Some carriers")
    assert "Sprint" in finding.asked
    assert "AT&T" not in finding.asked


def test_a_window_caps_the_rate_at_what_it_is_and_not_at_what_was_printed() -> None:
    """100 800 bytes per 65.84 ms are 12.25 Mbit/s; 11.68 takes 2²⁰ bits for a Mbit."""
    (finding,) = (
        finding
        for one in experiments().values()
        for finding in one.findings
        if "11.68" in finding.says
    )
    assert "12.25 Mbit/s (printed as 11.68" in finding.says


def test_the_gain_is_a_ratio_of_means() -> None:
    ours, alone = [2.0, 9.0, 4.0], [1.0, 6.0, 2.0]
    found = scoring.score(Figure(1.5), judging.Ratio(ours, alone), {})
    assert found.mean.estimate == pytest.approx(15 / 9)
    assert found.log_error == pytest.approx(math.log(15 / 9 / 1.5))


def _comparison(error: float, naive: float, **other: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "what": "throughput of a-1",
        "fitted": False,
        "scored": True,
        "origin": "calibrated",
    }
    row |= {"inside": abs(error) < 0.2}
    return {**row, "log_error": error, "naive": {scoring.SUM: naive}, **other}


def test_scores_leave_out_what_is_assumed_and_part_what_was_fitted() -> None:
    rows = [
        _comparison(0.1, 0.4),
        _comparison(-0.3, 0.4),
        _comparison(9, 9, scored=False),
        _comparison(0.5, 1, fitted=True),
        _comparison(0.2, 0, what="throughput in 0 to 5 s: a ride"),
    ]
    part, whole, fitted = (
        next(
            one
            for one in outcome.scores([{"comparisons": rows}])
            if (one["use"], one["kind"]) == of
        )
        for of in (
            ("predicted", "throughput of a part"),
            ("predicted", "throughput"),
            ("fitted", "throughput of a part"),
        )
    )
    assert part["n"] == 2
    assert part["mean_absolute_log_error"] == pytest.approx(0.2)
    assert part["mean_log_error"] == pytest.approx(-0.1)
    assert part["skills"] == {scoring.SUM: {"skill": pytest.approx(0.5), "n": 2}}
    assert (part["within_10_percent"], part["within_factor_1_5"]) == (0, 2)
    assert (part["inside"], part["intervals"]) == (1, 2)
    assert (whole["n"], fitted["n"]) == (1, 1)
    assert fitted["skills"] == {}


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
        most = {one: len(planned(experiments()[name], QUICK)[0][one].runs) for one in matrices}
        assert all(len(matrix.runs) > most[one] for one, matrix in matrices.items())


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
def test_an_experiment_passes_from_end_to_end(name: str, tmp_path: Path) -> None:
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
    for one in on_the_kernel:
        matrices, _ = planned(one, extent)
        assert all(matrix.runs for matrix in matrices.values())


def test_results_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / outcome.NAME).write_text(json.dumps({"schema": 1}))
    with pytest.raises(Exception, match="holds no study"):
        outcome.read(tmp_path)


def test_what_a_paper_prints_beyond_its_own_single_paths_is_told_apart() -> None:
    """Links that show 0.85 and 3.47 Mbit/s alone have 4.32 together, and never 5.30."""
    alone = [
        "umass-tr/IV/sunderland-verizon-ehrpd-mobile",
        "umass-tr/IV/western-ma-att-hspa-mobile",
    ]
    against = questions.beyond(alone, [{"of": {}, "printed": {"of": 5.30}}])
    assert against == (
        "Printed is 5.3; the paper's single paths, 0.85 and 3.47 Mbit/s, give 4.32 together"
    )
    assert questions.beyond(alone, [{"of": {}, "printed": {"of": 4.30}}]) is None
    ratio = [{"of": {}, "printed": {"ratio": 1.25}}]
    assert questions.beyond(alone, ratio) == (
        "Printed is 1.25; the paper's single paths, 0.85 and 3.47 Mbit/s, give 1.24 together"
    )
    assert questions.beyond(alone, [{"of": {}, "printed": {"ratio": 1.24}}]) is None


def test_the_findings_beyond_their_own_single_paths_are_known() -> None:
    findings = [finding for one in experiments().values() for finding in one.findings]
    against = {finding.says for finding in findings if finding.against}
    assert against == {
        "Upwards four subflows carry more than the best single path: 25 %.",
        "In the 3G zone it has more than the best single path: 5.30 against 3.47 Mbit/s.",
        "In 4G MPTCP has more than the best single path: 5.64 against 4.34 Mbit/s.",
        "In 3G it has more than the best single path: 2.09 against 0.91 Mbit/s.",
        "4G outperforms Wi-Fi.",
    }


def test_what_is_against_its_own_rows_has_a_verdict_of_its_own_if_it_holds() -> None:
    row: dict[str, Any] = {
        "p_sized": None,
        "because": "",
        "assumed": [],
        "unprinted": None,
        "against": "rows",
    }
    held = {"p_holds": 1e-6, "p_fails": 1.0, "fitted": False}
    findings: list[dict[str, Any]] = [
        {**row, **held},
        # That it fails is not excused, but where it is about the very rows.
        {**row, **held, "p_holds": 1.0, "p_fails": 1e-6},
        {**row, **held, "p_holds": 1.0, "p_fails": 1e-6, "fitted": True},
        {**row, **held, "assumed": ["lte"]},
        {**row, **held, "against": None},
    ]
    outcome.decide(findings)
    assert [one["status"] for one in findings] == [
        judging.CONTRADICTED,
        judging.FAILS,
        judging.CONTRADICTED,
        judging.UNJUDGED,
        judging.HOLDS,
    ]


ITEMS = tomllib.loads((ROOT / "experiments/study/items.toml").read_text())["item"]


def test_every_item_of_the_papers_is_answered() -> None:
    counts = {"A": 14, "B": 24, "C": 12, "D": 31, "E": 9}
    wanted = [f"{kind}{one}" for kind, count in counts.items() for one in range(1, count + 1)]
    assert [one["id"] for one in ITEMS] == wanted
    assert {one["is"] for one in ITEMS} == {"yes", "part", "no"}
    assert all(one["how"] for one in ITEMS)
    named = {name for one in ITEMS for name in one.get("experiments", [])}
    assert named == set(NAMES)
    for one in ITEMS:
        assert "page" not in one or (ROOT / "docs" / one["page"]).exists()


def test_pages_of_today_tell_only_of_what_was_run() -> None:
    pages = {paper: today.page(paper) for paper in today.PAPERS}
    assert "None of 6 findings was asked of today's stack." in pages["naist"]
    for text in pages.values():
        assert "; 1 hold " not in text
        assert ("*On Linux* is" in text) == ("| on Linux |" in text)
        assert ("`--quick`" in text) == ("None of" not in text)


def test_every_finding_stands_on_the_page_of_today_of_its_paper() -> None:
    asked = {(found.paper, one.name) for one in experiments().values() for found in one.findings}
    parts = [(part["paper"], name) for part in today.PARTS for name in part["experiments"]]
    assert sorted(parts) == sorted(asked)
    results = json.loads((ROOT / "experiments/study/results.json").read_text())
    found = [finding for one in results["experiments"] for finding in one["findings"]]
    pages = {paper: today.page(paper) for paper in today.PAPERS}
    for finding in found:
        assert finding["says"].replace("|", r"\|") in pages[finding["paper"]]
