"""LIA, OLIA and BALIA in Linux and in the simulator, over the same paths, beside the laws of ``equilibria.py``.

``mptcplab controllers --load lia olia balia``, then ``python -m experiments.laws.linux DIR``. Single runs are kept in DIR, figures in
``linux.json`` beside this file, of which ``docs/generate.py`` draws the table. As in those laws, Reno is measured over each path
by itself, with either engine's own.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from experiments import pool
from experiments.laws import equilibria
from experiments.laws.equilibria import PAIRS, Pair
from experiments.laws.equilibria import Path as Lossy
from experiments.markdown import table
from mptcplab.engines import named
from mptcplab.results.run import Run
from mptcplab.results.statistics import quotient_of_independent

RESULTS = Path(__file__).parent / "linux.json"
ENGINES = ("simulation", "kernel")
RENO = "reno"
CONTROLLERS = ("lia", "olia", "balia")
# Equal paths; unequal loss; unequal round trips.
OF = (PAIRS[0], PAIRS[1], PAIRS[3])
SECONDS = 120
# Runs of the simulator.
SIMULATED = 20
LEVEL = 0.9


def main() -> None:
    """Run, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("directory", type=Path, help="where figures of single runs are kept")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each in Linux")
    parser.add_argument("--at-once", type=int, default=12, help="runs at once")
    given = parser.parse_args()
    alone = dict.fromkeys((path,) for pair in OF for path in pair)
    wanted: list[tuple[str, tuple[Lossy, ...]]] = [
        *((RENO, paths) for paths in alone),
        *((controller, pair) for controller in CONTROLLERS for pair in OF),
    ]
    results: dict[str, Any] = {"release": named("kernel").conditions()["kernel"]}
    for engine in ENGINES:
        jobs = {
            (_name(*one), seed): pool.Job(
                _name(*one), _scenario(*one), engine, seed, packets_per_s, is_kept=False
            )
            for seed in range(1, (given.repeat if engine == "kernel" else SIMULATED) + 1)
            for one in wanted
        }
        done = pool.run(jobs.values(), given.directory, given.at_once)
        results[engine] = {
            _name(*one): [
                done[job]["sent"]
                for (name, _), job in jobs.items()
                if name == _name(*one) and job in done
            ]
            for one in wanted
        }
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def _name(controller: str, paths: tuple[Lossy, ...]) -> str:
    return "-".join([controller, *(f"{path.ratio:g}-{path.rtt_ms}" for path in paths)])


def _scenario(controller: str, paths: tuple[Lossy, ...]) -> str:
    """Write the scenario: links as those of the laws, hosts as Linux's, with an ACK per segment."""
    lines = [
        "schema = 1",
        "[transfer]",
        'direction = "download"',
        f'duration = "{SECONDS} s"',
        "[tcp]",
        f'congestion_control = "{RENO}"',
        'delayed_ack = "off"',
        "[mptcp]",
        f"enabled = {str(controller != RENO).lower()}",
    ]
    if controller != RENO:
        lines.append(f'congestion_control = "{controller}"')
    for name, path in zip(("one", "two"), paths, strict=False):
        delay = f'{{ element = "delay", delay = "{path.rtt_ms / 2:g} ms" }}'
        loss = f'{{ element = "loss", ratio = "{100 * path.ratio:g} %" }}'
        lines += [f"[link.{name}]", f"uplink = [{delay}]", f"downlink = [{delay}, {loss}]"]
        lines += [f"[path.{name}]", f'link = "{name}"']
    return "\n".join(lines) + "\n"


def packets_per_s(run: Run) -> pool.Figures:
    """Give how many data packets each path sent per second, those sent again too.

    What is in Linux's small buffers at the end takes less than a second.
    """
    paths = {row["subflow"]: row["path"] for row in run.tables.rows("subflows", connection=0)}
    sent = {
        paths[row["subflow"]]: row["data_packets"] / SECONDS
        for row in run.tables.rows("flows", connection=0)
        if row["direction"] == "down"
    }
    return {"sent": [sent.get(name, 0.0) for name in ("one", "two")]}


@dataclass(frozen=True)
class Row:
    """A law of a controller, and what an engine's runs have of it, over what its Reno has."""

    controller: str
    what: str
    pair: Pair
    law: float
    measured: Callable[[dict[str, list[list[float]]]], tuple[list[float], list[float]]]

    def cell(self, runs: dict[str, list[list[float]]]) -> str:
        """Write what was measured, with its 90 % interval."""
        values, units = self.measured(runs)
        ratio = quotient_of_independent(values, units, level=LEVEL)
        mean = fmean(values) / fmean(units)
        if ratio.low is None or ratio.high is None:
            return f"{mean:.2f}"
        return f"{mean:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"


def _total(controller: str, pair: Pair) -> Row:
    def measured(runs: dict[str, list[list[float]]]) -> tuple[list[float], list[float]]:
        alone = [[sum(one) for one in runs[_name(RENO, (path,))]] for path in pair]
        return [sum(one) for one in runs[_name(controller, pair)]], max(alone, key=fmean)

    return Row(controller, "both paths / Reno on the best", pair, 1.0, measured)


def _share(controller: str, pair: Pair) -> Row:
    def measured(runs: dict[str, list[list[float]]]) -> tuple[list[float], list[float]]:
        sent = runs[_name(controller, pair)]
        return [one[0] for one in sent], [sum(one) for one in sent]

    law = equilibria.SHARES[controller](pair)
    return Row(controller, "share of the first path", pair, law, measured)


ROWS = (
    *(_total(controller, pair) for controller in CONTROLLERS for pair in OF),
    *(_share(controller, PAIRS[1]) for controller in ("lia", "balia")),
)


def markdown() -> str:
    """Give the laws, and what both engines have."""
    results = json.loads(RESULTS.read_text())
    rows = [
        [
            *(row.controller, row.what, *equilibria.labels(row.controller, row.pair)[1:]),
            f"{row.law:.2f}",
            *(row.cell(results[engine]) for engine in ENGINES),
        ]
        for row in ROWS
    ]
    runs = {engine: len(next(iter(results[engine].values()))) for engine in ENGINES}
    ours = f"simulator, {runs['simulation']} runs each"
    theirs = f"Linux {results['release'].partition('-')[0]}, {runs['kernel']} runs each"
    heads = ("controller", "of", "loss", "RTT", "law", ours, theirs)
    return "\n".join(table(heads, rows)) + "\n"


if __name__ == "__main__":
    main()
