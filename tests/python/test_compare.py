"""Two measurements side by side: their configuration, their figures, and pairs of runs."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from scipy import stats

import mptcplab as package
from command import Run
from mptcplab import Error
from mptcplab.results.comparison import Comparison
from mptcplab.results.differences.configuration import Configuration, Setting, differing
from mptcplab.results.differences.differences import Differences
from mptcplab.results.policies import policies
from mptcplab.scenario import long
from mptcplab.scenario.scenario import load

SCENARIO = {
    "schema": 1,
    "transfer": {"direction": "download", "size": "300 kB"},
    "path": {
        "wifi": {"rate": "10 Mbit/s", "delay": "5 ms", "loss": "0.5 %", "queue": "50 kB"},
        "lte": {"rate": "8 Mbit/s", "delay": "20 ms", "queue": "100 kB"},
    },
}
SLOWER = ["path.lte.rate=3 Mbit/s", "mptcp.checksum=true"]
SEEDS = range(1, 7)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six seeds of a scenario, and of one with a slower path, as ``run --repeat`` leaves them."""
    directory = tmp_path_factory.mktemp("compared")
    for name, settings in (("fast", []), ("slow", SLOWER)):
        for seed in SEEDS:
            out = directory / name / str(seed)
            package.run(SCENARIO, seed=seed, out=out, settings=settings)
    return directory


def test_the_configuration_comes_first_and_names_what_was_set(runs: Path) -> None:
    found = package.compare(runs / "fast" / "1", runs / "slow" / "1").configuration
    assert found is not None
    assert [one for one in found if one.section == "scenario"] == [
        Setting("scenario", "link.lte.uplink.0.rate", "8 Mbit/s", "3 Mbit/s"),
        Setting("scenario", "link.lte.downlink.0.rate", "8 Mbit/s", "3 Mbit/s"),
        Setting("scenario", "mptcp.checksum", False, True),
    ]
    assert {one.section for one in found} == {"scenario"}


def test_figures_are_those_of_the_tables(runs: Path) -> None:
    directories = [runs / name / "1" for name in ("fast", "slow")]
    differences = package.compare(*directories)
    a, b = (package.compare(directory, directory).a.comparisons[0] for directory in directories)
    of_connection = [
        one for one in differences.figures if one.subflow is None and one.direction == "down"
    ]
    assert [one.run for one in of_connection if one.figure == "throughput_mbps"] == [
        "mptcp",
        "tcp-wifi",
        "tcp-lte",
    ]
    for one in of_connection:
        rows = [next(run for run in side.runs if run.name == one.run) for side in (a, b)]
        if one.figure == "loss_rate_percent":
            assert [one.a, one.b] == [run.loss_rate_percent for run in rows]
        else:
            assert [one.a, one.b] == [(run.transfer or {})[one.figure] for run in rows]
        if one.a and one.b is not None:
            assert one.difference == one.b - one.a
            assert one.relative == one.b / one.a - 1


def test_subflows_meet_by_the_name_of_their_path(runs: Path) -> None:
    differences = package.compare(runs / "fast" / "1" / "mptcp", runs / "slow" / "1" / "mptcp")
    shares = {one.subflow: one for one in differences.figures if one.figure == "share"}
    assert set(shares) == {"wifi", "lte"}
    for side, run in (("a", differences.a.run), ("b", differences.b.run)):
        assert run is not None
        table = run.flows.filter(direction="down").join(run.subflows, on=["connection", "subflow"])
        assert {name: getattr(one, side) for name, one in shares.items()} == dict(
            table.select("path", "share").iter_rows()
        )
    lte = shares["lte"]
    assert lte.difference is not None
    assert lte.difference < 0


def test_subflows_of_other_names_meet_in_their_order(tmp_path: Path) -> None:
    """Wi-Fi meets Wi-Fi, LTE what the other side has in its place; what is left over is alone."""

    def ran(name: str, *paths: str) -> Comparison:
        path = {one: {"rate": "10 Mbit/s", "delay": "10 ms"} for one in paths}
        transfer = {"direction": "download", "size": "300 kB"}
        scenario = {"schema": 1, "transfer": transfer, "path": path}
        return package.run(scenario, out=tmp_path / name, baselines=False, captures="none")

    a, b = ran("a", "wifi", "lte"), ran("b", "nr", "wifi", "wimax")
    shares = {
        one.subflow: (one.a, one.b)
        for one in package.compare(a, b).figures
        if one.figure == "share"
    }
    assert set(shares) == {"wifi", "lte / nr", "wimax"}
    assert None not in shares["lte / nr"]
    assert shares["wimax"][0] is None


