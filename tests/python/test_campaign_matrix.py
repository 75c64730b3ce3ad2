"""Which runs a campaign makes, and which campaigns are refused."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import mptcplab as package
from campaigns import CAMPAIGN, written
from command import Run
from mptcplab import ScenarioError, _core
from mptcplab.campaign import definition
from mptcplab.campaign.matrix import Matrix
from mptcplab.results import groups
from mptcplab.results.campaign import Campaign
from mptcplab.scenario.endpoint import Mptcp
from mptcplab.scenario.plan import plain, plan
from mptcplab.scenario.scenario import load


@pytest.mark.parametrize(
    ("change", "alike"),
    [
        (('title = "something small"', 'title = "else"'), True),
        (("repetitions = 3", "repetitions = 2"), True),
        (("repetitions = 3", "repetitions = 3\nseed = 100"), False),
        (('"tcp.congestion_control" = "reno"', '"path.wifi.loss" = "2 %"'), False),
        (("[axis.size]", 'tables = ["events"]\n[axis.size]'), False),
    ],
)
def test_keys_are_of_what_is_run(
    swept: Campaign, tmp_path: Path, change: tuple[str, str], alike: bool
) -> None:
    given = CAMPAIGN.replace("{repetitions}", "3")
    assert change[0] in given
    other = Matrix(definition.load(written(tmp_path, given.replace(*change))))
    keys = {run.task.run for run in other.runs}
    assert keys <= set(swept.plan["run"]) if alike else not keys & set(swept.plan["run"])


def test_the_order_is_by_chance_and_always_the_same(campaign_file: Path) -> None:
    matrix = Matrix(definition.load(campaign_file))
    order = [task.run for task in matrix.shuffled()]
    assert order == [task.run for task in Matrix(definition.load(campaign_file)).shuffled()]
    planned = [run.task.run for run in matrix.runs]
    assert order != planned
    assert sorted(order) == sorted(planned)


def test_only_the_build_that_a_run_is_of_has_its_key(
    campaign_file: Path, swept: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mptcplab.campaign.matrix.build", lambda: "another")
    keys = {run.task.run for run in Matrix(definition.load(campaign_file)).runs}
    assert not keys & set(swept.plan["run"])


# Of each key of [mptcp] that plain TCP cannot depend on, values that are not usual.
MPTCP_KEYS = {
    "congestion_control": ["reno", "olia"],
    "path_manager": ["single", "linux"],
    "max_subflows": ["1"],
    "max_add_addr_accepted": ["1"],
    "checksum": ["true"],
    "opportunistic_retransmission": ["true", "false"],
    "penalisation": ["true", "false"],
    "long_numbers": ["true"],
    "reinjection": ["subflow-timeout"],
    "stale_timeouts": ["9"],
    "capable_retries": ["7"],
    "close_timeout": ["7 s"],
    "join": ["simultaneous"],
    "version": ["0"],
    "receive_buffer": ["per-subflow"],
}


# What changes plain TCP, too, and parameters, which need their policy.
OTHER_KEYS = {"enabled", "era", "scheduler", "scheduler_parameters"}


PARAMETERS = {
    "congestion_parameters": ("congestion_control=ewtcp", "weight=0.5"),
    "path_manager_parameters": ("path_manager=ndiffports", "subflows=3"),
}


def test_shared_baselines_do_not_depend_on_what_is_shared() -> None:
    assert MPTCP_KEYS.keys() | OTHER_KEYS | PARAMETERS.keys() == set(Mptcp.model_fields)
    # Else plain TCP has what MPTCP has, or Reno where that is coupled.
    fixed = ["transfer.size=2 MB", "tcp.congestion_control=reno"]
    _, usual = load("wifi-lte", fixed)
    there = _core.simulate(plan(usual, 3, "wifi"), samples=False).json()
    for key, values in MPTCP_KEYS.items():
        for value in values:
            _, changed = load("wifi-lte", [*fixed, f"mptcp.{key}={value}"])
            assert plain(changed, linux=False) == plain(usual, linux=False), key
            assert _core.simulate(plan(changed, 3, "wifi"), samples=False).json() == there, key


@pytest.mark.parametrize("key", PARAMETERS)
def test_shared_baselines_do_not_depend_on_parameters(key: str) -> None:
    policy, parameter = PARAMETERS[key]
    settings = ["transfer.size=2 MB", f"mptcp.{policy}"]
    _, usual = load("wifi-lte", settings)
    _, changed = load("wifi-lte", [*settings, f"mptcp.{key}.{parameter}"])
    assert plain(changed, linux=False) == plain(usual, linux=False)
    ours, theirs = (_core.simulate(plan(one, 3, "wifi"), samples=False) for one in (changed, usual))
    assert ours.json() == theirs.json()


def test_plain_tcp_of_the_kernel_takes_what_mptcp_takes() -> None:
    """Where ``[tcp]`` names nothing, as the reference says of ``[kernel]``."""
    taken = ["mptcp.congestion_control=reno"]
    named = [*taken, "tcp.congestion_control=cubic"]
    for settings, shared in ((taken, False), (named, True)):
        _, changed = load("wifi-lte", settings)
        _, usual = load("wifi-lte", [one.replace("reno", "cubic") for one in settings])
        assert (plain(changed, linux=True) == plain(usual, linux=True)) is shared


def test_baselines_that_differ_are_not_shared(tmp_path: Path) -> None:
    given = CAMPAIGN.replace('"tcp.congestion_control" = "reno"', "").replace("{repetitions}", "1")
    runs = Matrix(definition.load(written(tmp_path, given))).runs
    cubic = [run for run in runs if run.labels["controller"] == "cubic"]
    # Over one path LIA and OLIA are Reno; CUBIC is not.
    assert [run.task.subject.path for run in cubic] == [None, "wifi", "lte"] * 2
    shared = [run for run in runs if run.labels["controller"] is None]
    assert [run.task.subject.path for run in shared] == ["wifi", "lte"] * 2


MIXED = """\
schema = 1
scenario = "small.toml"
repetitions = 2

