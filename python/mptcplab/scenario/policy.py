"""Congestion controls, schedulers and path managers, and what a scenario sets of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from mptcplab import _core
from mptcplab.messages import nearest, quoted
from mptcplab.scenario import described
from mptcplab.scenario.described import Description
from mptcplab.scenario.fault import KeyPath
from mptcplab.scenario.source import Source

# By the key that names the policy, the one that holds what is set of it.
PARAMETERS = {
    "congestion_control": "congestion_parameters",
    "scheduler": "scheduler_parameters",
    "path_manager": "path_manager_parameters",
}
# Congestion controls as papers call them.
PAPERS = {"coupled": "lia"}


@cache
def known(what: str) -> dict[str, Description]:
    """Give the descriptions of all policies of a kind by name."""
    return {policy["name"]: policy for policy in _core.policies()[what]}


def check(what: str, name: str, key_path: KeyPath, source: Source) -> None:
    """Refuse a policy that there is not."""
    if name not in known(what):
        raise source.fault(
            key_path, f"there is no {_title(what)} {quoted(name)}; {hint(what, name)}"
        )


def hint(what: str, name: str) -> str:
    """Name the policy that was probably meant by what there is not, or else all."""
    if what == "congestion_control" and name in PAPERS:
        return f"did you mean {PAPERS[name]}? (the papers' {name})"
    return nearest(name, known(what))


def read(
    what: str, name: str, table: Mapping[str, Any], key_path: KeyPath, source: Source
) -> dict[str, Any]:
    """Read the settings of a policy; those that are not set get their defaults."""
    return described.read(table, known(what)[name], _title(what), key_path, source)


def over_one_path(congestion_control: str) -> str:
    """Name what a congestion control is where there is one path: coupled ones are Reno."""
    description = known("congestion_control").get(congestion_control, {})
    return "reno" if description.get("is_reno_alone") else congestion_control


def show(what: str, name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Write what is set of a policy as :func:`read` reads it."""
    kinds = described.kinds(known(what)[name])
    return {key: described.KINDS[kinds[key]].show(value) for key, value in parameters.items()}


def _title(what: str) -> str:
    return what.replace("_", " ")
