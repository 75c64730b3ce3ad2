"""Calibration: links that are hidden behind captures of simulated plain TCP are found again."""

from __future__ import annotations

import json
import math
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from command import Run
from mptcplab import Error, calibrate, run
from mptcplab.calibration import capture, choice, rows, start
from mptcplab.calibration.choice import weighed
from mptcplab.calibration.fit import fit
from mptcplab.calibration.seeds import balanced
from mptcplab.calibration.subject import Subject
from mptcplab.calibration.target import Residual, Target
from mptcplab.scenario import library
from mptcplab.scenario.draw import normal

HIDDEN = {
    "shallow": {"mbps": 8, "delay_ms": 40, "queue_bytes": 60_000, "loss_percent": 0.05},
    "slow": {"mbps": 2, "delay_ms": 90, "queue_bytes": 50_000, "loss_percent": 0.2},
}

LOSSES = ("loss", "gilbert-elliott-time")


def hidden(mbps: float, delay_ms: float, queue_bytes: float, loss_percent: float) -> dict[str, Any]:
    delay = {"element": "delay", "delay": f"{delay_ms / 2} ms"}
    queue = {"queue": "drop-tail", "bytes": f"{round(queue_bytes)} B"}
    return {
        "uplink": [{"element": "rate", "rate": "10 Mbit/s"}, delay],
        "downlink": [
            {"element": "rate", "rate": f"{mbps} Mbit/s", "queue": queue},
            delay,
            {"element": "loss", "ratio": f"{loss_percent} %"},
        ],
    }


def recorded(
    link: dict[str, Any], out: Path, size: str = "15 MB", *, window: str | None = None
) -> list[Path]:
    given: dict[str, Any] = {
        "schema": 1,
        "transfer": {"direction": "download", "size": size},
        "link": {"air": link},
        "path": {"air": {"link": "air"}},
        "mptcp": {"enabled": False, "congestion_control": "reno"},
    }
    if window is not None:
        given["tcp"] = {"receive_buffer": window, "max_receive_buffer": window}
    done = run(given, seed=7, out=out, baselines=False)
    return sorted(done.mptcp.directory.glob("*.pcapng"))


@pytest.mark.parametrize("name", HIDDEN)
def test_a_hidden_link_is_found_again(name: str, tmp_path: Path) -> None:
    captures = recorded(hidden(**HIDDEN[name]), tmp_path / "runs")
    found = calibrate(captures, controller="reno", runs=4, out=tmp_path / "mine.toml")
    assert found.missed == [], found.residuals
    limited, delay = found.link["downlink"][:2]
    wanted = HIDDEN[name]
    assert float(limited["rate"].split()[0]) == pytest.approx(wanted["mbps"], rel=0.1)
    assert 2 * float(delay["delay"].split()[0]) == pytest.approx(wanted["delay_ms"], rel=0.1)
    room = int(limited["queue"]["bytes"].split()[0])
    assert room == pytest.approx(wanted["queue_bytes"], rel=0.1)
    # What a scenario makes of the file is what was found.
    scenario = {
        "schema": 1,
        "transfer": {"direction": "download", "size": "1 MB"},
        "path": {"air": {"profile": str(tmp_path / "mine.toml")}},
        "mptcp": {"enabled": False},
    }
    again = run(scenario, baselines=False)
    assert again.mptcp.throughput_mbps is not None
    assert 0 < again.mptcp.throughput_mbps < wanted["mbps"]


def test_a_queue_that_the_simulated_transfer_cannot_fill_is_as_the_capture_showed_it(
    tmp_path: Path,
) -> None:
    captures = recorded(hidden(8, 40, 60_000, 0), tmp_path / "runs", "1 MB")
    shown = capture.subject(captures, controller="reno")
    # Of less than the link holds nothing waits, whatever the queue.
    small = {"receive_buffer": "40 kB", "max_receive_buffer": "40 kB"}
    shown = replace(shown, tcp=shown.tcp | small)
    found = fit(shown, runs=2)
    assert "queue_ms" not in found.fitted
    assert "rtt_p99" in found.missed
    assert found.parameters["queue_ms"] == start.of(shown).start["queue_ms"]
    # 60 kB at 8 Mbit/s are 60 ms.
    assert found.parameters["queue_ms"] == pytest.approx(60, rel=0.2)


