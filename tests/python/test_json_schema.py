"""The JSON schema of scenarios takes those that ship, and refuses what reading refuses."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

import mptcplab
from mptcplab.cli.main import run as command
from mptcplab.scenario import library, long
from mptcplab.scenario.scenario import load

VALIDATOR = jsonschema.Draft7Validator(mptcplab.scenario_schema())
SCENARIO = """
schema = 1
[transfer]
direction = "download"
size = "1 MB"
[link.home]
radio = { technology = "lte", signal = "-95 dBm" }
[path.wifi]
rate = "5 Mbit/s"
delay = "5 ms"
queue = { queue = "codel" }
middleboxes = [{ element = "firewall", idle = "5 min" }]
[path.lte]
link = "home"
[mptcp]
era = 2012
scheduler = "redundant"
[[timeline]]
at = "1 s"
path = "wifi"
verb = "profile"
uplink = [{ element = "rate", rate = "1 Mbit/s" }]
downlink = [{ element = "trace", trace = [1, 2] }]
[[cross_traffic]]
link = "home"
[run]
stop = "1 min"
sample = 0
"""


def test_it_is_a_schema() -> None:
    jsonschema.Draft7Validator.check_schema(mptcplab.scenario_schema())


@pytest.mark.parametrize("name", library.names("scenarios"))
def test_it_takes_what_ships_in_short_and_in_long(name: str) -> None:
    VALIDATOR.validate(library.table("scenarios", name))
    _, scenario = load(name)
    VALIDATOR.validate(tomllib.loads(long.write(scenario)))


@pytest.mark.parametrize("name", library.names("links"))
def test_it_takes_links_that_ship(name: str) -> None:
    link = library.table("links", name)
    VALIDATOR.validate(tomllib.loads(SCENARIO) | {"link": {"home": link}})


def change(*key_path: str | int, to: Any) -> Callable[[dict[str, Any]], None]:
    def changed(scenario: Any) -> None:
        *above, last = key_path
        for step in above:
            scenario = scenario[step]
        scenario[last] = to

    return changed


def test_it_takes_what_reading_takes() -> None:
    scenario = tomllib.loads(SCENARIO)
    load(scenario)
    VALIDATOR.validate(scenario)


@pytest.mark.parametrize(
    "changed",
    [
        change("shema", to=1),
        change("schema", to=2),
        change("path", to={}),
        change("path", "Wifi", to={"rate": "1 Mbit/s", "delay": "1 ms"}),
        change("transfer", "sise", to="1 MB"),
        change("transfer", "size", to="1 Mbit"),
        change("transfer", "direction", to="down"),
        change("path", "wifi", "dealy", to="1 ms"),
        change("path", "wifi", "delay", to="1 m"),
        change("path", "wifi", "loss", to=0.05),
        change("path", "wifi", "queue", to={"queue": "codl"}),
        change("path", "wifi", "middleboxes", 0, to={"element": "firewal"}),
        change("path", "wifi", "middleboxes", 0, "idel", to="1 s"),
        change("link", "home", "radio", "technology", to=4),
        change("mptcp", "scheduler", to="redundnt"),
        change("mptcp", "enabled", to="yes"),
        change("timeline", 0, "verb", to="blackuot"),
        change("timeline", 0, "takes", to="1 s"),
        change("cross_traffic", 0, "kind", to="upd"),
        change("run", "sample", to=5),
    ],
)
def test_it_refuses_what_reading_refuses(changed: Callable[[dict[str, Any]], None]) -> None:
    scenario = tomllib.loads(SCENARIO)
    changed(scenario)
    with pytest.raises(mptcplab.ScenarioError):
        load(scenario)
    assert not VALIDATOR.is_valid(scenario)


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["scenarios", "--json-schema"]) == 0
    assert json.loads(capsys.readouterr().out) == mptcplab.scenario_schema()
    with pytest.raises(mptcplab.Error, match="leave out NAME"):
        command(["scenarios", "wifi-lte", "--json-schema"])
