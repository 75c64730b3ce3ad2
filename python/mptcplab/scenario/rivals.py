"""Keys that exclude each other: which of them a setting replaces."""

from __future__ import annotations

from mptcplab.scenario import library, policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from mptcplab.scenario.fault import Place

DIRECTIONS = ("uplink", "downlink")
RATES = ("rate", "uplink_rate", "downlink_rate")
WRITTEN_OUT = (*RATES, "delay", "jitter", "loss", "queue")


def replaced(place: Place, table: Any, data: dict[str, Any]) -> list[Place]:
    """Give the places of what goes when that at ``place``, which is in ``table``, is set."""
    match place:
        case ("mptcp", "path_manager" as what):
            return [*_budgets(table[what], data), *_foreign(what, table)]
        case ("mptcp", "congestion_control" | "scheduler" as what):
            return [("kernel", what), *_foreign(what, table)]
        case ("tcp", "congestion_control"):
            return [("kernel", "tcp_congestion_control")]
    return [(*place[:-1], key) for key in _beside(place, table)]


def write_out_profile(data: dict[str, Any], words: Sequence[str]) -> None:
    """Write out the profile of a link into whose elements a setting goes."""
    match words:
        case ["link", name, "uplink" | "downlink" | "draw", *_]:
            links = data.get("link")
            link = links.get(name) if isinstance(links, dict) else None
            if not isinstance(link, dict) or set(DIRECTIONS) & set(link):
                return
            if link.get("profile") in library.names("links"):
                name = link.pop("profile")
                there = library.table("links", name)
                origin = {
                    "kind": "transferred",
                    "from": name,
                    "changed": "some of its elements",
                    "why": "it is set so",
                }
                link |= {"title": there["title"], "origin": origin}
                link |= {key: there[key] for key in (*DIRECTIONS, "draw") if key in there}


def _budgets(path_manager: Any, data: dict[str, Any]) -> list[Place]:
    """Give the places of budgets, which one path manager alone keeps."""
    paths = data.get("path")
    if path_manager == "budget" or not isinstance(paths, dict):
        return []
    return [("path", name, key) for name in paths for key in ("budget", "cost_per_mb")]


def _foreign(what: str, table: dict[str, Any]) -> list[Place]:
    """Give the places of what was set of another policy, and cannot be of this one."""
    key = policy.PARAMETERS[what]
    given, known = table.get(key), policy.known(what)
    if not isinstance(given, dict) or str(table[what]) not in known:
        return []
    ours = {parameter["name"] for parameter in known[table[what]]["parameters"]}
    return [("mptcp", key, one) for one in given if one not in ours]


def _beside(place: Place, table: Any) -> Sequence[str]:
    match place:
        case ("path", _, "rate"):
            return RATES[1:]
        case ("path", _, "uplink_rate" | "downlink_rate") if set(RATES[1:]) <= set(table):
            return RATES[:1]
        case ("path", _, "link"):
            return ("profile", *WRITTEN_OUT)
        case ("path", _, "profile"):
            return ("link", *WRITTEN_OUT)
        case ("link", _, "profile"):
            return DIRECTIONS
        case ("link", _, "radio", "signal"):
            return ("route",)
        case ("transfer", "size"):
            return ("duration",)
        case ("transfer", "duration"):
            return ("size",)
    return ()