@pytest.mark.parametrize("loss_percent", [0.0, 0.1, 0.3, 1.0])
def test_loss_is_found_within_its_confidence_interval(loss_percent: float, tmp_path: Path) -> None:
    """Of n packets of which k were lost, the ratio is within 1.96 √k / n of k / n.

    What the queue of 40 kB loses where slow start ends is none of it.
    """
    captures = recorded(hidden(6, 30, 40_000, loss_percent), tmp_path / "runs", "8 MB")
    found = calibrate(captures, controller="reno", runs=2)
    ratios = [float(one["ratio"].split()[0]) for one in found.link["downlink"] if "ratio" in one]
    packets = 8e6 / 1448
    lost = loss_percent / 100 * packets
    assert abs(sum(ratios) - loss_percent) <= 100 * 1.96 * lost**0.5 / packets


def test_what_a_link_cannot_show_is_said(tmp_path: Path) -> None:
    """A round trip of data cannot be shorter than the handshake's on such links."""
    targets = (Target("throughput", 5.0), Target("rtt", 300.0), Target("loss", 20.0))
    subject = Subject(
        name="odd",
        title="odd",
        origin={"kind": "calibrated", "row": "none"},
        technology="",
        direction="download",
        targets=targets,
        transfers=({"direction": "download", "size": "2 MB"},),
        tcp={"congestion_control": "reno"},
    )
    found = fit(subject, runs=2, tries=4)
    assert found.missed
    from mptcplab.calibration import profile

    written = profile.text(weighed([found], 2))
    table = tomllib.loads(written)
    assert {name: one["met"] for name, one in table["origin"]["residuals"].items()} == {
        one.target.figure: one.is_met for one in found.residuals
    }
    assert f"does NOT show what was measured of: {', '.join(found.missed)}" in written


def test_a_row_that_tells_of_no_parameter_keeps_the_guess() -> None:
    row = rows.subject("imc13/5/att-lte")
    loss = row.target("loss")
    assert loss is not None
    found = fit(replace(row, targets=(loss,), transfers=row.transfers[:1]), runs=2)
    assert found.fitted == {}


@pytest.mark.parametrize(
    ("target", "met", "missed"),
    [
        (Target("throughput", 10.0), (9.0, 11.0), (8.9, 11.1)),
        (Target("throughput", 10.0, 3.0), (7.0, 13.0), (6.9, 13.1)),
        (Target("rtt", 100.0, 2.0), (90.0, 110.0), (89.0, 111.0)),
        (Target("loss", 0.3, 0.3), (0.201, 0.449), (0.19, 0.46)),
        (Target("loss", 0.1, below=True), (0.0, 0.1), (0.11,)),
    ],
)
def test_near_enough(target: Target, met: tuple[float, ...], missed: tuple[float, ...]) -> None:
    assert all(target.is_met(value) for value in met)
    assert not any(target.is_met(value) for value in missed)
    assert not target.is_met(None)
    assert not Residual(target, None, None).row()["met"]


def test_balanced_seeds_stand_for_many() -> None:
    seeds = balanced({"draw": {"rate": {}, "delay": {}}}, 8)
    assert len(set(seeds)) == 8
    for what in ("rate", "delay"):
        values = [float(normal(seed, "link.link", what)) for seed in seeds]
        mean = sum(values) / 8
        # By chance the mean of 8 has a deviation of 0.35.
        assert abs(mean) < 0.1
        assert sum((value - mean) ** 2 for value in values) / 8 == pytest.approx(1, abs=0.3)


def test_no_link_has_more_fitted_parameters_than_figures() -> None:
    for subject in rows.subjects().values():
        made = start.of(subject)
        assert len(made.fitted) <= len(subject.targets)
        assert len(set(made.fitted.values())) == len(made.fitted)


@pytest.mark.parametrize("row", rows.subjects())
def test_every_row_has_a_link_that_says_what_it_shows(row: str) -> None:
    """No figure of several paths is among what a link was fitted to."""
    subject = rows.subject(row)
    table = library.table("links", subject.name)
    assert table["origin"]["kind"] == "calibrated"
    assert table["origin"]["row"] == row
    residuals = table["origin"]["residuals"]
    assert {name: one["target"] for name, one in residuals.items()} == {
        one.figure: one.value for one in subject.targets
    }
    for target in subject.targets:
        shown = residuals[target.figure]
        # To the digits that are written.
        if abs(shown["shown"] - target.value) < 0.99 * target.near and target.figure != "loss":
            assert shown["met"]


