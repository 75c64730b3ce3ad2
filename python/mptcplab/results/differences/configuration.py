"""The configurations of runs, key by key, and where two differ."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

from mptcplab.engines import named
from mptcplab.results.differences.contrasts import label
from mptcplab.results.policies import policies

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.results.differences.differences import Side

Value = str | int | float | bool | None
#: By section and key.
Configuration = dict[tuple[str, str], Value]

# Of run.json: what was run, by what, and where.
OF_RUN = ("scenario", "run", "engine", "mptcplab", "platform", "python")
#: What the engine reported of the machine.
OF_MACHINE = ("kernel", "stacks")
FEWEST_AS_RANGE = 3


@dataclass(frozen=True)
class Setting:
    """A key that differs; None where a side does not have it."""

    #: ``scenario`` (keys as for ``--set``), ``used`` (what was in use, wherever set), ``run``
    #: or ``machine`` (as in ``run.json`` and ``campaign.json``).
    section: str
    key: str
    a: Value
    b: Value


def of_side(side: Side, configuration: str, axes: list[str]) -> Configuration | None:
    """Give the configuration of a side, of a campaign one of several; captures have none."""
    if not side.about:
        return None
    found: Configuration = {("run", key): side.about.get(key) for key in OF_RUN}
    found["run", "seed"] = _listed(side.seeds)
    found["run", "build"] = side.about.get("identity", side.about).get("build")
    for axis, values in side.axes.items():
        found["run", f"axis.{axis}"] = ", ".join(map(str, values))
    for part in OF_MACHINE:
        for key, value in _flat(side.about.get(part, {}), part):
            found["machine", key] = value
    scenario = _scenario(side, configuration, axes)
    for key, value in policies(side.about, scenario).items():
        found["used", key] = value
    for key, value in _flat(scenario, ""):
        found["scenario", key] = value
    return found


def differing(a: Configuration, b: Configuration) -> list[Setting]:
    """Give what differs: the scenario first, in its order.

    Of a section that only one side has, nothing is given: the engine says why.
    """
    order = {"scenario": 0, "used": 1, "run": 2, "machine": 3}
    linux = _has_linux(a) or _has_linux(b)
    shared = {section for section, _ in a} & {section for section, _ in b}
    keys = [
        key
        for key in dict.fromkeys([*a, *b])
        if key[0] in shared and (linux or not _is_of_linux(*key))
    ]
    keys.sort(key=lambda key: order[key[0]])
    return [
        Setting(*key, a.get(key), b.get(key))
        for key in keys
        if (key in a) != (key in b) or a.get(key) != b.get(key)
    ]


def _listed(seeds: list[int]) -> str:
    """Give seeds that follow each other as 1 to 50."""
    if len(seeds) >= FEWEST_AS_RANGE and seeds == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


def _has_linux(side: Configuration) -> bool:
    engine = side.get(("run", "engine"))
    return engine is None or named(str(engine)).linux


def _is_of_linux(section: str, key: str) -> bool:
    """Whether endpoints of mptcplab ignore it, or take it from the scenario."""
    return section == "used" or (section == "scenario" and key.startswith("kernel."))


def _scenario(side: Side, configuration: str, axes: list[str]) -> dict[str, Any]:
    if side.campaign is not None:
        for row in side.campaign.plan.iter_rows(named=True):
            if row["path"] is None and label(row, axes) == configuration:
                return tomllib.loads(side.campaign.scenario(row["run"]))
    return {} if side.run is None else side.run.scenario


def _flat(value: Any, key: str) -> Iterator[tuple[str, Value]]:
    """Give every nested value with its key: ``link.wifi.downlink.0.rate``."""
    if isinstance(value, (dict, list)):
        children = value.items() if isinstance(value, dict) else enumerate(value)
        for name, child in children:
            yield from _flat(child, f"{key}.{name}" if key else str(name))
    else:
        yield key, value
