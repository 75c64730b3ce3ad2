"""Pages of campaigns as files: where they go, what they say, what becomes of mistakes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import mptcplab as package
from campaigns import CAMPAIGN, written
from command import Run
from described import described
from mptcplab.charts.campaign.page import runs
from mptcplab.charts.campaign.shape import Estimated
from mptcplab.charts.campaign.subject import Subject
from mptcplab.charts.campaign.summaries import figures, sampled
from mptcplab.charts.campaign.verdict import sentences
from mptcplab.results.campaign import Campaign
from mptcplab.results.statistics import adjust

# So much data that plain TCP and MPTCP cannot be done with it within the limit.
TOO_LONG = CAMPAIGN.replace('"20 kB", "60 kB"', '"20 kB", "4 GB"').replace(
    "repetitions =", 'limit = "0.2 s"\nrepetitions ='
)

# With the losses of its second value MPTCP is done in time with some seeds, TCP over LTE with all.
LOSSY = """\
schema = 1
scenario = "small.toml"
repetitions = {repetitions}

[axis.loss]
key = "path.wifi.loss"
values = ["1 %", "60 %"]

# Linux's path manager joins once: where that is lost, no run finishes.
[set]
"mptcp.path_manager" = "full-mesh"
"mptcp.congestion_control" = "lia"
"mptcp.scheduler" = "lowest-rtt"
"run.stop" = "60 s"
"""


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    directory = tmp_path_factory.mktemp("campaign")
    return package.sweep(written(directory / "files"), out=directory / "small")


def test_transfers_of_a_duration_are_compared_by_throughput_first(
    campaign: Campaign, tmp_path: Path
) -> None:
    """How long they take is given; of a size the time tells."""
    file = written(tmp_path / "files", CAMPAIGN.split("[axis.size]")[0], repetitions=1)
    scenario = file.parent / "small.toml"
    scenario.write_text(scenario.read_text().replace('size = "60 kB"', 'duration = "100 ms"'))
    timed = package.sweep(file, out=tmp_path / "timed")
    for one, first in ((campaign, "elapsed_s"), (timed, "throughput_mbps")):
        shown, _ = figures(Subject(one), {key: at for at, key in enumerate(one.runs["run"])})
        assert shown[0].id == first


def test_a_sweep_ends_with_its_page(mptcplab: Run, tmp_path: Path) -> None:
    file = written(tmp_path / "files", repetitions=1)
    out = tmp_path / "out"
    page = out / "report.html"
    for arguments in (["--no-report"], ["--json"]):
        assert mptcplab("sweep", file, "--out", out, *arguments).returncode == 0
        assert not page.exists()
    done = mptcplab("sweep", file, "--out", out)
    assert done.stdout.splitlines()[-1] == f"{page} shows it"
    shown = described(page)
    assert (shown["kind"], shown["subtitle"]) == ("campaign", "something small")
    assert shown["verdict"][0].endswith(
        "in any of 6 configurations: "
        "1 repetition is too few to rule out chance: at least 6 are needed for p < 0.05, 8 where "
        "one of 6 configurations alone differs."
    )


def test_a_run_of_it_is_drawn_on_request(mptcplab: Run, campaign: Campaign) -> None:
    for kind in ("mptcp", "tcp"):
        row = campaign.runs.filter(kind=kind).row(5, named=True)
        done = mptcplab("report", campaign.directory, "--run", row["run"])
        page = campaign.directory / "reports" / f"{row['run']}.html"
        assert (done.stdout, done.returncode) == (f"{page}\n", 0)
        shown = described(page)
        assert f"seed {row['seed']}" in {badge["text"] for badge in shown["badges"]}
        assert ("MPTCP v1" in {badge["text"] for badge in shown["badges"]}) == (kind == "mptcp")
        made = described(campaign.report())["runs"]
        run_indices = runs(Subject(campaign))[1]
        assert run_indices[row["run"]] in made["pages"]


def test_a_run_of_another_build_is_refused(mptcplab: Run, campaign: Campaign) -> None:
    """What the campaign holds is not what is drawn: its figure is changed here."""
    key = campaign.runs["run"][0]
    shards = campaign.directory / "shards"
    kept = {
        file: file.read_bytes()
        for name in ("runs.parquet", "sums.json")
        for file in shards.rglob(name)
    }
    for file in kept:
        if file.suffix == ".json":
            file.unlink()  # else the shard is known to have changed
            continue
        frame = pl.read_parquet(file)
        frame.with_columns(pl.col("throughput_mbps") + 1).write_parquet(file)
    done = mptcplab("report", campaign.directory, "--run", key)
    for file, content in kept.items():
        file.write_bytes(content)
    assert done.returncode == 2
    assert done.stderr.startswith(f"mptcplab: run {key} cannot be repeated: build ")
    assert not (campaign.directory / "reports" / f"{key}.html").exists()


@pytest.mark.parametrize(
    ("estimate", "low", "high", "change"),
    [
        (-0.0081, -0.0112, -0.0061, "0.8 % less throughput (95 % interval 0.6 % to 1.1 %, n 8)"),
        (0.271, 0.2707, 0.2713, "27.10 % more throughput (95 % interval 27.07 % to 27.13 %, n 8)"),
        (0.35, 0.21, 0.48, "35 % more throughput (95 % interval 21 % to 48 %, n 8)"),
        (
            -0.004,
            -0.02,
            0.01,
            "0.4 % less throughput (95 % interval 2.0 % less to 1.0 % more, n 8)",
        ),
        (0.5, None, None, "50 % more throughput"),
    ],
)
def test_an_interval_can_be_seen_in_the_verdict(
    campaign: Campaign, estimate: float, low: float | None, high: float | None, change: str
) -> None:
    one = Estimated(0, 8, estimate, low, high, part="lte")
    assert sentences(Subject(campaign), [one], [], 0.95)[0] == (
        f"MPTCP gives {change} than TCP over lte for size 20 kB, controller lia."
    )


def test_the_verdict_counts_what_the_corrected_p_tells(campaign: Campaign) -> None:
    """An interval that leaves out 0 is no more than one of many that were looked at."""
    found = [
        Estimated(0, 8, 0.2, 0.1, 0.3, part="lte", effect=1.0, p_value=p_value)
        for p_value in (0.01, 0.049, 0.05, None)
    ]
    found.append(Estimated(0, 8, -0.2, -0.3, -0.1, part="lte", effect=-1.0, p_value=0.02))
    assert sentences(Subject(campaign), found, [], 0.95)[0] == (
        "MPTCP has significantly more throughput than the best single path in 2 of 5 "
        "configurations and less in 1 (corrected p < 0.05); no significant difference in 2."
    )
    assert sentences(Subject(campaign), found[-1:] * 2, [], 0.95)[0] == (
        "MPTCP has significantly less throughput than the best single path in 2 of 2 "
        "configurations (corrected p < 0.05)."
    )


@pytest.mark.parametrize(
    ("n", "sentence"),
    [
        (
            6,
            "Whether MPTCP differs from the best single path cannot be judged in any of 12 "
            "configurations: 6 repetitions are too few to rule out chance where one of 12 "
            "configurations alone differs: at least 9 are needed for p < 0.05.",
        ),
        (
            9,
            "No significant difference from the best single path in any of 12 configurations "
            "(n = 9; p ≥ 0.05, corrected for all of them; the intervals below are of one alone).",
        ),
    ],
)
def test_the_verdict_does_not_contradict_an_interval(
    campaign: Campaign, n: int, sentence: str
) -> None:
    least = 2 / 2**n
    (corrected, *_) = adjust([least] + [1.0] * 11, "benjamini-hochberg")
    found = [Estimated(0, n, 0.3604, 0.3601, 0.3607, part="lte", effect=1.0, p_value=corrected)]
    found += [Estimated(0, n, 0.0, -0.1, 0.1, part="lte", effect=0.0, p_value=1.0)] * 11
    if n == 9:
        # That one alone can be told, if it differs in every pair.
        verdict = sentences(Subject(campaign), found, [], 0.95)[0]
        assert "than the best single path in 1 of 12 configurations (corrected" in verdict
        found[0] = replace(found[0], p_value=0.05)
    assert sentences(Subject(campaign), found, [], 0.95)[0] == sentence


def test_too_few_repetitions_are_no_verdict(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gains of 36 % in every pair: it is their number that keeps p from being below 0.05."""
    one = Estimated(0, 5, 0.3604, 0.3601, 0.3607, part="lte", effect=1.0, p_value=0.0625)
    monkeypatch.setitem(campaign.about, "repetitions", 5)
    few = "5 repetitions are too few to rule out chance: at least 6 are needed for p < 0.05"
    verdict = sentences(Subject(campaign), [one] * 4, [], 0.95)
    assert verdict[0] == (
        "Whether MPTCP differs from the best single path cannot be judged in any of 4 "
        f"configurations: {few}, 8 where one of 4 configurations alone differs."
    )
    assert sum(few in sentence for sentence in verdict) == 1
    assert sentences(Subject(campaign), [one], [], 0.95)[-1] == f"{few}."


