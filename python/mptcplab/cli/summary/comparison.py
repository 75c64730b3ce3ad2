"""MPTCP beside plain TCP over each path."""

from __future__ import annotations

import shlex
import statistics
from collections.abc import Callable

from mptcplab.cli.summary.connection import print_measured
from mptcplab.cli.summary.findings import next_step, print_counted, print_first, sources_of
from mptcplab.cli.summary.page import Column, Page, draw, on_stdout
from mptcplab.labels import text
from mptcplab.metrics import OF_RUNS, Metric, of_runs
from mptcplab.results import policies, run_metrics
from mptcplab.results.comparison import Comparison
from mptcplab.results.contributions import contributions
from mptcplab.results.findings import findings
from mptcplab.results.labels import engine, gain, label, unfinished
from mptcplab.results.run import Run

RESPONSE = OF_RUNS["response_time_ms_mean"]
# So many of the first metrics are always shown; of the others, earlier ones are kept longer.
FIXED, WORTH = 3, 6
# A mean so much longer than the least round trip is not the path's alone.
DELAYED_MS = 10.0
# Diagnostics of runs whose ends have a connection each.
APART = {"split_connection", "ends_unmatched", "server_unaware"}


def print_comparison(comparison: Comparison, title: str | None) -> None:
    """Print the run with MPTCP in full, and the baselines beside it."""
    page = on_stdout()
    mptcp = comparison.mptcp
    _print_head(page, comparison, title, f"seed {mptcp.about['seed']}")
    found = findings(comparison)
    print_first(
        page,
        found,
        several=len(mptcp.connections) > 1,
        rest=f"mptcplab why {shlex.quote(str(comparison.directory))}",
    )
    print_measured(page, mptcp.tables, run=mptcp)
    page.line()
    draw(page, _columns(comparison.runs))
    for run in comparison.runs:
        _print_failure(page, run)
    for run in comparison.baselines.values():
        _print_gap(page, run)
    if comparison.baselines:
        page.paragraph(gain(comparison))
        if shares := contributions(comparison):
            page.paragraph(shares)
    if mptcp.metrics[RESPONSE.column] is not None and _is_delayed(mptcp):
        page.paragraph(
            "RTTs of requests and responses include how long a receiver waits before it "
            "acknowledges a last segment (delayed ACK, 40 ms and more)",
            first="– ",
            style="faint",
        )
    page.line()
    page.paragraph(
        f"{comparison.directory} holds the runs; mptcplab analyze "
        f"{shlex.quote(str(mptcp.directory))}/*.pcapng takes a closer look"
        if any(mptcp.directory.glob("*.pcapng"))
        else f"{comparison.directory} holds the runs",
        indent="",
        style="faint",
    )
    if step := next_step(found, sources_of(mptcp, str(comparison.directory))):
        page.paragraph(step, indent="", style="faint")


def print_repeated(comparisons: list[Comparison], title: str | None) -> None:
    """Print a line per seed, then mean and standard deviation."""
    page = on_stdout()
    seeds = [str(one.mptcp.about["seed"]) for one in comparisons]
    _print_head(page, comparisons[0], title, text.plural(len(seeds), "seed"))
    print_counted(page, [findings(one) for one in comparisons])
    columns = [Column("seed", [*seeds, "mean"]), Column("", _or_sigma(seeds), left=True)]
    for number, run in enumerate(comparisons[0].runs):
        values = [one.runs[number].throughput_mbps for one in comparisons]
        columns.append(Column(f"{label(run)} Mbit/s", _with_mean(values, text.figure)))
    for number, run in enumerate(comparisons[0].runs):
        means = [one.runs[number].metrics[RESPONSE.column] for one in comparisons]
        if any(mean is not None for mean in means):
            cells = _with_mean(means, text.figure)
            columns.append(Column(f"{label(run)} {RESPONSE.head}", cells))
    for name in _names(comparisons[0].mptcp):
        rates = [run_metrics.neighbour_mbps(one.mptcp.outcome, name) for one in comparisons]
        columns.append(Column(f"{name} Mbit/s", _with_mean(rates, text.figure)))
    if comparisons[0].baselines:
        gains = [one.gain for one in comparisons]
        cells = [text.UNKNOWN if one is None else _percent(one) for one in gains]
        columns.append(Column("gain", [*cells, _gain_of_means(comparisons)]))
        columns.append(
            Column("best path", [str(one.best_path or "–") for one in comparisons] + [""])
        )
    draw(page, [column for column in columns if any(column.cells)])
    for comparison in comparisons:
        for run in comparison.runs:
            _print_failure(page, run, f"seed {run.about['seed']}, ")
    if len(comparisons) > 1 and _all_alike(comparisons):
        page.paragraph(
            "all seeds gave the same: this scenario leaves nothing to chance", first="– "
        )
    page.line()
    page.paragraph(f"{comparisons[0].directory.parent} holds the runs", indent="", style="faint")