def test_a_run_and_its_captures_have_the_same_figures(runs: Path, tmp_path: Path) -> None:
    """Tables from the disk against captures that are analysed now."""
    run = runs / "fast" / "1" / "mptcp"
    for capture in run.glob("*.pcapng"):
        shutil.copy(capture, tmp_path)
    differences = package.compare(run, tmp_path)
    assert differences.configuration is None
    assert (differences.a.kind, differences.b.kind) == ("run", "captures")
    assert len(differences.figures) > 20
    for one in differences.figures:
        assert one.a == pytest.approx(one.b), one


def test_a_lone_run_meets_another_of_any_name(runs: Path) -> None:
    directory = runs / "fast" / "1"
    found = package.compare(directory / "mptcp", directory / "tcp-wifi")
    assert {one.run for one in found.figures} == {"mptcp / tcp-wifi"}
    assert found.configuration == [Setting("run", "run", "mptcp", "tcp-wifi")]
    alone = package.compare(directory, directory / "tcp-wifi")
    assert {one.run for one in alone.figures} == {"tcp-wifi"}
    assert alone.configuration == found.configuration


def test_seeds_are_pairs(runs: Path) -> None:
    progress_seen: list[tuple[int, int]] = []
    differences = package.compare(
        runs / "fast", runs / "slow", progress=lambda *done: progress_seen.append(done)
    )
    a, b = (
        [one.mptcp.throughput_mbps or 0 for one in side.comparisons]
        for side in (differences.a, differences.b)
    )
    found = contrast(differences, "mptcp", "throughput_mbps")
    assert (found.paired.n, found.paired.missing) == (len(SEEDS), 0)
    assert (found.a.estimate, found.sigma_a) == pytest.approx((fmean(a), stdev(a)))
    changes = [other - one for one, other in zip(a, b, strict=True)]
    assert found.paired.difference.estimate == pytest.approx(fmean(changes))
    assert found.paired.p_value == pytest.approx(stats.wilcoxon(changes).pvalue)
    assert progress_seen == [(done, 21) for done in range(1, 22)]
    # The other path is as it was, and so is plain TCP over it.
    same = contrast(differences, "tcp-wifi", "throughput_mbps")
    assert (same.paired.difference.estimate, same.paired.p_value) == (0, None)
    p_values = [one.paired.p_value for one in differences.contrasts]
    tested = [value for value in p_values if value is not None]
    corrected = [one.p_value_corrected for one in differences.contrasts]
    assert [value for value in corrected if value is not None] == pytest.approx(
        list(stats.false_discovery_control(tested))
    )
    gain = differences.gains[0].a
    assert gain is not None
    best = [one.baselines["wifi"].throughput_mbps or 0 for one in differences.a.comparisons]
    assert gain.best_path == "wifi"
    assert gain.paired.relative.estimate == pytest.approx(fmean(a) / fmean(best) - 1)


def test_response_times_are_told_where_there_are_responses(mptcplab: Run, tmp_path: Path) -> None:
    """Figures of the table ``transfers``, in every table of runs and on both sides."""
    asking = {"request": "1 kB", "response": "20 kB", "requests": 5, "think": "50 ms"}
    scenario = {
        **SCENARIO,
        "transfer": {"application": "request-response", "direction": "download", **asking},
    }
    for name, settings in (("fast", []), ("slow", ["path.wifi.delay=20 ms"])):
        for seed in (1, 2, 3):
            out = tmp_path / name / str(seed)
            package.run(scenario, seed=seed, out=out, settings=settings)
    sides = tmp_path / "fast", tmp_path / "slow"
    found = contrast(package.compare(*sides), "mptcp", "response_time_ms_mean")
    for estimate, directory in zip((found.a, found.b), sides, strict=True):
        runs = [package.open_run(directory / str(seed) / "mptcp") for seed in (1, 2, 3)]
        means = [run.transfers.filter(direction="down")["response_time_ms_mean"][0] for run in runs]
        assert estimate.estimate == pytest.approx(fmean(means))
    assert found.paired.difference.estimate > 0
    lines = mptcplab("compare", *sides).stdout
    assert re.search("mptcp +response ms, mean", lines)
    assert re.search("tcp-wifi +response ms, p95", lines)
    assert "response time, mean" in mptcplab("compare", *(side / "1" for side in sides)).stdout
    file = tmp_path / "asking.toml"
    file.write_text(long.write(load(scenario)[1]))
    for arguments in ([], ["--repeat", "2"]):
        done = mptcplab("run", file, *arguments, "--out", tmp_path / f"out{len(arguments)}")
        head = (
            "seed  +MPTCP Mbit/s .* MPTCP response ms"
            if arguments
            else "run +Mbit/s .* response ms"
        )
        assert re.search(head, done.stdout)


