"""What findings say of a path that others share: nothing, if they do so from beginning to end."""

from __future__ import annotations

from typing import Any

import pytest

from experiments.findings.run import found
from experiments.findings.scenarios import scenario

Table = dict[str, Any]
Path = tuple[str, str, str]


def path(rate: str, delay: str, queue: str) -> Table:
    """Make a path."""
    return {"rate": f"{rate} Mbit/s", "delay": f"{delay} ms", "queue": f"{queue} ms"}


@pytest.mark.parametrize(
    ("kind", "wifi", "lte", "size", "flows", "seed"),
    [
        ("path_slowed", ("32.91", "14.9", "70"), ("15.47", "23.0", "52"), 60477637, 2, 61306),
        ("path_slowed", ("17.74", "6.1", "77"), ("9.90", "18.9", "51"), 34552545, 4, 61414),
        ("path_slowed", ("8.88", "16.4", "61"), ("9.40", "39.7", "90"), 22844604, 3, 61486),
        ("path_slowed", ("33.91", "17.2", "58"), ("20.62", "38.9", "60"), 68169150, 1, 61540),
        ("losses_queue", ("5.82", "6.6", "89"), ("5.20", "19.7", "56"), 13769380, 4, 61459),
        ("losses_queue", ("6.18", "9.0", "55"), ("2.60", "15.8", "82"), 10971896, 2, 61342),
        ("losses_random", ("38.18", "21.3", "107"), ("39.25", "18.4", "90"), 96788834, 4, 61162),
        ("losses_random", ("8.26", "19.0", "76"), ("4.17", "19.2", "98"), 15546650, 1, 61252),
    ],
)
def test_a_path_that_others_share_throughout_is_well(
    kind: str, wifi: Path, lte: Path, size: int, flows: int, seed: int
) -> None:
    """They take now more of it and now less, and a queue that they fill as well loses for all."""
    others = {"kind": "tcp", "flows": flows, "link": "wifi", "start": "0 s", "stop": "120 s"}
    bulk = {"direction": "download", "size": f"{size} B"}
    one = scenario(bulk, wifi=path(*wifi), lte=path(*lte)) | {"cross_traffic": [others]}
    assert kind not in found(one, seed)["found"]


@pytest.mark.parametrize(
    ("mbps", "seconds", "jitter", "several", "seed"),
    [(1, 30, 4, False, 2), (6, 6, 4, False, 2), (1, 30, 0, True, 1), (1, 30, 0, True, 2)],
)
def test_a_path_of_which_others_take_most_for_a_while_is_slowed(
    mbps: int, seconds: int, jitter: int, several: bool, seed: int
) -> None:
    """Few packets, jitter and losses make its rates vary, but not as a neighbour's do."""
    wifi = path(str(mbps), "15", "80") | ({"jitter": f"{jitter} ms"} if jitter else {})
    lte = path(f"{mbps * 0.6:.3f}", "30", "100")
    paths: Table = {"wifi": wifi, "lte": lte} if several else {"wifi": wifi}
    total = mbps * (1.6 if several else 1)
    bulk = {"direction": "download", "size": f"{int(seconds * total * 0.85 * 125_000)} B"}
    others = {
        "kind": "udp",
        "link": "wifi",
        "rate": f"{mbps * 0.7:.3f} Mbit/s",
        "start": f"{seconds * 0.4:.3f} s",
        "stop": f"{seconds * 0.6:.3f} s",
        "direction": "download",
    }
    mptcp = {} if several else {"enabled": False, "congestion_control": "cubic"}
    one = scenario(bulk, mptcp=mptcp, **paths) | {"cross_traffic": [others]}
    assert "path_slowed" in found(one, seed)["found"]


def test_a_window_that_is_full_for_a_few_round_trips_is_no_finding() -> None:
    """A transfer that is over so soon does not show what it would have become."""
    brief = {"direction": "download", "size": "282 kB"}
    one = scenario(brief, wifi=path("12.55", "22.9", "62"), lte=path("13.20", "23.7", "66"))
    assert "receive_window" not in found(one, 1)["found"]


@pytest.mark.parametrize(("rate", "delay", "kilobytes"), [("100", "150", 300), ("20", "40", 300)])
def test_a_small_window_is_found_that_fills_once_in_a_round_trip(
    rate: str, delay: str, kilobytes: int
) -> None:
    """Over a far path what it holds leaves at once, and then nothing until answers come."""
    size = {"direction": "download", "size": f"{kilobytes} kB"}
    small = {"receive_buffer": "32 kB", "receive_buffer_tuning": False}
    plain = {"enabled": False}
    one = scenario(size, wifi=path(rate, delay, "100"), mptcp=plain, tcp=small)
    assert "receive_window" in found(one, 1)["found"]
