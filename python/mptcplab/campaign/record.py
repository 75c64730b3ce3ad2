"""What is written of a campaign: what it is, and the runs that there are to be."""

from __future__ import annotations

import platform
import sys
import tomllib
from datetime import UTC, datetime

from mptcplab._core import VERSION
from mptcplab.campaign.calendar import HOUR
from mptcplab.results import policies
from mptcplab.results.campaign import ABOUT_SCHEMA
from mptcplab.results.record import build

# What may follow the hosts in a scenario's long form; the last is always there.
AFTER_HOSTS = ("\n[[cross_traffic]]", "\n[[timeline]]", "\n[run]")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import polars as pl

    from mptcplab.campaign.axis import Axis
    from mptcplab.campaign.matrix import Matrix, Planned


def about(matrix: Matrix) -> dict[str, Any]:
    """Describe a campaign that begins now."""
    definition = matrix.definition
    campaign = definition.campaign
    return {
        "schema": ABOUT_SCHEMA,
        "mptcplab": VERSION,
        "build": build(),
        "campaign": definition.name,
        "title": campaign.title,
        "scenario": definition.scenario_name,
        "engine": campaign.engine.name,
        "axes": {axis.name: axis.labels for axis in matrix.axes},
        "keys": {axis.name: _keys(axis, matrix) for axis in matrix.axes},
        "configurations": len(matrix.configurations),
        "repetitions": matrix.repetitions,
        "seeds": matrix.seeds,
        "calendar": _calendar(matrix),
        "seed": campaign.seed,
        "runs": len(matrix.runs),
        "keep": campaign.keep,
        "policies": _policies(matrix),
        # Numbers of the scenarios whose data QUIC carries.
        "quic": [
            one.number
            for one in matrix.configurations
            if one.mptcp.scenario.transfer.protocol == "quic"
        ],
        "command_line": sys.orig_argv,
        "platform": platform.platform(),
        "python": platform.python_version(),
        **campaign.engine.conditions(),
        "started": datetime.now(UTC).isoformat(),
        "ended": None,
    }


def _keys(axis: Axis, matrix: Matrix) -> list[str]:
    """Give the keys of the scenario that an axis sets; the hour of the day is none of them."""
    if matrix.definition.calendars and axis.name == HOUR:
        return [f"hour of the day in {matrix.definition.zone.key}"]
    return sorted({one.key for point in axis.points for one in point.settings})


def _calendar(matrix: Matrix) -> dict[str, Any] | None:
    """Say where its hours are those of clocks, and what its paths may carry."""
    definition = matrix.definition
    if not definition.calendars:
        return None
    budgets = {name: one.model_dump(exclude_none=True) for name, one in definition.budgets.items()}
    return {"time_zone": definition.zone.key, "visits": len(matrix.visits), "budgets": budgets}


def _policies(matrix: Matrix) -> dict[str, Any]:
    """Describe what all configurations of MPTCP go by; what the matrix varies is left out."""
    engine = {"engine": matrix.definition.campaign.engine.name}
    hosts = dict.fromkeys(
        (_hosts(one.text), one.mptcp.scenario.transfer.protocol) for one in matrix.configurations
    )
    found = policies.shared(
        _described(engine, tomllib.loads(text) | {"transfer": {"protocol": protocol}})
        for text, protocol in hosts
    )
    first, *others = (one.mptcp.scenario.converter for one in matrix.configurations)
    if first is None or any(one != first for one in others):
        return found
    return policies.with_converters(found, first.model_dump())


def _described(engine: dict[str, Any], scenario: dict[str, Any]) -> dict[str, Any]:
    return policies.described(engine | {"mptcp": scenario["mptcp"]["enabled"]}, scenario)


def _hosts(text: str) -> str:
    """Cut the hosts out of a long form: links are long, and do not matter here."""
    begin = text.index("\n[client]")
    return text[begin : min(at for end in AFTER_HOSTS if (at := text.find(end, begin)) >= 0)]


def ended(begun: dict[str, Any]) -> dict[str, Any]:
    """Describe it once nothing is left to run."""
    return begun | {"ended": datetime.now(UTC).isoformat()}


def plan(matrix: Matrix) -> pl.DataFrame:
    """Give one row per run."""
    import polars as pl

    utc = pl.Datetime("us", "UTC")
    runs = matrix.runs
    axes = {
        axis.name: pl.Series([run.labels[axis.name] for run in runs], strict=False)
        for axis in matrix.axes
    }
    due = {one.number: one.due for one in matrix.visits}
    visits = {
        "visit": _integers(runs, "visit"),
        "due": pl.Series([due[run.visit] for run in runs if run.visit is not None], dtype=utc),
    }
    return pl.DataFrame(
        {
            "run": [run.task.run for run in runs],
            "configuration": _integers(runs, "configuration"),
            **axes,
            "repetition": _integers(runs, "repetition"),
            "seed": pl.Series([run.task.seed for run in runs], dtype=pl.UInt64),
            "kind": ["mptcp" if run.task.subject.path is None else "tcp" for run in runs],
            "path": pl.Series([run.task.subject.path for run in runs], dtype=pl.String),
            "pair": _integers(runs, "pair"),
            "scenario": _integers(runs, "scenario"),
            **(visits if matrix.definition.calendars else {}),
        }
    )


def _integers(runs: list[Planned], name: str) -> pl.Series:
    import polars as pl

    return pl.Series([getattr(run, name) for run in runs], dtype=pl.UInt32)
