"""Which congestion control and scheduler a run had, whoever chose them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Policies = dict[str, str | None]


def policies(about: Mapping[str, Any], scenario: Mapping[str, Any]) -> Policies:
    """Give them by what ``run.json`` and the scenario in its long form say.

    Plain TCP has no scheduler. Where the ends differ, each is named.
    """
    mptcp = about.get("path") is None and about.get("mptcp", True)
    ours = _named(scenario.get("mptcp" if mptcp else "tcp", {}), "congestion_control", mptcp)
    if about["engine"] == "simulation":
        return ours
    key = "congestion_control" if mptcp else "tcp_congestion_control"
    linux = _named(scenario.get("kernel", {}), key, mptcp)
    if used := _of_sockets(about.get("kernel", {}).get("sockets", {})):
        linux["congestion_control"] = used
    ends = {
        end: ours if scenario.get(end, {}).get("stack") == "mptcplab" else linux
        for end in ("client", "server")
    }
    return {what: _of_ends({end: of[what] for end, of in ends.items()}) for what in ours}


def _named(section: Mapping[str, Any], key: str, mptcp: bool) -> Policies:
    return {
        "congestion_control": section.get(key),
        "scheduler": section.get("scheduler") if mptcp else None,
    }


def _of_sockets(sockets: Mapping[str, Any]) -> str:
    """Name what the kernel said that its subflows had: programs choose for themselves."""
    used = {
        subflow["congestion_control"]
        for end in sockets.values()
        for socket in end
        for subflow in socket["subflows"]
        if subflow["congestion_control"]
    }
    return ", ".join(sorted(used))


def _of_ends(values: Policies) -> str | None:
    if len(set(values.values())) == 1:
        return next(iter(values.values()))
    return ", ".join(f"{value} at the {end}" for end, value in values.items())
