"""What findings say of losses, joins and windows, and how they call each other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from experiments.findings.run import found
from experiments.findings.scenarios import (
    BULK,
    LTE,
    TINY_WINDOW,
    WIFI,
    away,
    box,
    scenario,
)
from mptcplab import _core
from mptcplab.labels import events
from mptcplab.labels.findings import NAMES, described
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load

DOCS = Path(__file__).parents[2] / "docs" / "findings.md"
Table = dict[str, Any]


def simulated(table: Table, seed: int = 1) -> _core.Tables:
    """Simulate a scenario."""
    _, loaded = load(table)
    return _core.simulate(plan(loaded, seed, None))


def test_half_a_percent_on_the_faster_path_is_told_beside_a_lossier_one() -> None:
    """It costs the faster path more."""
    lossy = scenario(
        BULK | {"size": "20 MB"}, wifi=WIFI | {"loss": "0.5 %"}, lte=LTE | {"loss": "2 %"}
    )
    findings = [row for row in simulated(lossy).rows("findings") if row["kind"] == "losses_random"]
    assert {row["subflow"] for row in findings} == {0, 1}
    for row in findings:
        assert "full queue" not in row["evidence"]
        assert re.search(r"round trips took \d+ to \d+ ms before losses", row["evidence"])


@pytest.mark.parametrize("queue", ["8 ms", "15 ms"])
def test_a_short_queue_that_is_full_most_of_the_time_loses_nothing_by_chance(queue: str) -> None:
    """It holds one packet or two, and BBR keeps it filled."""
    short: Table = {"wifi": {"rate": "2 Mbit/s", "delay": "25 ms", "queue": queue}}
    bbr = {"congestion_control": "bbr"}
    kinds = found(scenario(BULK | {"size": "4 MB"}, mptcp=bbr, **short), 2)["found"]
    assert not {"losses_random", "losses_bursts"} & set(kinds)


def test_losses_of_a_path_that_jitters_are_of_no_queue() -> None:
    """Its round trips are long at times, but not before losses above all."""
    jitters = WIFI | {"jitter": "3 ms", "loss": "2 %"}
    assert "losses_random" in found(scenario(BULK | {"size": "10 MB"}, wifi=jitters), 1)["found"]


def test_a_path_that_is_busy_with_what_another_lost_did_not_become_slower() -> None:
    """For a second after Wi-Fi is gone."""
    one = BULK | {"direction": "upload", "size": "15 MB"}
    lte = LTE | {"rate": "4 Mbit/s", "delay": "40 ms"}
    gone = away("wifi", 2, 3, "detach")
    gone[1]["verb"] = "attach"
    kinds = found(scenario(one, timeline=gone, wifi=WIFI, lte=lte), 1)["found"]
    assert "path_dead" in kinds
    assert "path_slowed" not in kinds


@pytest.mark.parametrize(
    ("settings", "kind", "why"),
    [
        ({"segments": "data"}, "join_refused", "a middlebox removes MP_JOIN from the third packet"),
        ({"option": "dss"}, "join_unfinished", "was reset because a middlebox interferes"),
    ],
)
def test_options_that_are_removed_after_the_syn_are_told(
    settings: Table, kind: str, why: str
) -> None:
    """From the third packet, or from data."""
    bare = scenario(wifi=WIFI, lte=box(LTE, "strip-options", **settings))
    (finding,) = simulated(bare).rows("findings")
    assert finding["kind"] == kind
    assert why in finding["message"]
    assert "avoid the middlebox" in finding["remedy"]


def test_event_and_finding_name_the_same_hosts() -> None:
    """Whose reset it was, and which host a SYN never reached."""
    tables = simulated(scenario(wifi=WIFI, lte=box(LTE, "firewall", joins=False, reset=True)))
    (finding,) = tables.rows("findings")
    assert "the SYN never reached the server" in finding["message"]
    assert "its SYN with MP_JOIN left the client at" in finding["evidence"]
    lines = [events.describe(row) for row in tables.rows("events")]
    assert "join refused: a middlebox reset it: the SYN never reached the server" in lines
    assert "reset by a middlebox" in lines


def test_event_and_finding_say_alike_that_a_middlebox_removed_an_option() -> None:
    """Where both ends were captured."""
    tables = simulated(scenario(wifi=WIFI, lte=box(LTE, "strip-options", segments="syn")))
    (finding,) = tables.rows("findings")
    removed = "a middlebox removes MP_JOIN from the SYN"
    assert f"({removed})" in finding["message"]
    assert f"join refused: {removed}" in [events.describe(row) for row in tables.rows("events")]


def test_a_window_is_beside_what_linux_makes_of_a_buffer() -> None:
    """100 kB of buffer are 60 kB of window."""
    far = WIFI | {"delay": "80 ms"}
    (finding,) = simulated(scenario(tcp=TINY_WINDOW, wifi=far)).rows("findings")
    assert "about 60 % of the receive buffer" in finding["evidence"]


def test_each_kind_has_a_name_for_people() -> None:
    """A table of the documentation has them beside those of tables."""
    lines = DOCS.read_text("utf-8").split("## Kinds")[1].split("Each outage")[0].splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    names: dict[str, str] = {}
    for called, kinds, *_ in rows[1:]:
        names |= dict(zip(re.findall(r"`([a-z_]+)`", kinds), called.split(", "), strict=True))
    assert names == NAMES


@pytest.mark.parametrize(
    ("stalled", "cost_s", "more"),
    [("7.1 s", 7.08, ""), ("12 s", 11.7, ""), ("7.1 s", 3.0, ": 3.00 s lost")],
)
def test_that_a_video_stalled_is_said_once(stalled: str, cost_s: float, more: str) -> None:
    """Where another finding cost the rest of it, its own cost stands beside the whole."""
    row = {"message": f"the video stalled for {stalled}", "kind": "path_dead", "cost_s": cost_s}
    assert described(row | {"cost_is_minimum": False}) == f"{row['message']}{more}"
