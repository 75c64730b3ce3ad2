"""What remedies give: a scenario simulated again with each, and with the same seeds."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from statistics import fmean

from mptcplab._core import Error
from mptcplab.engines import named
from mptcplab.engines.engine import Trial
from mptcplab.results import run_metrics
from mptcplab.results.findings.remedies import REMEDIES, Remedy
from mptcplab.scenario.scenario import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from mptcplab import _core
    from mptcplab.engines.engine import Engine
    from mptcplab.results.comparison import Comparison
    from mptcplab.scenario.scenario import Scenario

    Row = dict[str, Any]

# Less is chance.
LONGER_S = 0.1
# No scheduler helps there.
WITHOUT_MPTCP = {"stripped", "never_began", "black_hole"}


def tries(comparison: Comparison, findings: list[Row]) -> list[Row]:
    """Give a row per remedy: time claimed and gained, throughput and RTT with it and before.

    A remedy that several findings name is tried once, for what they claim together.

    Raises:
        Error: The run's engine cannot run it again in memory.
    """
    run = comparison.mptcp
    engine = named(run.about["engine"])
    if not engine.in_memory:
        raise Error(
            f"{run.directory} was {engine.made}: only the findings of a simulation are tried "
            "with its seed; mptcplab why --try with the run's captures tries those of a model"
        )
    trials = Trials(engine, run.scenario, (run.about["seed"],), run.about["direction"])
    return tried(trials, findings)


@dataclass(frozen=True)
class Trials:
    """What remedies are tried in: a scenario, seeds, and the direction of its transfer."""

    engine: Engine
    scenario: Row
    seeds: tuple[int, ...]
    #: As tables have it, ``up`` or ``down``.
    direction: str

    def tables(self, settings: tuple[str, ...] = ()) -> list[_core.Tables]:
        """Simulate it with settings, once with each seed."""
        trials = [Trial(self._with(settings), seed, None) for seed in self.seeds]
        return [self.engine.tables(one, samples=False, progress=None) for one in trials]

    def changed_by(self, settings: tuple[str, ...]) -> bool:
        """Say whether settings are others than it has."""
        return self._with(settings) != self._with(())

    def _with(self, settings: tuple[str, ...]) -> Scenario:
        return load(copy.deepcopy(self.scenario), list(settings))[1]

    def transfer(self, tables: _core.Tables) -> Row:
        """Give the row of the transfer."""
        connections, transfers = (list(tables.rows(name)) for name in ("connections", "transfers"))
        found = run_metrics.transfer(connections, transfers, self.direction)
        if found is None:
            return {"bytes": 0, "throughput_mbps": None, "rtt_ms_mean": None}
        flows = run_metrics.of_transfer(tables.rows("flows"), found)
        return found | {"rtt_ms_mean": run_metrics.metrics_of(found, flows)["rtt_ms_mean"]}

    def transfers(self, settings: tuple[str, ...]) -> list[Row]:
        """Give the transfer with settings, once with each seed."""
        return [self.transfer(tables) for tables in self.tables(settings)]


def tried(trials: Trials, findings: list[Row], before: list[Row] | None = None) -> list[Row]:
    """Try the remedies of findings; ``before`` are the transfers without, if they are known.

    Figures of several seeds are means.
    """
    began = WITHOUT_MPTCP.isdisjoint(row["kind"] for row in findings)
    remedies: dict[Remedy, list[Row]] = {}
    for row in findings:
        remedy = REMEDIES.get(row["kind"])
        if (
            remedy
            and not row.get("beyond_hosts")
            and row["to_s"] - row["from_s"] >= remedy.least_s
            and (began or row["kind"] != "slower_than_single")
            and trials.changed_by(remedy.settings)
        ):
            remedies.setdefault(remedy, []).append(row)
    if not remedies:
        return []
    before = before or trials.transfers(())
    found = []
    for remedy, rows in remedies.items():
        after = trials.transfers(remedy.settings)
        claimed = [row["cost_s"] for row in rows if row["cost_s"] is not None]
        gained_s = mean(map(_gained, before, after))
        found.append(
            {
                "kind": ", ".join(dict.fromkeys(row["kind"] for row in rows)),
                "remedy": remedy.text,
                "settings": list(remedy.settings),
                "limit": _limit(remedy, claimed, gained_s),
                "claimed_s": sum(claimed) if claimed else None,
                "gained_s": gained_s,
                "throughput_mbps": mean(row["throughput_mbps"] for row in after),
                "before_mbps": mean(row["throughput_mbps"] for row in before),
                "rtt_ms_mean": mean(row["rtt_ms_mean"] for row in after),
                "rtt_before_ms": mean(row["rtt_ms_mean"] for row in before),
            }
        )
    return found


def _limit(remedy: Remedy, claimed: list[float], gained_s: float | None) -> str | None:
    """Say why less than half of what was claimed is gained; None where half or more is."""
    if gained_s is not None and gained_s <= -LONGER_S:
        return "the transfer takes longer with it"
    if not claimed or gained_s is None or gained_s >= sum(claimed) / 2:
        return None
    return remedy.limit or "gains less than half of what was claimed"


def mean(figures: Iterable[float | None]) -> float | None:
    """Give the mean; None where a figure is unknown."""
    known = list(figures)
    return None if None in known else fmean(known)  # type: ignore[arg-type]


def _gained(before: Row, after: Row) -> float | None:
    """Give the time that the same bytes took less; None where either moved none."""
    if not before["throughput_mbps"] or not after["throughput_mbps"]:
        return None
    # A transfer of a given time moves more bytes in it: what it moved before would have taken less.
    megabits = before["bytes"] * 8e-6
    return float(megabits / before["throughput_mbps"] - megabits / after["throughput_mbps"])
