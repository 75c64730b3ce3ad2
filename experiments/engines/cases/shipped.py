"""Scenarios that ship, as somebody would write them who chooses nothing of the endpoints."""

from __future__ import annotations

from typing import Any

from experiments.engines.case import HYSTART, MESSAGE, RESPONSE, THROUGHPUT, Case
from mptcplab.scenario import library
from mptcplab.scenario.long import written

# Shown in `state` and captures of 16 runs of the kernel, 20 of the simulation, and eight more with jitter of 0.5 ms.
ROUND = (
    "HyStart counts an ACK train only if its round begins with the first ACK of the train. Slow start of the second subflow ended at 68 to "
    "199 packets in the kernel, and at 66 in 17 of 20 runs of the simulation. With jitter of 0.25 ms the simulation ends it at 66 to 264, and "
    "has 90.9 and 27.4 ms (see below)"
)
# In captures of the runs with seeds 1 and 2: samples are a server's segments whose ACK says that they came, in each.
SAMPLES = (
    "the number of RTT samples per subflow. LTE packets arrive in groups at one instant. Simulated hosts process the whole group before "
    "they answer; the kernel sends an ACK for every two to six packets. In the runs with seeds 1 and 2, LTE has 47 and 38 % of the samples "
    "in the kernel, and 33 % of both in the simulation. With as few the kernel's means would be 59 and 95 ms; the simulation's are 71 and "
    "90 ms (see below)"
)
CHOICES = ("mptcp", "tcp", "kernel", "client")


def _text(table: dict[str, Any]) -> str:
    """Write a scenario: TOML lets all of it stand in line."""
    return "\n".join(f"{key} = {written(value)}" for key, value in table.items()) + "\n"


def _case(
    name: str, transfer: dict[str, str] | None = None, *, measure: str = THROUGHPUT, cause: str = ""
) -> Case:
    table = library.table("scenarios", name)
    without = {key: value for key, value in table.items() if key not in CHOICES}
    if transfer:
        without["transfer"] = {"direction": table["transfer"]["direction"]} | transfer
    return _of(f"{name}, no settings", without, measure, cause)


def _as_it_ships(name: str, *, measure: str = THROUGHPUT, cause: str = "") -> Case:
    """Give one that is about what it chooses, which Linux has too."""
    return _of(f"{name}, as it ships", library.table("scenarios", name), measure, cause)


def _of(name: str, table: dict[str, Any], measure: str, cause: str) -> Case:
    return Case(
        name,
        "shipped",
        _text(table),
        is_multipath=True,
        is_drawn=True,
        measure=measure,
        first=next(iter(table["path"])),
        cause=cause,
    )


CASES = (
    _case("wifi-lte", {"size": "20 MB"}),
    _case("wifi-lte-upload", {"size": "12 MB"}),
    _case("path-lost", {"duration": "26 s"}),
    _case("lte-to-3g", {"duration": "36 s"}),
    _case("middleboxes", cause=ROUND),
    _case("shared-bottleneck", {"duration": "15 s"}),
    _case("bbr", {"size": "16 MB"}, cause=HYSTART),
    _case("driving", {"duration": "45 s"}, cause=SAMPLES),
    _case("walk", {"duration": "90 s"}),
    _case("voice", measure=MESSAGE),
    _case("video"),
    _case("radio-wakes", measure=RESPONSE),
    _as_it_ships("marks"),
    _as_it_ships("guard"),
    _as_it_ships("signal", measure=MESSAGE),
)