def test_only_seeds_that_both_have_are_pairs(mptcplab: Run, runs: Path, tmp_path: Path) -> None:
    for seed in (2, 5, 6):
        shutil.copytree(runs / "slow" / str(seed), tmp_path / str(seed))
    found = contrast(package.compare(runs / "fast", tmp_path), "mptcp", "throughput_mbps")
    assert (found.a.n, found.b.n, found.paired.n) == (6, 3, 3)
    printed = mptcplab("compare", runs / "fast", tmp_path).stdout
    said = "A and B are means over all runs of a side"
    assert said in printed
    arguments = " ".join(printed.split())
    few = "3 repetitions are too few to rule out chance: at least 6 are needed for p < 0.05, "
    assert re.search(few + r"\d+ where one of \d+ figures alone differs", arguments)
    assert re.search("seed +1 to 6 +2, 5, 6\n", printed)
    assert said not in mptcplab("compare", runs / "fast", runs / "slow").stdout


def test_seeds_without_a_partner_are_told(mptcplab: Run, runs: Path, tmp_path: Path) -> None:
    """Also where all pairs have the same figures."""

    def output(name: str, seeds: range) -> str:
        for seed in seeds:
            shutil.copytree(runs / "fast" / str(seed), tmp_path / name / str(seed))
        return mptcplab("compare", tmp_path / name, runs / "fast").stdout

    pairs = "seeds of both sides;"
    assert f"– pairs: the 5 {pairs} 1 seed of B has no partner\n" in output("five", range(1, 6))
    assert f"– pairs: the 2 {pairs} 4 seeds of B have no partner\n" in output("two", range(5, 7))
    assert pairs not in output("all", range(1, 7))
    shutil.rmtree(tmp_path / "five" / "5")
    apart = mptcplab("compare", tmp_path / "five", tmp_path / "two").stdout
    assert "! A and B have no seed in common: no pairs\n" in apart


def test_a_run_that_did_not_finish_is_missing(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "slow", tmp_path / "cut")
    about = tmp_path / "cut" / "3" / "mptcp" / "run.json"
    document = json.loads(about.read_text())
    document["outcome"]["finished"] = False
    about.write_text(json.dumps(document))
    found = contrast(package.compare(runs / "fast", tmp_path / "cut"), "mptcp", "elapsed_s")
    assert (found.b.n, found.b.missing) == (5, 1)
    assert (found.paired.n, found.paired.missing) == (5, 1)


def test_campaigns_meet_in_the_configurations_that_both_have(tmp_path: Path) -> None:
    campaigns = []
    for name, size, delays in (("a", "100 kB", [5, 20]), ("b", "200 kB", [20, 40])):
        campaign = {
            "schema": 1,
            "scenario": SCENARIO,
            "repetitions": 4,
            "set": {"transfer.size": size},
            "axis": {
                "delay": {"key": "path.lte.delay", "values": [f"{delay} ms" for delay in delays]}
            },
        }
        campaigns.append(package.sweep(campaign, out=tmp_path / name, jobs=1))
    found = package.compare(tmp_path / "a", tmp_path / "b")
    assert {one.configuration for one in found.contrasts if one.run == "mptcp"} == {"delay = 20 ms"}
    bytes_of = {one.key: (one.a, one.b) for one in found.configuration or []}
    assert bytes_of["transfer.size"] == ("100 kB", "200 kB")
    assert bytes_of["axis.delay"] == ("5 ms, 20 ms", "20 ms, 40 ms")
    assert not any(key.startswith("link.") for key in bytes_of)
    elapsed = contrast(found, "mptcp", "elapsed_s")
    own = [
        dict(one.runs.filter(delay="20 ms", kind="mptcp").select("seed", "elapsed_s").iter_rows())
        for one in campaigns
    ]
    assert elapsed.paired.difference.estimate == pytest.approx(
        fmean(own[1][seed] - own[0][seed] for seed in own[0])
    )


