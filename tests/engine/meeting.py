"""Transfers between our endpoint at one end and Linux's at the other."""

from __future__ import annotations

from typing import Any

import polars as pl

from engine.machines import Machine, about
from mptcplab.results.run import Run

TWO_PATHS = """\
schema = 1

[transfer]
direction = "download"
size = "2 MB"

[path.wifi]
rate = "20 Mbit/s"
delay = "5 ms"
loss = "0.2 %"
queue = "100 kB"

[path.lte]
rate = "10 Mbit/s"
delay = "15 ms"
loss = "0.2 %"
queue = "100 kB"

[run]
stop = "60 s"
sample = "50 ms"
"""
OURS = ["client", "server"]
DIRECTIONS = ["download", "upload"]


def setting(**values: object) -> list[str]:
    """Settings for the command, of keys whose dots are written as two underscores."""
    return [
        word
        for key, value in values.items()
        for word in ("--set", f"{key.replace('__', '.')}={value}")
    ]


def meet(
    machine: Machine, ours: str, *more: str, scenario: str = TWO_PATHS, **values: object
) -> Run:
    """A run with our endpoint at that end; all arrives, and as it was sent."""
    values = {f"{ours}__stack": "mptcplab", **values}
    (run,) = machine.emulate(scenario, "--no-baselines", *more, *setting(**values)).values()
    assert run.outcome["finished"] is True, run.outcome
    assert run.outcome["corrupt_bytes"] == 0
    record = about(run)
    assert record["stacks"] == {end: "mptcplab" if end == ours else "kernel" for end in OURS}
    return run


def sockets(run: Run, end: str) -> list[dict[str, Any]]:
    """What an end says of its connections."""
    found: list[dict[str, Any]] = about(run)["kernel"]["sockets"][end]
    return found


def delivered(run: Run, direction: str) -> int:
    """Bytes that the application got."""
    got: int = run.outcome["bytes_received"]["down" if direction == "download" else "up"]
    return got


def shares(run: Run, direction: str) -> dict[str, int]:
    """Bytes that each path carried."""
    flows = run.flows.filter(direction="down" if direction == "download" else "up")
    joined = flows.join(run.subflows.select("subflow", "path"), on="subflow")
    return dict(joined.group_by("path").agg(pl.col("bytes").sum()).iter_rows())
