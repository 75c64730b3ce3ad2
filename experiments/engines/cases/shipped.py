"""Scenarios that ship, as somebody would write them who chooses nothing of the endpoints."""

from __future__ import annotations

from typing import Any

from experiments.engines.case import HYSTART, Case
from mptcplab.scenario import library
from mptcplab.scenario.long import written

CHOICES = ("mptcp", "tcp", "kernel", "client")


def _text(table: dict[str, Any]) -> str:
    """Write a scenario: TOML lets all of it stand in line."""
    return "\n".join(f"{key} = {written(value)}" for key, value in table.items()) + "\n"


def _case(
    name: str, transfer: dict[str, str] | None = None, *, several: bool = True, cause: str = ""
) -> Case:
    table = {
        key: value for key, value in library.table("scenarios", name).items() if key not in CHOICES
    }
    if transfer:
        table["transfer"] = {"direction": table["transfer"]["direction"]} | transfer
    return Case(
        f"{name}, no settings",
        "shipped",
        _text(table),
        is_multipath=several,
        is_drawn=True,
        first=next(iter(table["path"])),
        cause=cause,
    )


CASES = (
    _case("wifi-lte", {"size": "20 MB"}),
    _case("wifi-lte-upload", {"size": "12 MB"}),
    _case("path-lost", {"duration": "26 s"}),
    _case("lte-to-3g", {"duration": "36 s"}),
    _case("middleboxes", cause=HYSTART),
    _case("shared-bottleneck", {"duration": "15 s"}),
    _case("bbr", {"size": "16 MB"}, cause=HYSTART),
    _case("driving", {"duration": "45 s"}),
    _case("walk", {"duration": "90 s"}),
)
