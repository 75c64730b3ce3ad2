"""Simulated plain TCP over a link: the figures that were measured, of many runs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import fmean, stdev

from mptcplab import _core
from mptcplab.calibration.target import FIGURES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from mptcplab.calibration.subject import Subject
    from mptcplab.scenario.scenario import Scenario

    # Figures of a run by name; none where there is none.
    Shown = dict[str, float | None]

PATH = "link"
DATA_DIRECTIONS = {"download": "down", "upload": "up"}


@dataclass(frozen=True)
class Measured:
    """Figures of several runs."""

    runs: list[Shown]

    def mean(self, figure: str) -> float | None:
        """Give the mean of a figure."""
        values = self.values(figure)
        return fmean(values) if values else None

    def sd(self, figure: str) -> float | None:
        """Give the standard deviation between runs."""
        values = self.values(figure)
        return stdev(values) if len(values) > 1 else None

    def values(self, figure: str) -> list[float]:
        """Give a figure of each run that has it."""
        return [value for run in self.runs if (value := run[figure]) is not None]


def measure(
    subject: Subject, link: dict[str, Any], seeds: Sequence[int], *, workers: int = 1
) -> Measured:
    """Simulate the subject's transfers over a link, once with each seed."""
    scenarios = [_scenario(subject, link, transfer) for transfer in subject.transfers]
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(_run, subject, scenarios, seed) for seed in seeds]
        try:
            return Measured([future.result() for future in futures])
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _scenario(subject: Subject, link: dict[str, Any], transfer: dict[str, Any]) -> Scenario:
    from mptcplab.scenario.scenario import load

    table = {
        "schema": 1,
        "transfer": transfer,
        "link": {PATH: link},
        "path": {PATH: {"link": PATH}},
        "mptcp": subject.mptcp,
        "tcp": subject.tcp,
    }
    return load(table)[1]


def _run(subject: Subject, scenarios: list[Scenario], seed: int) -> Shown:
    shown = [_figures(subject, scenario, seed) for scenario in scenarios]
    means: Shown = {}
    for figure in FIGURES:
        values = [value for one in shown if (value := one[figure]) is not None]
        means[figure] = fmean(values) if values else None
    return means


def _figures(subject: Subject, scenario: Scenario, seed: int) -> Shown:
    """Give the figures of one transfer, as the analysis defines them."""
    from mptcplab.scenario.plan import plan
    from mptcplab.scenario.resolved import drawn

    tables = _core.simulate(
        plan(drawn(scenario, seed), seed, PATH),
        samples=False,
        smoothing_seconds=subject.smoothing_s,
        trim_seconds=subject.trim_s,
    )
    return of_tables(tables, DATA_DIRECTIONS[subject.direction])


def of_tables(tables: Any, direction: str) -> Shown:
    """Give the figures of the transfer in a direction."""
    from mptcplab.metrics import OF_RUNS
    from mptcplab.results import run_metrics

    transfer = run_metrics.transfer(tables.rows("connections"), tables.rows("transfers"), direction)
    if transfer is None:
        return dict.fromkeys(FIGURES)
    flows = run_metrics.of_transfer(tables.rows("flows"), transfer)
    handshakes = [
        row["handshake_rtt_ms"]
        for row in tables.rows("subflows")
        if row["connection"] == transfer["connection"] and row["handshake_rtt_ms"] is not None
    ]
    return {
        "throughput": transfer["throughput_mbps"],
        "rtt": transfer["rtt_ms_mean"],
        "rtt_sd": transfer["rtt_ms_sigma"],
        "rtt_p99": transfer["rtt_ms_p99"],
        "handshake_rtt": handshakes[0] if handshakes else None,
        "loss": OF_RUNS["loss_rate_percent"].over(flows),
        "throughput_cv": transfer["coefficient_of_variation"],
    }