[axis.what.points.small-lia]
"transfer.size" = "20 kB"
"mptcp.congestion_control" = "lia"

[axis.what.points.small-olia]
"transfer.size" = "20 kB"
"mptcp.congestion_control" = "olia"

[axis.what.points.large-lia]
"transfer.size" = "60 kB"
"mptcp.congestion_control" = "lia"

[axis.what.points.large-olia]
"transfer.size" = "60 kB"
"mptcp.congestion_control" = "olia"
"""


def test_plain_tcp_is_shared_only_where_axes_say_by_what(tmp_path: Path) -> None:
    campaign = package.sweep(written(tmp_path, MIXED), out=tmp_path / "out", jobs=1)
    assert campaign.runs["run"].is_unique().all()
    own = groups.groups(campaign, ["what"], campaign.runs.filter(path="wifi"))
    assert [(one.axes["what"], sorted(set(one.runs["bytes"]))) for one in own] == [
        ("small-lia", [20_000]),
        ("small-olia", [20_000]),
        ("large-lia", [60_000]),
        ("large-olia", [60_000]),
    ]
    first, second, *_ = (one.runs.drop("run", "what", "configuration", "pair") for one in own)
    assert_frame_equal(first, second)


def test_points_set_several_keys_and_choices_leave_some_out(tmp_path: Path) -> None:
    given = """\
schema = 1
scenario = "small.toml"
repetitions = 1
baselines = false

[axis.place.points.home]
"path.wifi.rate" = "50 Mbit/s"
"path.lte.delay" = "40 ms"

[axis.place.points.street]
"path.wifi.queue" = { queue = "codel" }

[axis.addresses]
key = "server.addresses"
values = [1, 2]

