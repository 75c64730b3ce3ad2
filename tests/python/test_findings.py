"""Findings: provoked ones are found, and nothing is found where nothing is wrong.

The whole matrix is that of ``experiments/findings``; this is a sample of it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from experiments.findings.run import found
from experiments.findings.scenarios import provoked, silent

EXAMPLES = Path(__file__).parents[2] / "examples"
# The last scenario of each kind.
PROVOKED = dict(provoked())


@pytest.mark.parametrize("kind", sorted(PROVOKED))
def test_what_is_provoked_is_found(kind: str) -> None:
    """One scenario of each kind."""
    assert kind in found(PROVOKED[kind], 1)["found"]


@pytest.mark.parametrize("number", range(0, 24, 6))
def test_nothing_is_found_where_nothing_is_wrong(number: int) -> None:
    """Some of the clean scenarios."""
    _, table = list(silent())[number]
    assert found(table, 1)["found"] == {}


def test_costs_do_not_add_up_to_more_than_the_transfer_took() -> None:
    """Each lost time is claimed once."""
    result = found(PROVOKED["path_dead"], 1)
    assert sum(cost or 0 for cost in result["found"].values()) < result["elapsed_s"]


def test_filters_show_the_packets(mptcplab: Any) -> None:
    """The display filter is one, and shows packets within the span."""
    capture = EXAMPLES / "outage" / "server.pcapng.gz"
    rows = json.loads(mptcplab("analyze", "--why", "--json", str(capture)).stdout)["findings"]
    assert rows
    if not shutil.which("tshark"):
        pytest.skip("tshark is not installed")
    shown = subprocess.run(
        ["tshark", "-r", str(capture), "-Y", rows[0]["filter"], "-T", "fields", "-e", "tcp.port"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    ports = re.findall(r"tcp.port == (\d+)", rows[0]["filter"])
    assert shown
    assert all(port in ports for port in shown[0].split(","))
