"""What the guard's experiments take of runs: of those that stopped, nothing."""

from __future__ import annotations

import pytest

from experiments.guard import notified, parameters
from experiments.guard.figures import finished
from experiments.guard.parameters import OFTEN, OFTEN_S, VALUES, Setting
from experiments.guard.run import gathered, simulated_once
from experiments.guard.scenarios import GOES_S, Case
from experiments.guard.table import pairs
from mptcplab import _core
from mptcplab.scenario.plan import plan

CASE = Case("fade", "paced download")
SEEDS = range(1, 7)


def stops(seed: int) -> bool:
    """Say whether the receiver takes nothing more."""
    findings = _core.simulate(plan(CASE.read("linux"), seed)).rows("findings")
    return any(row["kind"] == "receiver_stuck" for row in findings)


def test_a_simulated_run_that_stopped_has_no_figures() -> None:
    ended = sum(not stops(seed) for seed in SEEDS)
    assert 0 < ended < len(SEEDS)
    keys = [(CASE, "linux", seed) for seed in SEEDS]
    (row,) = gathered((key, simulated_once(key)) for key in keys)
    assert row["tried"] == len(SEEDS)
    assert len(row["mbps"]) == len(row["age_ms"]) == ended
    (pair,) = pairs([row, row | {"manager": "guard"}])
    assert finished(*pair) == f"{ended} → {ended} of {len(SEEDS)}"


def test_who_is_notified_of_a_failure_leaves_no_sooner() -> None:
    case = Case("blackout", "paced upload")
    alone = simulated_once((case, "linux", 1))["age_ms"]
    age = notified.simulated_once((case, 1))["age_ms"]
    # What was written when Wi-Fi went waits for that long at least.
    assert notified.STANDS_STILL_MS + notified.RTT_MS <= age < alone / 3


@pytest.mark.parametrize("parameter", VALUES)
def test_other_values_of_a_parameter_are_less_and_more_than_its_default(parameter: str) -> None:
    less, default, more = (
        Setting(parameter, value).read(CASE).mptcp.path_manager_parameters[parameter]
        for value in VALUES[parameter]
    )
    assert less < default < more
    assert default == Setting().read(CASE).mptcp.path_manager_parameters[parameter]


def test_wifi_is_away_while_it_is_silent_and_on_trial() -> None:
    case, every_s = max(OFTEN.items(), key=lambda item: item[1])
    # Each failure is forgotten before the next.
    setting = Setting("forgive", f"{every_s // 2} s")
    row = parameters.simulated_once((setting, case, 1))
    trial_s = row["away_s"] / len(range(GOES_S, OFTEN_S, every_s)) - (1 - row["left_s"])
    guard = setting.read(case).mptcp.path_manager_parameters
    longest_ns = guard["hold_down"] + guard["trial_interval"] + guard["probe_timeout"]
    assert guard["hold_down"] <= trial_s * 1e9 < longest_ns