def test_the_verdict_says_what_a_path_carried(campaign: Campaign) -> None:
    shares = [
        Estimated(group, 3, part, None, None, part="lte") for group, part in ((0, 0.52), (1, 0.97))
    ]
    verdict = sentences(Subject(campaign), [], shares, 0.95)
    assert verdict[0].startswith("lte carried between 52 % (size 20 kB, controller ")
    assert verdict[0].endswith(") of the data.")
    assert sentences(Subject(campaign), [], shares[:1], 0.95)[0] == "lte carried 52 % of the data."


def test_failures_are_told_with_their_reasons(tmp_path: Path) -> None:
    file = written(tmp_path / "files", TOO_LONG, repetitions=1)
    campaign = package.sweep(file, out=tmp_path / "out")
    shown = described(campaign.report())
    assert f"{campaign.failures.height} runs failed: see the list below." in shown["verdict"]
    (table,) = (one for one in shown["tables"] if one["id"] == "failures")
    assert {row[0] for row in table["rows"]} == set(campaign.failures["run"])
    assert all("took longer than 200 ms" in row[-1] for row in table["rows"])


def test_runs_that_did_not_finish_leave_no_gain(mptcplab: Run, tmp_path: Path) -> None:
    file = written(tmp_path / "files", LOSSY, repetitions=6)
    done = mptcplab("sweep", file, "--out", tmp_path / "out", "--json")
    known, unknown = (one["gain"]["mean"] for one in json.loads(done.stdout)["configurations"])
    campaign = package.open_campaign(tmp_path / "out")
    lossy = campaign.runs.filter(loss="60 %")
    finished = {path: int(own["finished"].sum()) for (path,), own in lossy.group_by("path")}
    assert finished["wifi"] < finished["lte"] == 6
    assert 0 < finished[None] < 6
    assert lossy["gain"].drop_nulls().len() == finished[None]
    assert known is not None
    assert unknown is None
    counts = f"MPTCP {finished[None]} of 6, TCP over wifi {finished['wifi']} of 6"
    printed = mptcplab("sweep", file, "--out", tmp_path / "out").stdout
    assert f"! loss 60 %: {counts}, TCP over lte 6 of 6 finished" in printed
    page = described(campaign.directory / "report.html")
    counts = f"MPTCP finished {finished[None]} of 6 where TCP over lte finished 6 of 6"
    assert f"No gain is known for loss 60 %: {counts}." in page["verdict"]
    (gives,) = [one for one in page["verdict"] if one.startswith("MPTCP gives")]
    assert "than TCP over wifi for loss 1 %" in gives
    assert {one["group"]: one["estimate"] is None for one in page["gains"]} == {0: False, 1: True}
    figure = package.figure("gain", campaign)
    assert counts in figure.caption
    compared = mptcplab("compare", tmp_path / "out", tmp_path / "out").stdout
    assert f"A unknown: {counts}; B unknown: {counts}" in " ".join(compared.split())


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--run", "nix"], "has no run nix"),
        (["--connection", "1"], "is a campaign: its page has no single connection"),
        (["--out", "{}/report.html/x"], "cannot write "),
    ],
)
def test_mistakes_get_one_line(
    mptcplab: Run, campaign: Campaign, arguments: list[str], complaint: str
) -> None:
    campaign.report()
    before = sorted(campaign.directory.rglob("*"))
    arguments = [word.format(campaign.directory) for word in arguments]
    done = mptcplab("report", campaign.directory, *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert complaint in done.stderr
    assert sorted(campaign.directory.rglob("*")) == before


def test_a_sample_keeps_what_lies_beyond_the_whiskers(campaign: Campaign) -> None:
    subject = Subject(campaign)
    run_indices = runs(subject)[1]
    made, note = figures(subject, run_indices)
    assert note is None
    summaries = {one.id: one.summary for one in made}
    points, note = sampled(subject, summaries, run_indices, most=len(subject.groups))
    assert note is not None
    assert note.startswith("points: of 30 runs the first 1 of each group")
    for one in made:
        low, high = one.summary.whisker_low, one.summary.whisker_high
        kept = dict(zip(*points[one.id], strict=True))
        for number, group in enumerate(subject.groups):
            values = dict(zip(group.runs["run"], group.values(one.id), strict=True))
            beyond = {
                run_indices[run]
                for run, value in values.items()
                if value is not None and not low[number] <= value <= high[number]
            }
            own = {run_indices[run] for run in values} & kept.keys()
            assert beyond <= own
            assert len(own) <= 1 + len(beyond)
