"""Makes an artifact of runs and campaigns."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from mptcplab._core import Error
from mptcplab.artifact.artifact import Artifact, Planned
from mptcplab.engines import named
from mptcplab.metrics import OF_RUNS
from mptcplab.results.campaign import Campaign
from mptcplab.results.comparison import Comparison
from mptcplab.results.opening import opened
from mptcplab.results.run import Run
from mptcplab.writing import beside

#: How far apart two runs of one scenario may be in real time, as where the engines are compared.
REAL_TIME_PERCENT = 15.0


def package(
    source: str | PathLike[str] | Run | Comparison | Campaign,
    out: str | PathLike[str] | None = None,
    *,
    tolerance_percent: float | None = None,
) -> Artifact:
    """Make an artifact, as :func:`mptcplab.package` says."""
    found = source if isinstance(source, (Run, Comparison, Campaign)) else opened(source)
    runs, scenarios, abouts = _gathered(found, source)
    if not runs:
        raise Error(f"{source} holds no run that is done")
    engines = {str(about["engine"]) for about in abouts}
    if len(engines) > 1:
        raise Error(f"{source} holds runs of several engines: package them apart")
    engine = named(engines.pop())
    if engine.visits:
        raise Error(
            f"{source} was run over real networks, which nobody can run again: "
            "publish its captures instead (mptcplab anonymise)"
        )
    about = abouts[0]
    artifact = Artifact(
        title=str(about.get("title") or about["scenario"]),
        engine=engine.name,
        version=str(about["mptcplab"]),
        build=str(about.get("identity", about)["build"]),
        tolerance_percent=(REAL_TIME_PERCENT if engine.real_time else 0.0)
        if tolerance_percent is None
        else tolerance_percent,
        runs=runs,
        scenarios=scenarios,
    )
    artifact.write(default_path(source) if out is None else Path(out))
    return artifact


def default_path(source: str | PathLike[str] | Run | Comparison | Campaign) -> Path:
    """Give where an artifact goes by default: beside the directory."""
    if isinstance(source, (Run, Comparison, Campaign)):
        return beside(source.directory, "-package.zip")
    return beside(Path(source), "-package.zip")


def _gathered(
    found: Any, source: object
) -> tuple[list[Planned], dict[str, str], list[dict[str, Any]]]:
    """Give the runs, their scenarios by the files that these get, and what is known of all."""
    scenarios: dict[str, str] = {}
    files: dict[str, str] = {}

    def file_of(text: str) -> str:
        name = files.setdefault(text, f"scenarios/{len(files) + 1}.toml")
        scenarios[name] = text
        return name

    if isinstance(found, Campaign):
        rows = found.runs.join(found.plan.select("run"), on="run").rows(named=True)
        planned = [
            Planned(
                row["run"],
                file_of(found.scenario(row["run"])),
                row["seed"],
                row["path"],
                row["finished"],
                {name: row[name] for name in OF_RUNS},
            )
            for row in rows
        ]
        return planned, scenarios, [found.about]
    runs = list(_runs(found))
    if not runs:
        raise Error(f"{source} holds captures: an artifact is of what can be run again")
    for _, run in runs:
        if run.about.get("programs"):
            raise Error(f"{run.directory} ran programs, which an artifact does not hold")
    planned = [
        Planned(
            name,
            file_of(run.scenario_text),
            run.about["seed"],
            run.about["path"],
            run.outcome["finished"],
            {metric: run.metrics[metric] for metric in OF_RUNS},
        )
        for name, run in runs
    ]
    return planned, scenarios, [run.about for _, run in runs]


def _runs(found: Any) -> Iterator[tuple[str, Run]]:
    if isinstance(found, Run):
        yield found.name, found
    elif isinstance(found, Comparison):
        yield from ((run.name, run) for run in found.runs)
    elif isinstance(found, list):
        for one in found:
            yield from ((f"{one.directory.name}/{run.name}", run) for run in one.runs)
