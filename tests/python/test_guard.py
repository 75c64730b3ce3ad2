"""The guard in simulation: it leaves a path that dies, comes back to it, and leaves others be."""

from __future__ import annotations

from statistics import median
from typing import Any

import pytest

from experiments.guard.scenarios import Case
from mptcplab import _core
from mptcplab.cli.main import main
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load

GOES_S, COMES_S = 5, 9
WIFI, LTE = "10.0.1.2", "10.0.2.2"


def simulate(*settings: str, of: str = "guard") -> _core.Tables:
    _, scenario = load(of, list(settings))
    return _core.simulate(plan(scenario, 1))


def decided(tables: _core.Tables, name: str) -> list[tuple[str, float]]:
    rows: list[dict[str, Any]] = list(tables.rows("signals"))
    return [
        (row["local_address"], row["at_s"])
        for row in rows
        if row["host"] == "client" and row["signal"] == f"guard-{name}"
    ]


@pytest.mark.parametrize("direction", ["download", "upload"])
def test_a_path_that_dies_is_left_and_used_again(direction: str) -> None:
    tables = simulate(f"transfer.direction={direction}")
    ((address, left_s),) = decided(tables, "suspended")
    assert address == WIFI
    # Before a time-out of TCP has passed twice.
    assert GOES_S < left_s < GOES_S + 0.4
    ((address, resumed_s),) = decided(tables, "resumed")
    assert address == WIFI
    assert COMES_S < resumed_s < COMES_S + 1
    # Nothing new is sent over it meanwhile, and something is after. What was in flight there
    # TCP goes on to repeat: a first subflow ends with a FIN behind its queue, not with a reset.
    wifi = {row["subflow"] for row in tables.rows("subflows") if row["path"] == "wifi"}
    new_s = [
        row["at_s"]
        for row in tables.rows("segments")
        if row["subflow"] in wifi and row["kind"] == "new"
    ]
    assert not [at_s for at_s in new_s if left_s + 0.2 < at_s < COMES_S]
    assert [at_s for at_s in new_s if resumed_s < at_s < resumed_s + 1]


def test_data_is_older_without_it() -> None:
    gaps = {
        manager: next(
            row["longest_gap_ms"]
            for row in simulate(f"mptcp.path_manager={manager}").rows("transfers")
            if row["direction"] == "down"
        )
        for manager in ("linux", "guard")
    }
    assert gaps["guard"] < gaps["linux"]


def test_a_path_that_is_well_stays() -> None:
    _, scenario = load("guard", ["timeline=[]"])
    for seed in range(1, 11):
        assert decided(_core.simulate(plan(scenario, seed)), "suspended") == []


def test_short_messages_return_to_a_path_that_is_back() -> None:
    tables = _core.simulate(plan(Case("hold", "requests").read("guard"), 1))
    # LTE was used meanwhile, and is left for a moment.
    assert [address for address, _ in decided(tables, "suspended")] == [WIFI, LTE]
    assert [address for address, _ in decided(tables, "resumed")] == [WIFI, LTE]
    (*_, (_, resumed_s)) = decided(tables, "resumed")
    times = [(row["at_s"], row["response_time_ms"]) for row in tables.rows("responses")]
    before = [ms for at_s, ms in times if at_s < GOES_S - 1]
    after = [ms for at_s, ms in times if at_s > resumed_s]
    assert len(after) > 5
    assert median(after) < 1.1 * median(before)


def test_a_path_is_left_for_its_signal_and_used_again_with_hysteresis() -> None:
    tables = simulate(of="signal")
    # It hears -82 dBm from 9 s, -75 from 13 s, -65 from 17 s; each has to last for a second.
    ((address, left_s),) = decided(tables, "suspended")
    assert (address, round(left_s)) == (WIFI, 10)
    ((_, resumed_s),) = decided(tables, "resumed")
    assert round(resumed_s) == 18
    # At -76 it is enough before.
    (early,) = decided(
        simulate("mptcp.path_manager_parameters.return_above=-76", of="signal"), "resumed"
    )
    assert round(early[1]) == 14


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("mptcp.path_manager_parameters.leave_below=-300", "must be from -200 to 0 dBm"),
        ("mptcp.path_manager_parameters.return_above=-90", "leave_below that is not greater"),
        ("timeline.0.dbm=12", "12 dBm is outside -200 to 0"),
    ],
)
def test_signals_that_no_radio_hears_are_refused(setting: str, said: str) -> None:
    with pytest.raises(_core.Error, match=said):
        load("signal", [setting])