def _print_head(page: Page, comparison: Comparison, title: str | None, chance: str) -> None:
    about = comparison.mptcp.about
    facts = [page.style(text.clean(about["scenario"]), "strong")]
    if title:
        facts.append(text.clean(title))
    page.facts([*facts, engine(about), policies.of_comparison(comparison), chance], indent="")
    page.line()


def _columns(runs: list[Run]) -> list[Column]:
    metrics = of_runs("runs")
    return [
        Column("run", [label(run) for run in runs], left=True),
        *(column for number, one in enumerate(metrics) for column in _metric(one, number, runs)),
        *_neighbours(runs),
        Column("", ["" if run.outcome["finished"] else "not finished" for run in runs], left=True),
    ]


def _metric(metric: Metric, number: int, runs: list[Run]) -> list[Column]:
    """Give a column; one that no run knows is left out."""
    values = [run.metrics[metric.column] for run in runs]
    if number >= FIXED and all(value is None for value in values):
        return []
    return [Column(*metric.cells(values), keep=max(WORTH - number, 1) if number >= FIXED else 0)]


def _neighbours(runs: list[Run]) -> list[Column]:
    """What cross traffic got beside each run; a baseline is without that of other paths' links."""
    return [
        Column(
            f"{name} Mbit/s",
            [text.figure(run_metrics.neighbour_mbps(run.outcome, name)) for run in runs],
            keep=1,
        )
        for name in dict.fromkeys(name for run in runs for name in _names(run))
    ]


def _names(run: Run) -> list[str]:
    return [one["name"] for one in run.outcome.get("cross_traffic", ())]


def _all_alike(comparisons: list[Comparison]) -> bool:
    """Say whether not a packet differed."""
    outcomes = [[run.outcome for run in one.runs] for one in comparisons]
    return all(one == outcomes[0] for one in outcomes)


def _is_delayed(run: Run) -> bool:
    """Say whether round trips took longer than their least, as with delayed ACKs."""
    least = [row["rtt_ms_min"] for row in run.tables.rows("flows") if row["rtt_ms_min"]]
    return bool(least) and (run.rtt_ms_mean or 0.0) >= min(least) + DELAYED_MS


def _print_failure(page: Page, run: Run, where: str = "") -> None:
    outcome = run.outcome
    if not outcome["finished"]:
        sentence = f"{where}{label(run)} did not finish: {unfinished(outcome)}"
        page.paragraph(sentence, first="! ", style="warning")


def _print_gap(page: Page, run: Run) -> None:
    """Say why there are no figures of the sender, which are there else."""
    if run.transfer is None or run.rtt_ms_mean is not None:
        return
    for row in run.tables.rows("diagnostics"):
        if row["diagnostic"] in APART:
            page.paragraph(
                f"{label(run)} has no RTT and no loss here: {row['message']}", first="– "
            )
            return


def _with_mean(values: list[float | None], show: Callable[[float], str]) -> list[str]:
    known = [value for value in values if value is not None]
    mean = show(statistics.fmean(known)) if known else text.UNKNOWN
    if len(known) > 1:
        mean += f" ± {show(statistics.stdev(known))}"
    return [*(text.UNKNOWN if value is None else show(value) for value in values), mean]


def _gain_of_means(comparisons: list[Comparison]) -> str:
    """Give the gain of all seeds as campaigns do: of mean throughputs, over one best path."""
    from mptcplab.results.statistics import gain

    def values(runs: list[Run]) -> dict[int, float | None]:
        return {
            run.about["seed"]: run.throughput_mbps if run.outcome["finished"] else None
            for run in runs
        }

    single_paths = {
        path: values([one.baselines[path] for one in comparisons])
        for path in comparisons[0].baselines
    }
    found = gain(values([one.mptcp for one in comparisons]), single_paths).paired.relative.estimate
    return text.UNKNOWN if found is None else _percent(found)


def _percent(value: float) -> str:
    return f"{value:.0%}".replace("%", " %")


def _or_sigma(seeds: list[str]) -> list[str]:
    return ["" for _ in seeds] + ["± σ" if len(seeds) > 1 else ""]
