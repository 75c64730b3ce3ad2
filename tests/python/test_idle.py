"""The application ``idle``: whether a connection with nothing sent is still there."""

from __future__ import annotations

from typing import Any

import pytest

from mptcplab import run

# Longer than the silence, and shorter.
PATIENT, FORGETFUL = "60 s", "20 s"


def scenario(direction: str, idle: str) -> dict[str, Any]:
    firewall = {"element": "firewall", "idle": idle}
    wifi = {"rate": "8 Mbit/s", "delay": "10 ms", "middleboxes": [firewall]}
    transfer = {"application": "idle", "direction": direction, "duration": "30 s"}
    return {"schema": 1, "transfer": transfer, "path": {"wifi": wifi}}


@pytest.mark.parametrize("direction", ["download", "upload"])
def test_it_says_whether_a_box_on_the_way_still_knows_the_connection(direction: str) -> None:
    there = run(scenario(direction, PATIENT), baselines=False).mptcp
    assert there.outcome["finished"], there.outcome["reason"]
    assert there.transfer is not None
    assert there.transfer["bytes"] == 1000
    # Nothing was sent meanwhile.
    assert there.transfer["elapsed_s"] == pytest.approx(30, abs=0.2)
    gone = run(scenario(direction, FORGETFUL), baselines=False).mptcp
    assert not gone.outcome["finished"]
