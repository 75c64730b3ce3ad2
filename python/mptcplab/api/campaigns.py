"""Many runs: campaigns, also by a calendar, and the experiments of papers."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from mptcplab._core import Error
from mptcplab.engines import DEFAULT, named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from mptcplab.campaign.sweep import Progress
    from mptcplab.results.campaign import Campaign
    from mptcplab.schedule.schedule import VisitOutcome
    from mptcplab.study.running import Begin


def sweep(
    campaign: str | PathLike[str] | dict[str, Any],
    *,
    out: str | PathLike[str] | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Campaign:
    """Run a campaign: existing runs are kept, the others are run.

    Args:
        campaign: A file, the name of a campaign that ships, or the campaign as a dictionary.
        out: Output directory. If left out, a temporary one that lives as long as the returned
            object.
        jobs: Number of parallel runs. If left out, one per core, or one with the kernel.
        dask: Address of a Dask scheduler whose workers make the runs, instead of local processes.
        progress: Called from time to time with the progress.

    Raises:
        ScenarioError: The campaign cannot be; says where and why.
        Error: Something cannot be written, or another sweep writes there.
        KeyboardInterrupt: Ctrl-C; all but the last seconds is kept.
    """
    from mptcplab.campaign import definition
    from mptcplab.campaign.matrix import Matrix
    from mptcplab.campaign.perform import perform
    from mptcplab.results.record import OwnedDirectory

    matrix = Matrix(definition.load(campaign))
    if out is not None:
        return perform(matrix, Path(out), jobs=jobs, dask=dask, progress=progress)
    owned = OwnedDirectory()
    result = perform(matrix, owned.directory, jobs=jobs, dask=dask, progress=progress)
    result.owned = owned
    return result


def run_schedule(
    campaign: str | PathLike[str] | dict[str, Any],
    *,
    out: str | PathLike[str],
    server: str | None = None,
    progress: Callable[[VisitOutcome], None] = lambda _: None,
) -> Campaign:
    """Run a campaign by its calendar until it is over, which may take weeks.

    Args:
        campaign: A file, the name of a campaign that ships, or the campaign as a dictionary.
        out: Output directory. A schedule that was started there continues.
        server: The line that ``mptcplab serve`` prints, as ``server`` in ``[field]``.
        progress: Called with the result of each visit.

    Raises:
        ScenarioError: The campaign cannot be; says where and why.
        Error: Something cannot be written, another schedule writes there, or the directory has a
            different schedule.
        KeyboardInterrupt: Ctrl-C; the same call continues from there.
    """
    from mptcplab.campaign import definition
    from mptcplab.schedule.schedule import run

    settings = () if server is None else (f"field.server={server}",)
    return run(definition.load(campaign, settings), Path(out), report=progress)


def run_study(
    names: str | Sequence[str],
    *,
    out: str | PathLike[str] = "study",
    quick: bool = False,
    engine: str = DEFAULT.name,
    era: str = "2012",
    jobs: int | None = None,
    begin: Begin = lambda *_: None,
) -> dict[str, Any]:
    """Run the experiments of the papers, and compare every printed number with ours.

    Existing runs are kept, the others are run.

    Args:
        names: One experiment, several, or ``"all"`` that the engine supports; ``mptcplab study``
            lists them.
        out: A directory for campaigns, ``results.json``, Parquet, figures and ``study.html``.
        quick: Fewer repetitions.
        engine: ``"simulation"`` or another engine. Linux (``"kernel"``) can run some of them.
        era: ``"2012"`` for the papers' stack, ``"current"`` for today's in addition.
        jobs: How many runs at once; if left out one per core.
        begin: Called with a campaign's name and its number of runs; returns a callback for its
            progress.

    Returns:
        The content of ``results.json``.

    Raises:
        Error: There is no such experiment, it cannot be run in this way, or nothing can be written.
        KeyboardInterrupt: Ctrl-C; all but the last seconds is kept.
    """
    from mptcplab.study.experiment import LINUX, PAPERS, TODAY, Extent
    from mptcplab.study.experiments import chosen
    from mptcplab.study.running import study

    stacks = {PAPERS: (PAPERS,), TODAY: (PAPERS, TODAY)}
    by = named(engine)
    if era not in stacks:
        raise Error(f"there is no era {era}; known: {', '.join(stacks)}")
    if by.linux and era == TODAY:
        raise Error(f"era current goes with the simulation: the {engine} engine has Linux alone")
    experiments = chosen([names] if isinstance(names, str) else names, by)
    extent = Extent(quick, by, (LINUX,) if by.linux else stacks[era])
    return study(experiments, Path(out), extent, jobs=jobs, begin=begin)
