"""What findings say of losses: few ones, bursts, and those that cost no time."""

from __future__ import annotations

from typing import Any

import pytest

from experiments.findings.run import found
from experiments.findings.scenarios import BULK, WIFI, ask, loss, scenario
from mptcplab import _core
from mptcplab.labels.findings import by_cost
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load

Table = dict[str, Any]
FAST = {"rate": "60 Mbit/s", "delay": "25 ms", "queue": "80 ms"}
NEAR = {"rate": "35 Mbit/s", "delay": "8 ms", "queue": "80 ms"}
FAR = {"rate": "9 Mbit/s", "delay": "32 ms", "queue": "120 ms"}


def kinds(table: Table) -> list[str]:
    """Simulate a scenario; give the kinds of its findings, as people read them."""
    _, loaded = load(table)
    rows = _core.simulate(plan(loaded, 1, None)).rows("findings")
    return [row["kind"] for row in by_cost(rows)]


@pytest.mark.parametrize(
    ("percent", "paths"),
    [
        ("0.2 %", {"wifi": FAST}),
        ("0.5 %", {"wifi": NEAR, "lte": FAR}),
    ],
)
def test_few_losses_that_keep_a_path_from_being_filled_are_told(percent: str, paths: Table) -> None:
    """They cost most of the time."""
    one = BULK | {"size": "15 MB"}
    lossy = {name: path | {"loss": percent} for name, path in paths.items()}
    slow, without = (found(scenario(one, **these), 1) for these in (lossy, paths))
    assert slow["elapsed_s"] > 1.5 * without["elapsed_s"]
    assert "losses_random" in slow["found"]
    assert without["found"] == {}


def test_bursts_on_the_smaller_path_are_told() -> None:
    """Few bursts, of many packets each."""
    one = scenario(BULK | {"size": "15 MB"}, wifi=WIFI, lte=loss(FAR, p="0.4 %", r="12 %"))
    assert "losses_bursts" in kinds(one)


def test_losses_come_before_what_waits_for_them() -> None:
    """A scheduler gives less than a sender that does not take loss for congestion."""
    paths: Table = {
        "wifi": WIFI | {"rate": "14 Mbit/s", "delay": "15 ms"},
        "lte": FAR | {"queue": "80 ms"},
    }
    lossy: Table = {name: path | {"loss": "4 %"} for name, path in paths.items()}
    findings = kinds(scenario(BULK | {"direction": "upload", "size": "10 MB"}, **lossy))
    assert findings[0] == "losses_random"
    assert "head_of_line" in findings


def test_bbr_loses_packets_and_no_time() -> None:
    """Many are in flight, so several are lost in a round trip: no burst, and no slower for it."""
    bbr = {"congestion_control": "bbr"}
    lossy = scenario(BULK | {"size": "15 MB"}, mptcp=bbr, wifi=NEAR | {"loss": "2 %"}, lte=FAR)
    assert not {"losses_random", "losses_bursts"} & set(kinds(lossy))


def test_few_losses_do_not_hold_back_who_has_nothing_to_send() -> None:
    """Round trips are short between requests as well."""
    asked = ask(response="1 MB", think="2 s")
    assert kinds(scenario(asked, wifi=WIFI | {"loss": "0.3 %"})) == ["application"]


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_jitter_is_no_queue_that_overflows(seed: int) -> None:
    """It makes most round trips longer than the least, also those before losses by chance."""
    _, lossy = load("wifi-lte", ["path.wifi.loss=2%"])
    rows = _core.simulate(plan(lossy, seed, None)).rows("findings")
    assert "losses_queue" not in {row["kind"] for row in rows}


@pytest.mark.parametrize("packets", [2, 3, 5])
@pytest.mark.parametrize("rate", ["0.8 Mbit/s", "1.5 Mbit/s", "3 Mbit/s"])
def test_what_a_few_packets_fill_on_a_slow_link_is_not_chance(rate: str, packets: int) -> None:
    """A packet takes as long there as a pause elsewhere."""
    size = f"{float(rate.split()[0]) * 3:.1f} MB"
    path = {"rate": rate, "delay": "15 ms", "queue": f"{packets} packets"}
    assert "losses_random" not in kinds(scenario(BULK | {"size": size}, wifi=path))


