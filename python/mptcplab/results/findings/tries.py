"""What remedies give: a scenario simulated again with each, and with the same seeds."""

from __future__ import annotations

import copy
import tomllib
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from mptcplab._core import Error
from mptcplab.engines import named
from mptcplab.engines.engine import Trial
from mptcplab.labels import quality, text
from mptcplab.results import run_metrics
from mptcplab.results.findings.remedies import FindingPaths, is_in_force, lacking, paths_of, triable
from mptcplab.scenario.fault import ScenarioError
from mptcplab.scenario.long import write
from mptcplab.scenario.scenario import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from mptcplab import _core
    from mptcplab.engines.engine import Engine
    from mptcplab.results.comparison import Comparison
    from mptcplab.results.findings.remedies import Remedy
    from mptcplab.scenario.scenario import Scenario

    Row = dict[str, Any]

GOES_ON = "the transfer goes on with it, and stopped without"
# Sections of a scenario that name policies.
POLICIES = ("mptcp", "tcp")
# How an application is served that has to be in time, with a remedy and before.
SERVED = {"late_share": "late_share_before", "mos": "mos_before", "stall_s": "stall_before_s"}
# What judges that, and of how many messages.
JUDGED = (*SERVED, "video_mbps_mean", "video_segments")
COUNTED = ("messages", "responses")
# Less is chance.
LONGER_S = 0.1
# No scheduler helps there, nor a backup.
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
    return tried(trials, findings, where=lambda row: paths_of(comparison, row))


@dataclass(frozen=True)
class Trials:
    """What remedies are tried in: a scenario, seeds, and the direction of its transfer."""

    engine: Engine
    scenario: Row
    seeds: tuple[int, ...]
    #: As tables have it, ``up`` or ``down``.
    direction: str

    def tables(self, settings: tuple[str, ...] = ()) -> list[_core.Tables]:
        """Simulate it with settings, once with each seed. What it has more of stays as it is."""
        changed = self.with_settings(self.new(settings))
        trials = [Trial(changed, seed, None) for seed in self.seeds]
        return [self.engine.tables(one, samples=False, progress=None) for one in trials]

    def new(self, settings: tuple[str, ...]) -> tuple[str, ...]:
        """Give those of the settings that it has neither so, nor more of."""
        return lacking(self._long, settings)

    @cached_property
    def _long(self) -> Row:
        return tomllib.loads(write(load(copy.deepcopy(self.scenario))[1]))

    @cached_property
    def _given(self) -> Row:
        """The scenario without what it has by default: some of that comes with a policy."""
        long, given = self._long, copy.deepcopy(self.scenario)
        for section in POLICIES:
            for key in list(given.get(section, {})):
                value = given[section].pop(key)
                try:
                    changes = tomllib.loads(write(load(copy.deepcopy(given))[1])) != long
                except ScenarioError:
                    changes = True
                if changes:
                    given[section][key] = value
        return given

    def has(self, remedy: Remedy) -> bool:
        """Say whether a remedy is in force in it, or can change nothing."""
        several = len(self._long["path"]) > 1
        return is_in_force(remedy, self._long) or (remedy.is_shared and not several)

    def with_settings(self, settings: tuple[str, ...]) -> Scenario:
        """Give the scenario with settings, and with what comes with the policies they name."""
        return load(copy.deepcopy(self._given), list(settings))[1]

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