def test_the_command_writes_a_link_that_a_scenario_takes(tmp_path: Path, mptcplab: Run) -> None:
    recorded(hidden(4, 30, 30_000, 0.1), tmp_path / "runs", "3 MB")
    captures = sorted((tmp_path / "runs" / "mptcp").glob("*.pcapng"))
    file = tmp_path / "mine.toml"
    done = mptcplab(
        "calibrate", *map(str, captures), "--controller", "reno", "--runs", "2", "--out", str(file)
    )
    assert done.returncode in (0, 1)
    assert done.stdout.splitlines()[0].startswith("client: ")
    assert ("shows every figure" in done.stdout) == (done.returncode == 0)
    (tmp_path / "scenario.toml").write_text(
        'schema = 1\n[transfer]\ndirection = "download"\nsize = "1 MB"\n'
        '[path.air]\nprofile = "mine.toml"\n[mptcp]\nenabled = false\n'
    )
    ran = mptcplab(
        "run", str(tmp_path / "scenario.toml"), "--out", str(tmp_path / "out"), "--no-report"
    )
    assert ran.returncode == 0, ran.stderr
    origin = tomllib.loads((tmp_path / "out" / "mptcp" / "scenario.toml").read_text())
    assert origin["link"]["air"]["origin"]["kind"] == "calibrated"