def test_plain_tcp_that_is_the_same_in_several_configurations_is_tested_once(
    tmp_path: Path,
) -> None:
    for name, delay in (("a", "20 ms"), ("b", "40 ms")):
        campaign = {
            "schema": 1,
            "scenario": SCENARIO,
            "repetitions": 6,
            "set": {"transfer.size": "100 kB", "path.lte.delay": delay},
            "axis": {"loss": {"key": "path.wifi.loss", "values": ["1 %", "2 %", "4 %"]}},
        }
        package.sweep(campaign, out=tmp_path / name, jobs=1)
    found = package.compare(tmp_path / "a", tmp_path / "b").contrasts
    # Losses over Wi-Fi do not touch TCP over LTE.
    other = [one for one in found if one.run != "tcp-lte"]
    once = [one for one in found if one.run == "tcp-lte" and one.configuration == "loss = 1 %"]
    assert len(found) == len(other) + 3 * len(once)
    tested = [one for one in (*other, *once) if one.paired.p_value is not None]
    assert {one.run for one in tested} == {"mptcp", "tcp-lte"}
    wanted = stats.false_discovery_control([one.paired.p_value for one in tested])
    assert [one.p_value_corrected for one in tested] == pytest.approx(list(wanted))
    each = [one.paired.p_value for one in found if one.paired.p_value is not None]
    assert stats.false_discovery_control(each).min() < wanted.min()
    elapsed = [one for one in found if (one.run, one.figure) == ("tcp-lte", "elapsed_s")]
    assert len({one.p_value_corrected for one in elapsed}) == 1
    assert elapsed[0].p_value_corrected is not None


def contrast(differences: Differences, run: str, figure: str) -> Any:
    found = [one for one in differences.contrasts if (one.run, one.figure) == (run, figure)]
    (one,) = found
    return one


def test_what_only_one_side_has_is_told_apart_from_what_differs() -> None:
    a: Configuration = {("scenario", "x"): 1, ("scenario", "y"): 2, ("machine", "z"): 3}
    b: Configuration = {("scenario", "y"): 2, ("scenario", "w"): None}
    assert differing(a, b) == [
        Setting("scenario", "x", 1, None),
        Setting("scenario", "w", None, None),
    ]


def test_ends_that_have_other_policies_are_named() -> None:
    own = {"congestion_control": "lia", "scheduler": "lowest-rtt"}
    given = {**SCENARIO, "mptcp": own, "server": {"stack": "mptcplab"}}
    long_form = tomllib.loads(long.write(load(given)[1]))
    about = {"engine": "kernel", "path": None, "mptcp": True}
    assert policies(about, long_form) == {
        "congestion_control": "cubic-linux at the client, lia at the server",
        "scheduler": "linux at the client, lowest-rtt at the server",
    }
    plain = {**about, "path": "wifi", "mptcp": False}
    assert policies(plain, long_form)["scheduler"] is None


def test_the_command_prints_the_same(mptcplab: Run, runs: Path) -> None:
    sides = [runs / "fast" / "1", runs / "slow" / "1"]
    document = json.loads(mptcplab("compare", *sides, "--json").stdout)
    assert document == json.loads(json.dumps(package.compare(*sides).document()))
    lines = mptcplab("compare", *sides).stdout.splitlines()
    assert lines[0].startswith(f"A  {sides[0]}")
    setting = next(line for line in lines if "mptcp.checksum" in line)
    assert setting.split() == ["mptcp.checksum", "false", "true"]
    figure = next(
        one
        for one in document["figures"]
        if (one["figure"], one["subflow"]) == ("throughput_mbps", None)
    )
    line = next(line for line in lines if line.split()[:1] == ["throughput"])
    assert line.split()[-2] == f"{100 * figure['relative']:+.1f}"
    assert any("does not show what is chance" in line for line in lines)
    assert document["pairs_needed"] == 6


