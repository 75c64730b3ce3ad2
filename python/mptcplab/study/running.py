"""Experiments in, results out: each campaign is run where it is not there already."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from mptcplab._core import Error
from mptcplab.scenario.fault import ScenarioError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from mptcplab.campaign.matrix import Matrix
    from mptcplab.campaign.sweep import Progress
    from mptcplab.study.experiment import Experiment, Extent

    #: Called with the name of a campaign and its number of runs; gives a callback for progress.
    Begin = Callable[[str, int], Callable[[Progress], None] | None]


def study(
    experiments: Sequence[Experiment],
    out: Path,
    extent: Extent,
    *,
    jobs: int | None = None,
    begin: Begin = lambda *_: None,
) -> dict[str, Any]:
    """Run experiments and write their results: ``results.json``, Parquet, figures and a page.

    Runs that are there already are kept; all campaigns are checked before anything runs.

    Raises:
        Error: An experiment cannot be run with this engine, or something cannot be written.
        KeyboardInterrupt: Ctrl-C; all but the last seconds is kept.
    """
    from mptcplab.study import outcome, page

    matrices = {one.name: planned(one, extent) for one in experiments}
    found = [_experiment(one, *matrices[one.name], out, jobs, begin) for one in experiments]
    results = outcome.document(extent, found)
    outcome.write(results, out)
    page.write(results, out)
    return results


def planned(
    experiment: Experiment, extent: Extent
) -> tuple[dict[str, Matrix], dict[str, dict[str, Any]]]:
    """Give all runs of an experiment's campaigns, and the campaigns as tables."""
    from mptcplab.campaign import definition
    from mptcplab.campaign.matrix import Matrix

    if extent.engine.linux and not experiment.on_linux:
        raise ScenarioError(
            f"{experiment.name} is not run on the {extent.engine.name} engine: it hangs on what "
            f"Linux lacks, or takes hours of real time; there are {', '.join(_on_linux())}"
        )
    if extent.engine.linux and (lacking := experiment.lacking(extent.engine)):
        raise ScenarioError(
            f"{experiment.name} needs {' and '.join(lacking)} in the kernel: "
            f"sudo mptcplab controllers --load {' '.join(lacking)}"
        )
    tables = experiment.campaigns(extent)
    matrices = {}
    for name, table in tables.items():
        read = definition.load(table)
        matrices[name] = Matrix(replace(read, name=f"{experiment.name}/{name}"))
    return matrices, tables


def _on_linux() -> list[str]:
    from mptcplab.study.experiments import experiments

    return [name for name, one in experiments().items() if one.on_linux]


def _experiment(
    experiment: Experiment,
    matrices: dict[str, Matrix],
    tables: dict[str, dict[str, Any]],
    out: Path,
    jobs: int | None,
    begin: Begin,
) -> dict[str, Any]:
    from mptcplab.campaign.perform import perform
    from mptcplab.study import drawings, outcome
    from mptcplab.study.measured import Measured

    campaigns = {}
    for name, matrix in matrices.items():
        where = out / experiment.name / name
        try:
            progress = begin(matrix.definition.name, len(matrix.runs))
            campaigns[name] = perform(matrix, where, jobs=jobs, progress=progress)
        except ScenarioError as error:
            raise Error(f"{experiment.name}: {error}") from error
    measured = Measured(campaigns, tables)
    table = outcome.of_experiment(experiment, measured)
    return table | {"drawings": drawings.draw(experiment, measured, matrices, out)}