def test_json_holds_all_of_it(mptcplab: Run) -> None:
    done = mptcplab("calibrate", "--row", "naist/B/wimax", "--runs", "2", "--json")
    document = json.loads(done.stdout)
    assert document["name"] == "naist-b-wimax"
    assert set(document["residuals"]) == {"throughput", "rtt", "throughput_cv"}
    assert done.returncode == bool(document["missed"])
    assert set(document["fitted"]) <= set(document["parameters"])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "calibrate takes captures, --row ID or --all: one of them"),
        (
            ("--row", "umass-tr/II/boston-verizon-lt"),
            "there is no row umass-tr/II/boston-verizon-lt of single-path figures; did you mean "
            "umass-tr/II/boston-verizon-lte?",
        ),
        (("--row", "umass-tr/III/boston-8"), "is of several paths: links are calibrated on single"),
        (("nosuch.pcapng",), "nosuch.pcapng: there is no such file; check the path"),
        (
            ("nosuch.pcapng", "--controller", "coupled"),
            "there is no congestion controller coupled; did you mean lia?",
        ),
        (("nosuch.pcapng", "--row", "x"), "calibrate takes captures, --row ID or --all: one of"),
        (("nosuch.pcapng", "--targets", "x"), "targets are those of a row: they do not go with"),
        (("--row", "naist/B/wimax", "--era", "2012"), "controller and era are those of captures"),
        (("--row", "naist/B/wimax", "--controller", "lia"), "controller and era are those of"),
    ],
)
def test_what_cannot_be_calibrated_is_refused_in_a_line(
    arguments: tuple[str, ...], complaint: str, mptcplab: Run
) -> None:
    done = mptcplab("calibrate", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert complaint in done.stderr


def test_a_transfer_that_lost_nothing_bounds_the_loss(tmp_path: Path) -> None:
    """Of n packets none: with a confidence of 95 % the ratio is below 3 / n."""
    captures = recorded(hidden(8, 40, 4_000_000, 0), tmp_path / "runs", "1 MB")
    found = calibrate(captures, controller="reno", runs=2)
    loss = found.residuals["loss"]
    assert loss.target.below
    assert loss.target.value == pytest.approx(100 * 3 / (1e6 / 1448), rel=0.02)
    assert loss.is_met
    assert not any(one["element"] in LOSSES for one in found.link["downlink"])


@pytest.mark.parametrize(
    ("figures", "complaint"),
    [
        ("throughput = { mean = -3 }", "throughput: mean: -3 is not such a figure"),
        ("rtt = { mean = nan }", "rtt: mean: nan is not such a figure"),
        ('rtt = { mean = "x" }', 'rtt: mean: "x" is not such a figure'),
        ("rtt = { mean = 5, sd = -1 }", "rtt: sd: -1 is not such a figure"),
        ("loss = { mean = 0 }", "loss: mean: 0 is none that a link could show"),
        ("", "mine: has no figure that a link could be fitted to"),
    ],
)
def test_rows_without_usable_figures_are_refused_in_a_line(
    figures: str, complaint: str, tmp_path: Path, mptcplab: Run
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        '[papers.p]\ntitle = "t"\nsource = "s"\n'
        '[[single_path]]\nid = "mine"\npaper = "p"\ncarrier = "c"\ntechnology = "LTE"\n'
        f'mobility = "static"\ndirection = "download"\nsize = "1 MB"\n{figures}\n'
    )
    done = mptcplab("calibrate", "--row", "mine", "--targets", str(file))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert complaint in done.stderr


def test_what_limits_trust_in_a_capture_is_told(tmp_path: Path, mptcplab: Run) -> None:
    _, server = recorded(hidden(8, 40, 60_000, 0.1), tmp_path / "runs", "2 MB")
    whole = server.read_bytes()
    cut = tmp_path / "cut.pcapng"
    cut.write_bytes(whole[: len(whole) // 2 + 3])
    output = mptcplab("calibrate", str(cut), "--controller", "bbr", "--runs", "2").stdout
    assert "measured is connection 0, a download of " in output
    assert "! ends in the middle of" in output
    assert "simulated with bbr" in output
    assert "does not show" not in output or "say so with --controller" in output


def test_the_run_says_what_its_sender_had(tmp_path: Path, mptcplab: Run) -> None:
    files = recorded(hidden(8, 40, 60_000, 0.1), tmp_path / "runs", "1 MB")
    assert capture.subject(files).tcp == {"congestion_control": "reno"}
    assert capture.subject(files, controller="bbr").tcp == {"congestion_control": "bbr"}
    output = mptcplab("calibrate", *map(str, files), "--runs", "2").stdout
    assert "it is simulated with reno, as its run says" in output
    assert "--controller" not in output
    alone = [file.rename(tmp_path / file.name) for file in files]
    assert capture.subject(alone).tcp == {"congestion_control": capture.CONTROLLER}


def test_captures_that_say_too_little_are_refused(tmp_path: Path) -> None:
    client, server = recorded(hidden(8, 40, 60_000, 0), tmp_path / "runs", "1 MB")
    with pytest.raises(Error, match="belong to the end that sends the data"):
        calibrate(client)
    short = recorded(hidden(8, 40, 60_000, 0), tmp_path / "short", "50 kB")
    with pytest.raises(Error, match="no transfer over plain TCP of 100 kB or more"):
        calibrate(short)
    assert server.exists()


def test_a_file_that_is_no_link_is_refused_where_it_is_named(tmp_path: Path, mptcplab: Run) -> None:
    (tmp_path / "scenario.toml").write_text(
        'schema = 1\n[transfer]\ndirection = "download"\nsize = "1 MB"\n'
        '[path.air]\nprofile = "mine.toml"\n'
    )
    done = mptcplab("run", str(tmp_path / "scenario.toml"))
    assert done.returncode == 2
    assert (
        f"scenario.toml:6:1: path.air.profile: there is no file {tmp_path}/mine.toml" in done.stderr
    )
    (tmp_path / "mine.toml").write_text("uplink = []\ndownlink = 3\n")
    done = mptcplab("run", str(tmp_path / "scenario.toml"))
    assert done.returncode == 2
    assert done.stderr.startswith(f"mptcplab: {tmp_path}/mine.toml:2:1: downlink: ")


def test_how_packets_are_lost_is_chosen_by_what_a_transfer_shows(tmp_path: Path) -> None:
    single = hidden(6, 30, 40_000, 0.3)
    bursts = json.loads(json.dumps(single))
    bursts["downlink"][2] = {
        "element": "gilbert-elliott-time",
        "good_time": "4 s",
        "bad_time": "20 ms",
    }
    found = {}
    for name, link in {"single": single, "bursts": bursts}.items():
        captures = recorded(link, tmp_path / name, "8 MB")
        found[name] = calibrate(captures, controller="reno", runs=3)
        assert sum(one["weight"] for one in found[name].families) == pytest.approx(1, abs=0.01)
        assert found[name].choice.reason in found[name].toml
    assert {name: one.fit.family.losses for name, one in found.items()} == {
        "single": "single",
        "bursts": "bursts",
    }


@pytest.mark.parametrize(("loss_percent", "window"), [(2, None), (0, "30 kB")])
def test_a_capacity_that_a_captured_transfer_never_filled_is_left_open(
    loss_percent: float, window: str | None, tmp_path: Path
) -> None:
    """Losses or a window keep transfers far below 40 Mbit/s: what arrives says nothing of it."""
    link = hidden(40, 60, 2e6, loss_percent)
    captures = recorded(link, tmp_path / "runs", "8 MB", window=window)
    found = calibrate(captures, controller="reno", runs=4)
    assert found.choice.tried[0].fit.family.capacity == "unfilled"
    if window is not None:
        # Half of a buffer is its window.
        held = int(found.fit.subject.tcp["max_receive_buffer"].split()[0])
        assert held == pytest.approx(15_000, rel=0.1)


def test_a_capacity_that_held_a_captured_transfer_is_none_that_it_never_filled(
    tmp_path: Path,
) -> None:
    captures = recorded(hidden(4, 60, 30_000, 0), tmp_path / "runs", "3 MB")
    found = calibrate(captures, controller="reno", runs=2)
    assert {one.fit.family.capacity for one in found.choice.standing} == {"steady"}
    (tried,) = (one for one in found.choice.tried if one.fit.family.capacity == "unfilled")
    assert tried.weight < 1e-9


def test_a_captured_transfer_may_have_met_a_queue_of_seconds(tmp_path: Path) -> None:
    """It is 2 s deep, as is the family's: that takes no parameter."""
    captures = recorded(hidden(4, 60, 1e6, 0.02), tmp_path / "runs", "8 MB")
    found = calibrate(captures, controller="reno", runs=3)
    assert "deep" in {one.fit.family.queue for one in found.choice.standing}


def test_a_captured_transfer_may_have_met_a_capacity_that_is_on_and_off(tmp_path: Path) -> None:
    link = hidden(8, 40, 60_000, 0.05)
    link["downlink"][0] = {
        "element": "rate-markov",
        "high": "16 Mbit/s",
        "high_time": "100 ms",
        "low_time": "100 ms",
        "queue": {"queue": "drop-tail", "bytes": "100 kB"},
    }
    captures = recorded(link, tmp_path / "runs", "20 MB")
    found = calibrate(captures, controller="reno", runs=3)
    assert found.choice.tried[0].fit.family.capacity == "on-off"


def test_a_range_holds_nine_of_ten_runs_of_all_that_stands(tmp_path: Path) -> None:
    captures = recorded(hidden(4, 60, 30_000, 0.1), tmp_path / "runs", "3 MB")
    found = calibrate(captures, controller="reno", runs=4)
    for figure, range_ in found.ranges.items():
        assert range_ is not None
        runs = [
            (value, one.weight / len(values))
            for one in found.choice.standing
            for values in [one.fit.measured.values(figure)]
            for value in values
        ]
        low, high = range_
        assert math.fsum(part for value, part in runs if low <= value <= high) >= 0.9 - 1e-9
        assert {low, high} <= {value for value, _ in runs}
    document = found.document()["residuals"]["throughput"]
    assert document["low"] <= document["shown"] <= document["high"]


def without_several_paths(file: Path, paper: str | None = None) -> Path:
    """Write the measurements without any of several paths or on the move; or of one paper alone."""
    from mptcplab.measurements import HERE

    kept, keep = [], True
    for block in HERE.read_text().split("\n\n"):
        table = next((line for line in block.splitlines() if line.startswith("[")), None)
        if table is not None:
            keep = table.startswith(("[papers", "[spread", "[[single_path"))
        if paper is not None and 'paper = "' in block:
            keep = f'paper = "{paper}"' in block
        if keep:
            kept.append(block)
    file.write_text("\n\n".join(kept))
    return file


def test_links_are_the_same_where_no_number_of_several_paths_is_known(tmp_path: Path) -> None:
    from mptcplab import measurements

    alone = without_several_paths(tmp_path / "single.toml")
    read = measurements.load(alone)
    assert not any((read.multipath, read.mobile, read.findings))
    assert rows.subjects(alone) == rows.subjects()
    row = "naist/B/wimax"
    found = calibrate(row=row, targets=alone, runs=2)
    assert len(found.families) > 2
    assert found.toml == calibrate(row=row, runs=2).toml


def test_no_paper_has_a_say_in_the_links_of_another(tmp_path: Path) -> None:
    for paper in {row.split("/")[0] for row in rows.subjects()}:
        alone = rows.subjects(without_several_paths(tmp_path / f"{paper}.toml", paper))
        assert alone
        assert all(rows.subjects()[row] == subject for row, subject in alone.items())


@pytest.mark.parametrize("row", rows.subjects())
def test_every_row_says_which_families_were_tried_and_why_it_is_one(row: str) -> None:
    table = library.table("links", rows.subject(row).name)
    tried = table["origin"]["families"]
    assert len(tried) > 1
    assert {one["family"] for one in tried} == {
        model.family.name for model in start.models(rows.subject(row))
    }
    assert sum(one["weight"] for one in tried) == pytest.approx(1, abs=0.01)
    assert table["origin"]["why"]
    others = [one["weight"] for one in table.get("alternatives", [])]
    assert len(others) == sum(one["weight"] >= choice.LEAST_WEIGHT for one in tried[1:])