def test_the_command_prints_intervals_over_seeds(mptcplab: Run, runs: Path) -> None:
    done = mptcplab("compare", runs / "fast", runs / "slow")
    assert done.returncode == 0
    found = contrast(package.compare(runs / "fast", runs / "slow"), "mptcp", "throughput_mbps")
    line = next(line for line in done.stdout.splitlines() if line.startswith("  mptcp  "))
    ends = line[line.index("[") + 1 : line.index("]")].split(", ")
    assert [float(end) for end in ends] == pytest.approx(
        [found.paired.difference.low, found.paired.difference.high], abs=0.005
    )
    same = mptcplab("compare", runs / "fast", runs / "fast").stdout
    assert "both have the same configuration" in same
    assert "the same on both sides, pair by pair: 21 figures" in same


@pytest.fixture(scope="module")
def damaged(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What cannot be compared, beside what can."""
    directory = tmp_path_factory.mktemp("damaged")
    for whole in ("fast", "slow"):
        (directory / whole).symlink_to(runs / whole)
    (directory / "empty").mkdir()
    (directory / "text.pcap").write_text("this is no capture")
    for name, text in (("broken", "{"), ("poor/mptcp", '{"run": "mptcp", "outcome": {}}')):
        (directory / name).mkdir(parents=True)
        (directory / name / "run.json").write_text(text)
    for name in ("unsaid", "halved", "emptied"):
        shutil.copytree(runs / "fast" / "1", directory / name)
    (directory / "unsaid/mptcp/scenario.toml").unlink()
    (directory / "halved/mptcp/scenario.toml").write_text("schema = [")
    (directory / "emptied/mptcp/tables/flows.parquet").unlink()
    return directory


@pytest.mark.parametrize(
    ("a", "b", "complaint"),
    [
        ("nowhere", "fast", "nowhere: no such file or directory"),
        ("fst", "fast", "fst: no such file or directory; did you mean fast?"),
        ("fast", "empty", "empty holds no runs, no campaign and no captures"),
        ("text.pcap", "fast/1", "text.pcap"),
        ("fast", "slow/1/mptcp", "slow/1/mptcp a run: compare one of its seeds"),
        ("broken", "fast/1/mptcp", "broken/run.json is damaged (Expecting property name"),
        ("fast/1", "poor/mptcp", "poor/mptcp holds no run: run.json lacks what a run has"),
        (
            "unsaid",
            "fast/1",
            "unsaid/mptcp/scenario.toml is missing: remove unsaid/mptcp and run it",
        ),
        ("halved", "fast/1", "halved/mptcp/scenario.toml is damaged ("),
        ("emptied", "fast/1", "emptied/mptcp/tables/flows.parquet is missing: "),
    ],
)
def test_what_cannot_be_compared_gets_one_line(
    mptcplab: Run, damaged: Path, a: str, b: str, complaint: str
) -> None:
    done = mptcplab("compare", a, b, cwd=damaged)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("mptcplab: ")
    assert complaint in line


def test_what_was_just_made_can_be_compared(runs: Path) -> None:
    made = [package.run(SCENARIO, seed=seed, settings=SLOWER) for seed in (1, 2, 3)]
    stored = package.compare(runs / "fast", runs / "slow")
    found = package.compare(runs / "fast", made)
    assert (found.b.kind, found.b.path, found.b.seeds) == ("seeds", None, [1, 2, 3])
    ours, theirs = (contrast(one, "mptcp", "throughput_mbps") for one in (found, stored))
    assert (ours.a, ours.paired.n, theirs.paired.n) == (theirs.a, 3, 6)
    assert package.compare(made[0], runs / "slow" / "1").configuration == []
    analysis = package.analyze(list((runs / "slow" / "1" / "mptcp").glob("*.pcapng")))
    for one in package.compare(made[0], analysis).figures:
        assert one.a == pytest.approx(one.b), one
    with pytest.raises(Error, match="a list holds runs of several seeds, an analysis captures"):
        package.compare(made, analysis)


def test_nothing_to_compare_is_an_error() -> None:
    with pytest.raises(Error, match="the list is empty"):
        package.compare([], [])
