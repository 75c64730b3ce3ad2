"""The experiments of the papers, a file each, in the order in which they are told."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from mptcplab.engines import DEFAULT
from mptcplab.scenario.fault import ScenarioError, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mptcplab.engines.engine import Engine
    from mptcplab.study.experiment import Experiment

MODULES = (
    "single_downloads",
    "single_uploads",
    "eight_subflows",
    "eight_settings",
    "uplink_four_subflows",
    "receive_window",
    "ssthresh_cache",
    "verizon_switch",
    "att_switch",
    "sprint_switch",
    "three_to_four",
    "campus_drive",
    "boston_drive",
    "upload_wifi",
    "upload_switch",
    "large_downloads",
    "small_downloads",
    "infinite_backlog",
    "simultaneous_syn",
    "latency",
    "cell_edge",
    "prague",
    "coupled_algorithms",
    "split_connections",
    "idle_timeouts",
)


@cache
def experiments() -> dict[str, Experiment]:
    """Give all experiments by their names."""
    found = [import_module(f"{__name__}.{module}").EXPERIMENT for module in MODULES]
    return {one.name: one for one in found}


def chosen(names: Sequence[str], engine: Engine = DEFAULT) -> list[Experiment]:
    """Give the experiments of these names, in their order; ``all`` is all that the engine runs."""
    there = experiments()
    for name in names:
        if name != "all" and name not in there:
            raise ScenarioError(f"there is no experiment {name}; {nearest(name, [*there, 'all'])}")
    every = "all" in names
    return [
        one
        for name, one in there.items()
        if name in names or (every and (one.on_linux or not engine.linux))
    ]
