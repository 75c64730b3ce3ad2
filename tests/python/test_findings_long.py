"""What findings say of long transfers: the same as of short ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from experiments.findings.run import found
from experiments.findings.scenarios import away, scenario, talk

Table = dict[str, Any]
WIFI: Table = {"rate": "6 Mbit/s", "delay": "10 ms", "queue": "60 ms"}
LTE: Table = {"rate": "3 Mbit/s", "delay": "25 ms", "queue": "100 ms"}
PLAIN = {"enabled": False}


def bulk(seconds: float, mbps: float) -> Table:
    """Give a download that takes so long at a rate."""
    return {"direction": "download", "size": f"{int(seconds * mbps * 125_000)} B"}


def lossy(seconds: int) -> Table:
    """Lose packets by chance."""
    return scenario(bulk(seconds, 6), wifi=WIFI | {"loss": "2 %"}, lte=LTE)


def dead(seconds: int) -> Table:
    """Lose a path for a while."""
    gone = away("wifi", 0.4 * seconds, 0.4 * seconds + 1.5)
    return scenario(bulk(seconds, 9), timeline=gone, wifi=WIFI, lte=LTE)


def held(seconds: int) -> Table:
    """Delay all packets for a while."""
    gone = away("wifi", 0.4 * seconds, 0.4 * seconds + 2, "hold")
    return scenario(bulk(seconds, 6), timeline=gone, wifi=WIFI)


def early(seconds: int) -> Table:
    """End slow start at a loss."""
    short = {"rate": "30 Mbit/s", "delay": "45 ms", "queue": "10 packets"}
    return scenario(bulk(seconds, 24), wifi=short, mptcp=PLAIN)


def window(seconds: int) -> Table:
    """Fill the receive window."""
    small = {"receive_buffer": "150 kB", "receive_buffer_tuning": False}
    far = {"delay": "60 ms"}
    return scenario(bulk(seconds, 6), wifi=WIFI | far, lte=LTE | far, tcp=small)


def slowed(seconds: int) -> Table:
    """Take most of a path's capacity for a while."""
    other = {"kind": "udp", "link": "wifi", "rate": "4.5 Mbit/s"}
    when = {"start": f"{0.4 * seconds} s", "stop": f"{0.7 * seconds} s"}
    return scenario(bulk(seconds, 6), wifi=WIFI) | {"cross_traffic": [other | when]}


PROVOKED: list[tuple[str, Callable[[int], Table]]] = [
    ("losses_random", lossy),
    ("path_dead", dead),
    ("spurious_timeouts", held),
    ("slow_start_loss", early),
    ("receive_window", window),
    ("path_slowed", slowed),
]


@pytest.mark.parametrize("seconds", [10, 60, 300])
@pytest.mark.parametrize(("kind", "make"), PROVOKED, ids=[kind for kind, _ in PROVOKED])
def test_a_long_transfer_is_told_what_a_short_one_is(
    kind: str, make: Callable[[int], Table], seconds: int
) -> None:
    """Short times grow with the transfer, and with them what they can tell."""
    assert kind in found(make(seconds), 1)["found"]


@pytest.mark.parametrize("seconds", [60, 300])
def test_nothing_is_said_of_a_long_transfer_that_is_well(seconds: int) -> None:
    """More time holds more that happens by chance."""
    assert found(scenario(bulk(seconds, 8), wifi=WIFI, lte=LTE), 1)["found"] == {}
    steady = scenario(talk("4 Mbit/s", f"{seconds} s"), wifi=WIFI, lte=LTE)
    assert found(steady, 1)["found"].keys() <= {"application"}


@pytest.mark.parametrize("megabytes", [3, 18])
def test_losses_by_chance_over_a_far_path_are_told(megabytes: int) -> None:
    """What they leave in flight shows within a few round trips, however long the transfer takes."""
    far = {"rate": "6 Mbit/s", "delay": "40 ms", "queue": "100 ms", "loss": "3 %"}
    size = {"direction": "download", "size": f"{megabytes} MB"}
    assert "losses_random" in found(scenario(size, wifi=far, mptcp=PLAIN), 1)["found"]


@pytest.mark.parametrize("seconds", [10, 60])
def test_a_sender_that_losses_do_not_slow_down_is_not_told_of_them(seconds: int) -> None:
    """BBR has as much in flight after them as before."""
    bbr = PLAIN | {"congestion_control": "bbr"}
    one = scenario(bulk(seconds, 5), wifi=WIFI | {"loss": "1 %"}, mptcp=bbr)
    assert "losses_random" not in found(one, 1)["found"]


def test_data_that_waits_beside_a_shared_path_holds_up_nobody_by_chance() -> None:
    """Others take now more and now less of it, whether or not data waits."""
    paths: Table = {
        "wifi": {"rate": "5.97 Mbit/s", "delay": "19.7 ms", "queue": "64 ms"},
        "lte": {"rate": "4.55 Mbit/s", "delay": "21.4 ms", "queue": "100 ms"},
    }
    others = {"kind": "tcp", "flows": 4, "link": "wifi", "start": "0 s", "stop": "120 s"}
    one = scenario(bulk(10, 10.5), **paths) | {"cross_traffic": [others]}
    assert "head_of_line" not in found(one, 1)["found"]
