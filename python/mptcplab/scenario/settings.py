"""What is set on top of a scenario, as ``--set`` does, and which keys that replaces."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from mptcplab.messages import nearest
from mptcplab.scenario import library, policy
from mptcplab.scenario.fault import KeyPath, ScenarioError
from mptcplab.scenario.source import Source

# Texts such as "path.wifi.rate=10 Mbit/s", or values by key.
Settings = Sequence[str] | Mapping[str, Any]

DIRECTIONS = ("uplink", "downlink")
RATES = ("rate", "uplink_rate", "downlink_rate")
WRITTEN_OUT = (*RATES, "delay", "jitter", "loss", "queue")


def set_values(source: Source, settings: Settings, word: str) -> None:
    """Set values: texts as after ``--set``, or a mapping of keys to values as TOML has them.

    Messages begin with ``word``: what the user wrote them after.
    """
    if isinstance(settings, str):
        raise ScenarioError(
            f'{word} is one text: write {{"path.wifi.rate": "10 Mbit/s"}}, or a list of KEY=VALUE'
        )
    if not isinstance(settings, Mapping):
        for setting in settings:
            set_value(source, setting, word)
        return
    for key, value in settings.items():
        by = f"{word}[{key!r}]"
        if not isinstance(key, str) or not is_key(key):
            raise ScenarioError(f"{by}: is not a key such as path.wifi.rate")
        put(source, key, value, by)


def set_value(source: Source, setting: str, word: str = "--set") -> None:
    """Set a value as ``--set`` does: ``path.wifi.rate=10 Mbit/s``, TOML or bare text."""
    key, given, value = setting.partition("=")
    if not given or not is_key(key):
        raise ScenarioError(f"{word} {setting}: is not KEY=VALUE, such as path.wifi.rate=10Mbit/s")
    put(source, key, _value(value.strip()), f"{word} {setting}")


def put(source: Source, key: str, value: Any, by: str, named: str | None = None) -> None:
    """Set a value in the name of ``by``, with which messages about it begin.

    Those about its key begin with ``named``, where that is written elsewhere. It is the last
    word: what it excludes goes, unless that was set too.
    """
    named = named or by
    steps = [step.strip() for step in key.split(".")]
    _write_out_profile(source.data, steps)
    at: Any = source.data
    key_path: KeyPath = ()
    for name, following in pairwise(steps):
        if isinstance(at, dict) and name not in at and following.isdecimal():
            missing = ".".join(map(str, (*key_path, name)))
            raise ScenarioError(f"{named}: there is no {missing}, so it has no entry {following}")
        at, key_path = _enter(at, key_path, name, named)
    step = _step(at, key_path, steps[-1], named)
    at[step] = value
    for replaced in _replaced((*key_path, step), at, source.data):
        if not any(replaced[:length] in source.set_by for length in range(1, len(replaced) + 1)):
            _drop(source.data, replaced)
    source.set_by[(*key_path, step)] = by
    source.named_by[(*key_path, step)] = named


def _enter(at: Any, key_path: KeyPath, part: str, by: str) -> tuple[Any, KeyPath]:
    step = _step(at, key_path, part, by)
    if isinstance(at, dict) and step not in at:
        if len(key_path) == 1 and key_path[0] in ("link", "path"):
            raise ScenarioError(f"{by}: there is no {key_path[0]} {part}; {nearest(part, at)}")
        at[step] = {}
    return at[step], (*key_path, step)


def _drop(data: dict[str, Any], key_path: KeyPath) -> None:
    at: Any = data
    for step in key_path[:-1]:
        at = at.get(step) if isinstance(at, dict) else None
    if isinstance(at, dict):
        at.pop(key_path[-1], None)


def _step(at: Any, key_path: KeyPath, part: str, by: str) -> str | int:
    if isinstance(at, dict):
        return part
    name = ".".join(map(str, key_path))
    if not isinstance(at, list):
        raise ScenarioError(f"{by}: {name} is not a table")
    if not (part.isdecimal() and int(part) < len(at)):
        entries = f"entries 0 to {len(at) - 1}" if len(at) > 1 else "only entry 0"
        raise ScenarioError(f"{by}: {name} has no entry {part}; it has {entries if at else 'none'}")
    return int(part)


def is_key(text: str) -> bool:
    """Say whether a text can be the key of a setting: words with dots between them."""
    return all(part.strip() for part in text.split("."))


def _value(text: str) -> Any:
    try:
        table = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return table["value"] if len(table) == 1 else text


def _replaced(key_path: KeyPath, table: Any, data: dict[str, Any]) -> list[KeyPath]:
    """Give the key paths of what goes when that at ``key_path``, in ``table``, is set."""
    match key_path:
        case ("mptcp", "path_manager" as what):
            return [*_budgets(table[what], data), *_foreign(what, table)]
        case ("mptcp", "congestion_control" | "scheduler" as what):
            return [("kernel", what), *_foreign(what, table)]
        case ("tcp", "congestion_control"):
            return [("kernel", "tcp_congestion_control")]
    return [(*key_path[:-1], key) for key in _beside(key_path, table)]


def _write_out_profile(data: dict[str, Any], steps: Sequence[str]) -> None:
    """Write out the profile of a link if a setting changes its elements."""
    match steps:
        case ["link", name, "uplink" | "downlink" | "draw" | "alternatives", *_]:
            links = data.get("link")
            link = links.get(name) if isinstance(links, dict) else None
            if not isinstance(link, dict) or set(DIRECTIONS) & set(link):
                return
            if link.get("profile") in library.names("links"):
                name = link.pop("profile")
                shipped = library.table("links", name)
                origin = {
                    "kind": "transferred",
                    "from": name,
                    "changed": "some of its elements",
                    "why": "it is set so",
                }
                link |= {"title": shipped["title"], "origin": origin}
                elements = (*DIRECTIONS, "draw", "alternatives")
                link |= {key: shipped[key] for key in elements if key in shipped}


def _budgets(path_manager: Any, data: dict[str, Any]) -> list[KeyPath]:
    """Give the key paths of budgets, which one path manager alone keeps."""
    paths = data.get("path")
    if path_manager == "budget" or not isinstance(paths, dict):
        return []
    return [("path", name, key) for name in paths for key in ("budget", "cost_per_mb")]


def _foreign(what: str, table: dict[str, Any]) -> list[KeyPath]:
    """Give the key paths of what was set of another policy, and cannot be of this one."""
    key = policy.PARAMETERS[what]
    given, known = table.get(key), policy.known(what)
    if not isinstance(given, dict) or str(table[what]) not in known:
        return []
    ours = {parameter["name"] for parameter in known[table[what]]["parameters"]}
    return [("mptcp", key, one) for one in given if one not in ours]


def _beside(key_path: KeyPath, table: Any) -> Sequence[str]:
    match key_path:
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
