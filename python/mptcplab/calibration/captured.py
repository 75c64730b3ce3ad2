"""Why a captured transfer was slow, and what remedies give in a model of it."""

from __future__ import annotations

from os import PathLike

from mptcplab._core import Error
from mptcplab.analysis import measure
from mptcplab.calibration.modelled import BIN_S, largest, never_filled, scenario_of, widest
from mptcplab.engines import DEFAULT, named
from mptcplab.results.findings.remedies import FindingPaths
from mptcplab.results.findings.tries import LONGER_S, Trials, mean, tried
from mptcplab.results.why import Why

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from mptcplab._core import Tables
    from mptcplab.results.comparison import Comparison
    from mptcplab.results.run import Run

    Row = dict[str, Any]

#: A model whose transfer takes longer or shorter than the captured one by more than this part says
#: nothing of remedies.
BAND = 0.2
# What helps against these lets their path carry more; other remedies mostly the widest one.
LOSSES = {"losses_random", "losses_bursts", "losses_unclear"}
SEEDS = (1, 2, 3, 4, 5)


def why(
    captures: str | PathLike[str] | Iterable[str | PathLike[str]], *, tries: bool = False
) -> Why:
    """Explain captures of one network, given together as one.

    Remedies are tried for the largest transfer, in a simulation of the same bytes over links read
    off the captures. That is concluded from only where the model without remedies takes as long as
    the transfer did, within ``BAND``, and of findings that it shows, too.

    Raises:
        Error: A capture cannot be read, or there is nothing to make links of.
    """
    files = [captures] if isinstance(captures, str | PathLike) else list(captures)
    if not tries:
        tables = measure(files, samples=False)
        return Why(tables, list(tables.rows("findings")), None)
    tables = measure(files, bin_seconds=BIN_S)
    rows = list(tables.rows("findings"))
    try:
        return Why(tables, rows, *_tried(tables, rows))
    except Error as error:
        raise Error(f"{', '.join(map(str, files))}: {error}") from None


def of_run(source: str | PathLike[str] | Run | Comparison) -> Why:
    """Explain a run and try its remedies: with its seed, or in a model of what another engine sent.

    Raises:
        Error: There is no run, or no captures of it to make a model of.
    """
    found = Why.of(source)
    run = found.run
    if run is None or named(run.about["engine"]).in_memory:
        return Why.of(source, tries=True)
    files = sorted(run.directory.glob("*.pcapng"))
    if not files:
        raise Error(
            f"{run.directory} kept no captures to make a model of, in which remedies are tried: "
            f"run {run.directory / 'scenario.toml'} again without --no-captures, or with --engine "
            "simulation, and give that run; mptcplab why without --try has the findings"
        )
    modelled = why(files, tries=True)
    return Why(found.tables, found.rows, modelled.tried_rows, modelled.model, run)


def _tried(tables: Tables, findings: list[Row]) -> tuple[list[Row], Row]:
    """Give remedies that were tried, and what the model is."""
    transfer = largest(tables)
    scenario = scenario_of(tables, transfer, findings)
    trials = Trials(DEFAULT, scenario, SEEDS, transfer["direction"])
    runs = trials.tables()
    before = [trials.transfer(run) for run in runs]
    taken_s = mean(row["elapsed_s"] for row in before)
    off = None if taken_s is None else taken_s / transfer["elapsed_s"] - 1
    holds = off is not None and abs(off) <= BAND
    shown = {row["kind"] for row in findings} & _shown(runs)
    own = [
        row
        for row in findings
        if row["connection"] == transfer["connection"]
        and row["direction"] in (transfer["direction"], None)
    ]
    model = {
        "connection": transfer["connection"],
        "direction": transfer["direction"],
        "captured_s": transfer["elapsed_s"],
        "taken_s": taken_s,
        "off": off,
        "band": BAND,
        "holds": holds,
        "seeds": list(SEEDS),
        "shown": sorted(shown),
        "scenario": scenario,
        "never_filled": never_filled(tables, transfer, findings),
    }
    rows = [row for row in own if row["kind"] in shown]
    subflows = tables.rows("subflows", connection=transfer["connection"])
    paths = {row["subflow"]: row["path"] for row in subflows}

    def where(row: Row) -> FindingPaths:
        names = (paths.get(row["subflow"]), f"path{row['subflow']}")
        return FindingPaths(next((name for name in names if name in scenario["path"]), None))

    if not holds:
        return [], model
    found = tried(trials, rows, before, where)
    most = widest(tables, transfer)
    for row in found:
        kinds = LOSSES & set(row["kind"].split(", "))
        carriers = {where(one).own for one in rows if one["kind"] in kinds} or {most}
        # What these carry is a minimum if they never were full, and so is what is gained.
        is_minimum = carriers <= set(model["never_filled"])
        row["gained_is_minimum"] = is_minimum and (row["gained_s"] or 0.0) >= LONGER_S
    return found, model


def _shown(runs: list[Tables]) -> set[str]:
    """Give the kinds that most runs show."""
    kinds = [{row["kind"] for row in run.rows("findings")} for run in runs]
    return {
        kind for kind in set().union(*kinds) if sum(kind in one for one in kinds) * 2 > len(runs)
    }