@pytest.mark.parametrize("rate", ["1 Mbit/s", "2 Mbit/s"])
def test_losses_by_chance_on_a_slow_link_are_told(rate: str) -> None:
    """Its queue is no reason where it is not full."""
    size = f"{float(rate.split()[0]) * 3:.1f} MB"
    path = {"rate": rate, "delay": "40 ms", "queue": "150 ms", "loss": "3 %"}
    assert "losses_random" in kinds(scenario(BULK | {"size": size}, wifi=path))


def test_a_sender_that_finds_the_rate_after_each_pause_loses_too_little_to_tell() -> None:
    """Each response begins with as much as the one before ended with."""
    paths: Table = {
        "wifi": {"rate": "7.65 Mbit/s", "delay": "9.6 ms", "queue": "108 ms"},
        "lte": {"rate": "3.91 Mbit/s", "delay": "43.9 ms", "queue": "66 ms"},
    }
    asked = ask(response="750 kB", think="35 ms", requests=12)
    assert "losses_queue" not in kinds(scenario(asked, **paths))


@pytest.mark.parametrize(
    ("rate", "delay", "loss", "size"),
    [("2", "20", "2", "30 MB"), ("4", "20", "3", "12 MB"), ("6", "20", "3", "20 MB")],
)
def test_what_bbr_loses_by_chance_beside_a_short_queue_is_no_fault_of_that(
    rate: str, delay: str, loss: str, size: str
) -> None:
    """It keeps the queue filled, so round trips are long before any loss."""
    path = {"rate": f"{rate} Mbit/s", "delay": f"{delay} ms", "queue": "60 ms"}
    bbr = {"enabled": False, "congestion_control": "bbr"}
    lossy = scenario(BULK | {"size": size}, mptcp=bbr, wifi=path | {"loss": f"{loss} %"})
    assert "losses_queue" not in kinds(lossy)


@pytest.mark.parametrize(("loss", "kilobytes"), [("1", 2000), ("1.5", 900), ("2", 900)])
def test_losses_by_chance_are_told_where_a_round_trip_takes_long(loss: str, kilobytes: int) -> None:
    """There are few of them, since little is sent."""
    path = {"rate": "10 Mbit/s", "delay": "300 ms", "queue": "150 ms", "loss": f"{loss} %"}
    plain = {"enabled": False}
    size = {"direction": "download", "size": f"{kilobytes} kB"}
    assert "losses_random" in kinds(scenario(size, mptcp=plain, wifi=path))


@pytest.mark.parametrize(
    ("rate", "delay", "packets", "seed"),
    [("29.017", "31.882", 14, 101), ("23.35", "30.143", 12, 104), ("20.76", "31.343", 11, 108)],
)
def test_slow_start_that_a_short_queue_ended_is_found_however_many_packets_it_lost(
    rate: str, delay: str, packets: int, seed: int
) -> None:
    """Until they are repaired, what came after them is in flight as well."""
    path = {"rate": f"{rate} Mbit/s", "delay": f"{delay} ms", "queue": f"{packets} packets"}
    bulk = {"direction": "download", "size": "15 MB"}
    assert (
        "slow_start_loss"
        in found(scenario(bulk, mptcp={"enabled": False}, wifi=path), seed)["found"]
    )


@pytest.mark.parametrize(
    ("wifi", "lte", "response", "think", "seed"),
    [
        (("16.13", "27.9", "97"), ("7.64", "37.0", "83"), "260 kB", "50 ms", 72015),
        (("10.43", "11.3", "52"), ("4.40", "38.2", "52"), "106 kB", "38 ms", 7523),
    ],
)
def test_a_path_that_lost_the_end_of_a_message_in_slow_start_is_not_dead(
    wifi: tuple[str, str, str], lte: tuple[str, str, str], response: str, think: str, seed: int
) -> None:
    """A time-out tells of it, since nothing comes after it."""
    paths: Table = {
        name: {"rate": f"{rate} Mbit/s", "delay": f"{delay} ms", "queue": f"{queue} ms"}
        for name, (rate, delay, queue) in (("wifi", wifi), ("lte", lte))
    }
    asked = ask(response=response, think=think, requests=12)
    assert "path_dead" not in found(scenario(asked, **paths), seed)["found"]