def test_maps_tries_the_paths_that_it_does_not_use() -> None:
    subflows = list(simulate(of="maps").rows("subflows"))
    # Wi-Fi gets worse at 8 s; LTE waited longest and carries less, the other path carries more.
    assert [row["path"] for row in subflows] == ["wifi", "lte", "other"]
    wifi, lte, other = subflows
    assert 8 < lte["start_s"] < lte["end_s"] < other["start_s"] < wifi["end_s"] < other["end_s"]


def test_what_is_set_counts() -> None:
    usual, slow = (
        decided(simulate(*settings), "suspended")[0][1]
        for settings in ((), ("mptcp.path_manager_parameters.margin=1 s",))
    )
    assert slow > usual + 0.3


def test_the_command_refuses_what_makes_no_sense(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["guard", "--set", "probes=1"])
    error = capsys.readouterr().err
    assert "probes" in error
    assert "whole number from 2 to 10" in error


@pytest.mark.parametrize("words", [[], ["--policy", "maps"]])
def test_the_command_names_what_was_typed(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Keys of a scenario mean nothing to those who guard a host."""
    with pytest.raises(SystemExit, match="2"):
        main(["guard", *words, "--set", "marign=3ms"])
    error = capsys.readouterr().err
    assert error.startswith("mptcplab: --set marign=3ms: marign: path manager ")
    assert error.count("\n") == 1


def test_a_policy_gets_what_is_set_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[list[str]] = []
    monkeypatch.setattr("os.execv", lambda _, words: given.append(words[1:]))
    monkeypatch.setattr("mptcplab.machine.programs.guard", lambda: "guard")
    words = ["--policy", "budget", "--budget", "wwan0=500MB", "--cost", "wwan0=0.01"]
    with pytest.raises((SystemExit, TypeError)):
        main(["guard", *words, "--set", "cost_budget=5"])
    plans = '{"wwan0": {"budget_bytes": 500000000, "cost_per_mb": 0.01}}'
    parameters = '{"then": "close", "cost_budget": 5}'
    assert given == [["--policy", "budget", "--plans", plans, "--parameters", parameters]]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--budget", "wwan0=1MB"], "need --policy budget"),
        (["--policy", "offload", "--budget", "wwan0=1MB"], "need --policy budget"),
        (["--policy", "budget"], "such as --budget wwan0=500MB"),
        (["--policy", "budget", "--cost", "wwan0=1"], "such as --set cost_budget=2.5"),
        (["--policy", "budget", "--set", "cost_budget=1"], "such as --cost wwan0=0.01"),
        (["--policy", "budget", "--budget", "wwan0=much"], '--budget: wwan0=much: "much" is not a'),
        (["--policy", "budget", "--budget", "lo=-5MB"], '--budget: lo=-5MB: "-5MB" is not a'),
        (["--policy", "budget", "--budget", "wwan0=0B"], "--budget: wwan0=0B is not above 0"),
        (["--policy", "budget", "--budget", "wwan0"], "--budget: wwan0 is not INTERFACE=VALUE"),
        (
            ["--policy", "budget", *["--budget", "lo=5MB"] * 2, "--budget", "wwan0=5MB"],
            "--budget: lo has 2; an interface has one",
        ),
        (
            ["--policy", "budget", "--cost", "lo=1", "--cost", "lo=2"],
            "--cost: lo has 2; an interface has one",
        ),
        (["--policy", "budget", "--cost", "wwan0=nan"], "--cost: wwan0=nan is not above 0"),
        (["--policy", "budget", "--cost", "wwan0=dear"], "the price is not a number"),
        (["--policy", "ofload"], '--policy: there is no policy "ofload"; did you mean offload?'),
        (["--policy", "linux"], "known: budget, maps, offload, on-demand"),
        (["--policy", "maps", "--set", "worse=7"], "worse"),
        (["--signals", "file"], "--signals needs a threshold"),
        (["--signals", "file", "--policy", "maps"], "--signals is for the guard"),
    ],
)
def test_the_command_refuses_policies_that_make_no_sense(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["guard", *words])
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