[[exclude]]
place = "street"
addresses = 2
"""
    campaign = package.sweep(written(tmp_path, given), out=tmp_path / "out", jobs=1)
    found = campaign.runs.select("place", "addresses").rows()
    assert found == [("home", 1), ("home", 2), ("street", 1)]
    assert campaign.runs.schema["addresses"] == pl.Int64
    home, _, street = (campaign.scenario(run) for run in campaign.runs["run"])
    assert 'rate = "50 Mbit/s"' in home
    assert "codel" not in home
    assert "codel" in street
    only = given.replace("[[exclude]]", "[[only]]")
    runs = Matrix(definition.load(written(tmp_path, only))).runs
    assert [run.labels for run in runs] == [{"place": "street", "addresses": 2}]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (
            ("repetitions = ", "repetition = "),
            "campaign.toml:4: repetition: there is no such key; did",
        ),
        (('"small.toml"', '"smal.toml"'), "campaign.toml:3: scenario: there is no file "),
        (('"small.toml"', '"wifi-ltee"'), "did you mean wifi-lte?"),
        (("schema = 1", "schema = 2"), "campaign.toml:1: schema: 2 is not known"),
        (("{repetitions}", "0"), "campaign.toml:4: repetitions: must be at least 1"),
        (("{repetitions}", "3\nseed = -1"), "campaign.toml:5: seed: must be at least 0"),
        (("{repetitions}", '3\nengine = "ns3"'), "campaign.toml:5: engine: "),
        (("{repetitions}", '3\ntables = ["event"]'), "campaign.toml:5: tables.0: "),
        (
            ("transfer.size", "transfer.sise"),
            "campaign.toml:7: transfer.sise: there is no such key",
        ),
        (("transfer.size", "trnsfer.size"), "campaign.toml:7: trnsfer: there is no such section"),
        (("transfer.size", "path.wfi.rate"), "campaign.toml:7: there is no path wfi; did you mean"),
        (('"60 kB"', '"60 kg"'), "campaign.toml:8: transfer.size: "),
        (('"60 kB"', '"20 kB"'), 'campaign.toml:8: axis.size.values.1: "20 kB" is there twice'),
        (('"60 kB"', "7"), "campaign.toml:8: axis.size.values: mixes text with numbers"),
        (('"20 kB", "60 kB"', ""), "campaign.toml:6: axis.size: has no values"),
        (
            ('values = ["20', 'valus = ["20'),
            "campaign.toml:8: axis.size.valus: there is no such key",
        ),
        (("axis.size", "axis.seed"), "cannot name an axis: a column of runs has it"),
        (("axis.size", "axis.Size"), "cannot name an axis"),
        (('"olia"', '"olias"'), "campaign.toml:12: mptcp.congestion_control: there is no"),
        (('key = "mptcp.congestion_control"', 'key = "transfer.size"'), "varies with size already"),
        (
            ('"tcp.congestion_control" = ', "tcp.congestion_control = "),
            "campaign.toml:15: set.tcp: write the whole key in quotation marks",
        ),
        (("[set]", '[[only]]\nsiz = "20 kB"\n[set]'), "only.0.siz: there is no such axis; did"),
        (("[set]", '[[only]]\nsize = "20kB"\n[set]'), "is none of its values; did you mean 20 kB"),
        (("[set]", '[[exclude]]\nsize = ["20 kB", "60 kB"]\n[set]'), "leave nothing to run"),
    ],
)
def test_what_cannot_be_is_told_with_its_line(
    tmp_path: Path, mptcplab: Run, change: tuple[str, str], complaint: str
) -> None:
    assert change[0] in CAMPAIGN
    written(tmp_path, CAMPAIGN.replace(*change))
    with pytest.raises(ScenarioError) as error:
        package.sweep(tmp_path / "campaign.toml", out=tmp_path / "out")
    # Columns have a test of their own.
    assert complaint in re.sub(r"(toml:\d+):\d+: ", r"\1: ", str(error.value))
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("changes", "about"),
    [
        (
            {"repetitions =": "repetition =", '"60 kB"': "7", '"tcp.congestion_control"': "tcp.x"},
            ["4: repetition", "8: axis.size.values", "15: set.tcp"],
        ),
        (
            {
                "title": 'tables = ["x", "y"]\ntime_zone',
                "[set]": "[[only]]\nsiz = 1\n[[exclude]]\nx = 1\n[set]",
            },
            ["2: tables.0", "2: tables.1", "3: time_zone", "16: only.0.siz", "18: exclude.0.x"],
        ),
        (
            {'"20 kB", "60 kB"': '"20 kg", "60 kg"', '"olia"': '"olias"'},
            ["8: transfer.size", "8: transfer.size", "12: mptcp.congestion_control"],
        ),
        (
            {"transfer.size": "trnsfer.size", '"tcp.c': '"path.wfi.c'},
            ["15: there is", "7: trnsfer"],
        ),
    ],
    ids=["at the top", "what goes together", "values", "keys"],
)
def test_all_faults_are_told_at_once(
    tmp_path: Path, changes: dict[str, str], about: list[str]
) -> None:
    text = CAMPAIGN
    for change in changes.items():
        assert change[0] in text
        text = text.replace(*change)
    with pytest.raises(ScenarioError) as error:
        package.sweep(written(tmp_path, text), out=tmp_path / "out")
    lines = [re.sub(r".*campaign\.toml:(\d+):\d+: ", r"\1: ", line) for line in error.value.args]
    assert [line[: len(start)] for line, start in zip(lines, about, strict=True)] == about


def test_a_campaign_of_too_many_runs_is_refused(tmp_path: Path, mptcplab: Run) -> None:
    file = written(tmp_path / "files", repetitions=1_000_000)
    ended = mptcplab("sweep", file, "--out", tmp_path / "out", "--dry-run")
    assert (ended.returncode, ended.stdout) == (2, "")
    # Six with MPTCP, and plain TCP over two paths for each of two sizes.
    assert ended.stderr == (
        "mptcplab: campaign: 10 runs for each seed × 1000000 repetitions are 10000000 runs, more "
        "than 1000000: take fewer repetitions or values\n"
    )
    assert not (tmp_path / "out").exists()


def test_two_configurations_cannot_be_one_scenario(tmp_path: Path) -> None:
    given = CAMPAIGN.replace('"20 kB", "60 kB"', '"60 kB", "60000 B"')
    with pytest.raises(ScenarioError, match="60 kB lia and 60000 B lia are the same scenario"):
        package.sweep(written(tmp_path, given))
