"""A scenario to change, and how it is read."""

from __future__ import annotations

import re

import pytest

from mptcplab import ScenarioError
from mptcplab.scenario.scenario import Scenario, read_scenario
from mptcplab.scenario.settings import set_value
from mptcplab.scenario.source import Source

# Lines count from 1.
TEXT = """\
schema = 1

[transfer]
direction = "download"
size = "1 MB"

[link.home]
uplink = [{ element = "rate", rate = "1 Mbit/s" }]
downlink = [
  { element = "rate", rate = "1 Mbit/s", queue = { queue = "drop-tail", bytes = "10 kB" } },
  { element = "delay", delay = "1 ms" },
]

[path.wifi]
link = "home"

[path.lte]
rate = "2 Mbit/s"
delay = "3 ms"

[[timeline]]
at = "1 s"
path = "wifi"
verb = "blackout"

[[cross_traffic]]
link = "home"

[mptcp]
[tcp]
[server]
[run]
"""
DELAY = '{ element = "delay", delay = "1 ms" }'
SIZE = 'size = "1 MB"'


def read(text: str, *settings: str) -> Scenario:
    source = Source.of_text(text, "mine.toml")
    for setting in settings:
        set_value(source, setting)
    return read_scenario(source)


def refused(text: str, *settings: str) -> str:
    with pytest.raises(ScenarioError) as error:
        read(text, *settings)
    return without_column(error.value)


def without_column(error: ScenarioError) -> str:
    """Give the message with the line alone: one test has columns."""
    assert "\n" not in str(error)
    return re.sub(r"^(mine\.toml:\d+):\d+: ", r"\1: ", str(error))
