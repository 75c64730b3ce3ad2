"""The long form: a scenario as TOML with nothing left out, which reads back as the same."""

from __future__ import annotations

import json
import re
from typing import Any

from mptcplab.scenario import element, endpoint
from mptcplab.scenario.resolved import SCHEMA, Scenario
from mptcplab.scenario.section import Section, show

BARE = re.compile(r"[A-Za-z0-9_-]+")
DIRECTIONS = ("uplink", "downlink")
ALTERNATIVES = "alternatives"
# Lists whose elements stand on lines of their own.
APART = (*DIRECTIONS, ALTERNATIVES)


def write(scenario: Scenario) -> str:
    """Write the long form."""
    lines = [f"schema = {SCHEMA}"]
    if scenario.title is not None:
        lines.append(f"title = {_text(scenario.title)}")
    lines += _table("[transfer]", _shown(scenario.transfer))
    for name, link in scenario.links.items():
        lines += _table(f"[link.{name}]", _shown(link))
    for name, path in scenario.paths.items():
        lines += _table(f"[path.{name}]", _shown(path))
    for key in ("client", "server", "mptcp", "tcp", "kernel"):
        lines += _table(f"[{key}]", _shown(getattr(scenario, key)))
    for key in ("field", "converter"):
        if (section := getattr(scenario, key)) is not None:
            lines += _table(f"[{key}]", _shown(section))
    for key in ("cross_traffic", "timeline"):
        for one in getattr(scenario, key):
            lines += _table(f"[[{key}]]", _shown(one))
    lines += _table("[run]", _shown(scenario.run))
    return "\n".join(lines) + "\n"


def _shown(section: Section) -> dict[str, Any]:
    shown = endpoint.show_mptcp(section) if isinstance(section, endpoint.Mptcp) else show(section)
    if others := shown.get(ALTERNATIVES):
        shown[ALTERNATIVES] = [_elements(one) for one in others]
    return _elements(shown)


def _elements(table: dict[str, Any]) -> dict[str, Any]:
    """Give a table with its elements as they are written."""
    return table | {
        direction: [element.show(one) for one in table[direction]]
        for direction in DIRECTIONS
        if direction in table
    }


def _table(head: str, values: dict[str, Any]) -> list[str]:
    return [
        "",
        head,
        *(f"{key} = {written(value, key in APART)}" for key, value in values.items()),
    ]


def written(value: Any, apart: bool = False) -> str:
    """Write a value; a list's elements on lines of their own if they are to stand apart."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        pairs = (f"{_key(key)} = {written(one)}" for key, one in value.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, list):
        if apart and value:
            return "".join(["[\n", *(f"  {written(one)},\n" for one in value), "]"])
        return f"[{', '.join(map(written, value))}]"
    return repr(value)


def _key(key: str) -> str:
    return key if BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    # What JSON escapes, TOML escapes alike; but for DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
