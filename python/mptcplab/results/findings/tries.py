"""What remedies give: the run's scenario simulated again with each, and with the same seed."""

from __future__ import annotations

from mptcplab._core import Error
from mptcplab.engines import named
from mptcplab.engines.engine import Trial
from mptcplab.results import run_metrics
from mptcplab.results.findings.remedies import REMEDIES, Remedy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.engines.engine import Engine
    from mptcplab.results.comparison import Comparison
    from mptcplab.results.run import Run

    Row = dict[str, Any]


def tries(comparison: Comparison, findings: list[Row]) -> list[Row]:
    """Give a row per remedy: time claimed and gained, throughput with it and before.

    A remedy that several findings name is tried once, for what they claim together.

    Raises:
        Error: The run's engine cannot run it again in memory.
    """
    run = comparison.mptcp
    engine = named(run.about["engine"])
    if not engine.in_memory:
        raise Error(
            f"{run.directory} was {engine.made}: only the findings of a simulation are tried"
        )
    remedies: dict[Remedy, list[Row]] = {}
    for row in findings:
        if remedy := REMEDIES.get(row["kind"]):
            remedies.setdefault(remedy, []).append(row)
    if not remedies:
        return []
    before = _transfer(engine, run, ())
    tried = []
    for remedy, rows in remedies.items():
        after = _transfer(engine, run, remedy.settings)
        claimed = [row["cost_s"] for row in rows if row["cost_s"] is not None]
        tried.append(
            {
                "kind": ", ".join(dict.fromkeys(row["kind"] for row in rows)),
                "remedy": remedy.words,
                "settings": list(remedy.settings),
                "limit": remedy.limit or None,
                "claimed_s": sum(claimed) if claimed else None,
                "gained_s": _gained(before, after),
                "throughput_mbps": after["throughput_mbps"],
                "before_mbps": before["throughput_mbps"],
            }
        )
    return tried


def _gained(before: Row, after: Row) -> float | None:
    """Give the time that the same bytes took less; None where either moved none."""
    if not before["throughput_mbps"] or not after["throughput_mbps"]:
        return None
    # A transfer of a given time moves more bytes in it: what it moved before would have taken less.
    megabits = before["bytes"] * 8e-6
    return float(megabits / before["throughput_mbps"] - megabits / after["throughput_mbps"])


def _transfer(engine: Engine, run: Run, settings: tuple[str, ...]) -> Row:
    import copy

    from mptcplab.scenario.scenario import load

    _, changed = load(copy.deepcopy(run.scenario), list(settings))
    trial = Trial(changed, run.about["seed"], None)
    tables = engine.tables(trial, samples=False, progress=None)
    connections, transfers = (list(tables.rows(name)) for name in ("connections", "transfers"))
    found = run_metrics.transfer(connections, transfers, run.about["direction"])
    return found or {"bytes": 0, "throughput_mbps": None}