def tried(
    trials: Trials,
    findings: list[Row],
    before: list[Row] | None = None,
    where: Callable[[Row], FindingPaths] = lambda _: FindingPaths(),
) -> list[Row]:
    """Try what findings recommend; ``before`` are the transfers without, if they are known.

    ``where`` gives the paths that a finding is about. Figures of several seeds are means.
    """
    remedies = recommending(trials, findings, where)
    if not remedies:
        return []
    before = before or trials.transfers(())
    found = []
    for settings, own in remedies.items():
        rows = [row for _, row in own]
        # What a remedy leaves out is said of the cost that it is for.
        remedy = next((one for one, row in own if row["cost_s"] is not None), own[0][0])
        after = trials.transfers(settings)
        claimed = [row["cost_s"] for row in rows if row["cost_s"] is not None]
        gained_s = mean(map(gained, before, after))
        stopped = any(map(_stopped, before, after))
        found.append(
            {
                "kind": ", ".join(dict.fromkeys(row["kind"] for row in rows)),
                "remedy": remedy.name,
                "settings": list(trials.new(settings)),
                "limit": GOES_ON
                if stopped
                else _worse(before, after) or _limit(remedy, claimed, gained_s),
                "claimed_s": sum(claimed) if claimed else None,
                "gained_s": gained_s,
                "gained_is_minimum": False,
                "throughput_mbps": mean(row["throughput_mbps"] for row in after),
                "before_mbps": mean(row["throughput_mbps"] for row in before),
                "rtt_ms_mean": mean(row["rtt_ms_mean"] for row in after),
                "rtt_before_ms": mean(row["rtt_ms_mean"] for row in before),
                **{column: mean(row.get(column) for row in after) for column in SERVED},
                **{old: mean(row.get(column) for row in before) for column, old in SERVED.items()},
            }
        )
    return found


def recommending(
    trials: Trials, findings: list[Row], where: Callable[[Row], FindingPaths]
) -> dict[tuple[str, ...], list[tuple[Remedy, Row]]]:
    """Give what can be tried: by settings the remedies that they are, each with its finding."""
    began = WITHOUT_MPTCP.isdisjoint(row["kind"] for row in findings)
    remedies: dict[tuple[str, ...], list[tuple[Remedy, Row]]] = {}
    for row in findings:
        if row.get("beyond_hosts") or not (began or row["kind"] != "slower_than_single"):
            continue
        for one in triable(row):
            remedy = one.of(where(row))
            if remedy is not None and not trials.has(remedy):
                settings = (*remedy.settings, *remedy.beside)
                remedies.setdefault(settings, []).append((remedy, row))
    return remedies


def _worse(before: list[Row], after: list[Row]) -> str | None:
    """Say how much worse an application is served that has to be in time; None where it is not."""
    old, new = map(_together, (before, after))
    worths = [quality.worth(row) for row in (old, new)]
    if None in worths or not quality.seems_better(old, new):
        return None
    chance = ", which may be chance" if quality.may_be_chance(old, new) else ""
    return f"makes it worse: {_measured(new)} with it, {_measured(old)} without{chance}"


def _measured(transfer: Row) -> str:
    """Say how an application was served; of several seeds stalls have no number."""
    if transfer["late_share"] is not None:
        return quality.measure(transfer)
    rate = text.rate(transfer["video_mbps_mean"] or 0.0)
    return f"stalled for {text.seconds(transfer['stall_s'])} at {rate}"


def _together(rows: list[Row]) -> Row:
    """Give how an application was served with all seeds: means, of all messages together."""
    means: Row = {column: mean(row.get(column) for row in rows) for column in JUDGED}
    return means | {column: sum(row.get(column) or 0 for row in rows) for column in COUNTED}


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


def gained(before: Row, after: Row) -> float | None:
    """Give the time that the same bytes took less; None where either moved none.

    Of a video it is the time for which it stalled less.
    """
    if before.get("stall_s") is not None and after.get("stall_s") is not None:
        return float(before["stall_s"] - after["stall_s"])
    if not before["throughput_mbps"] or not after["throughput_mbps"] or _stopped(before, after):
        return None
    # A transfer of a given time moves more bytes in it: what it moved before would have taken less.
    megabits = before["bytes"] * 8e-6
    return float(megabits / before["throughput_mbps"] - megabits / after["throughput_mbps"])


def _stopped(before: Row, after: Row) -> bool:
    """Whether more came later: who stopped took no time for what never came."""
    rates = [row["throughput_mbps"] or 0.0 for row in (before, after)]
    return bool(after["bytes"] > before["bytes"] and rates[1] < rates[0])
