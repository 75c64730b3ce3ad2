"""What findings say of losses in long transfers: the same as in short ones."""

from __future__ import annotations

from typing import Any

import pytest

from experiments.findings.run import found
from experiments.findings.scenarios import scenario, talk

Table = dict[str, Any]
WIFI: Table = {"rate": "6 Mbit/s", "delay": "10 ms", "queue": "60 ms"}
LTE: Table = {"rate": "3 Mbit/s", "delay": "25 ms", "queue": "100 ms"}
FAR: Table = {"rate": "6 Mbit/s", "delay": "40 ms", "queue": "100 ms"}
PLAIN = {"enabled": False}


def bulk(seconds: float, mbps: float) -> Table:
    """Give a download that takes so long at a rate."""
    return {"direction": "download", "size": f"{int(seconds * mbps * 125_000)} B"}


@pytest.mark.parametrize("seconds", [10, 60, 300])
def test_losses_by_chance_on_one_of_two_paths_are_told(seconds: int) -> None:
    """What is in flight after them shows, however long the times are that a timeline holds."""
    lossy = scenario(bulk(seconds, 6), wifi=WIFI | {"loss": "2 %"}, lte=LTE)
    assert "losses_random" in found(lossy, 1)["found"]


@pytest.mark.parametrize("megabytes", [3, 18])
def test_losses_by_chance_over_a_far_path_are_told(megabytes: int) -> None:
    """They leave less in flight for a few round trips."""
    size = {"direction": "download", "size": f"{megabytes} MB"}
    lossy = scenario(size, wifi=FAR | {"loss": "3 %"}, mptcp=PLAIN)
    assert "losses_random" in found(lossy, 1)["found"]


@pytest.mark.parametrize("seconds", [60, 300])
def test_nothing_is_said_of_a_long_transfer_that_is_well(seconds: int) -> None:
    """More time holds more that happens by chance."""
    assert found(scenario(bulk(seconds, 8), wifi=WIFI, lte=LTE), 1)["found"] == {}
    steady = scenario(talk("4 Mbit/s", f"{seconds} s"), wifi=WIFI, lte=LTE)
    assert found(steady, 1)["found"].keys() <= {"application"}


@pytest.mark.parametrize("seconds", [10, 60])
def test_a_sender_that_losses_do_not_slow_down_is_not_told_of_them(seconds: int) -> None:
    """BBR has as much in flight after them as before."""
    bbr = PLAIN | {"congestion_control": "bbr"}
    one = scenario(bulk(seconds, 5), wifi=WIFI | {"loss": "1 %"}, mptcp=bbr)
    assert "losses_random" not in found(one, 1)["found"]
