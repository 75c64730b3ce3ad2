"""What is run: scenarios, campaigns, the papers' experiments, calibrations."""

from __future__ import annotations

import os
from pathlib import Path

from mptcplab._core import Error
from mptcplab.engines import DEFAULT, named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from os import PathLike
    from typing import Any

    from mptcplab.calibration.calibration import Calibration
    from mptcplab.campaign.sweep import Progress
    from mptcplab.results.campaign import Campaign
    from mptcplab.results.comparison import Comparison
    from mptcplab.study.running import Begin


def run(
    scenario: str | PathLike[str] | dict[str, Any],
    *,
    seed: int = 1,
    out: str | PathLike[str] | None = None,
    settings: Sequence[str] = (),
    baselines: bool | None = None,
    captures: str | None = None,
    force: bool = False,
    engine: str = DEFAULT.name,
) -> Comparison:
    """Run a scenario with MPTCP, and with plain TCP over each of its paths.

    Args:
        scenario: A file, the name of a scenario that ships, or the scenario as a dictionary.
        seed: Runs with the same seed meet the same radio conditions.
        out: Where the run directories go. Those that are there already from the same scenario,
            seed and version are not run again. If left out, they live as long as what is returned.
        settings: Changes to the scenario, such as ``"path.wifi.rate=10 Mbit/s"``.
        baselines: Whether to run plain TCP too; if left out, as the scenario says.
        captures: ``"none"``, ``"headers"`` or ``"full"`` (payload too). If left out ``"headers"``
            with ``out`` and ``"none"`` without.
        force: Replace other runs in ``out``.
        engine: What runs it: ``"simulation"``, in virtual time, or another one, such as
            ``"kernel"``: Linux's own MPTCP, in real time.

    Raises:
        ScenarioError: The scenario cannot be, or not with this engine; says where and why.
        Error: Something cannot be written or is there already, or this machine forbids it.
        KeyboardInterrupt: Ctrl-C; finished runs are kept, nothing is left of the others.
    """
    from mptcplab.results import record
    from mptcplab.scenario.scenario import load

    chosen = named(engine)
    name, read = load(scenario, list(settings))
    if out is not None:
        return record.with_baselines(
            name,
            read,
            Path(out),
            seed=seed,
            baselines=baselines,
            captures=captures or "headers",
            force=force,
            engine=chosen,
        )
    keeper = record.Keeper()
    return record.with_baselines(
        name,
        read,
        keeper.directory,
        seed=seed,
        baselines=baselines,
        captures=captures or "none",
        engine=chosen,
        keeper=keeper,
    )


def sweep(
    campaign: str | PathLike[str] | dict[str, Any],
    *,
    out: str | PathLike[str] | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Campaign:
    """Run a campaign: what is there already is kept, the rest is run.

    Args:
        campaign: A file, the name of a campaign that ships, or the campaign as a dictionary.
        out: Where it goes. If left out, it lives as long as what is returned.
        jobs: How many runs at once; if left out one per core, or with the kernel one.
        dask: Address of a Dask scheduler whose workers run it, instead of processes here.
        progress: Told now and then how far it is.

    Raises:
        ScenarioError: The campaign cannot be; says where and why.
        Error: Something cannot be written, or another sweep writes there.
        KeyboardInterrupt: Ctrl-C; all but the last seconds is kept.
    """
    from mptcplab.campaign import sheet
    from mptcplab.campaign.matrix import Matrix
    from mptcplab.campaign.perform import perform
    from mptcplab.results.record import Keeper

    matrix = Matrix(sheet.load(campaign))
    if out is not None:
        return perform(matrix, Path(out), jobs=jobs, dask=dask, tell=progress)
    keeper = Keeper()
    made = perform(matrix, keeper.directory, jobs=jobs, dask=dask, tell=progress)
    made.keeper = keeper
    return made


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
    """Run experiments of the papers, and put every printed number beside ours.

    What is there already is kept, the rest is run.

    Args:
        names: An experiment, several, or ``"all"`` that the engine runs; ``mptcplab study`` lists
            them.
        out: A directory for campaigns, ``results.json``, Parquet, figures and ``study.html``.
        quick: Fewer repetitions.
        engine: What runs them: ``"simulation"``, or another one. Linux (``"kernel"``) runs some.
        era: ``"2012"`` for the papers' stack, ``"current"`` for today's beside it.
        jobs: How many runs at once; if left out one per core.
        begin: Told a campaign's name and number of runs; gives who is told of its progress.

    Returns:
        What ``results.json`` holds.

    Raises:
        Error: There is no such experiment, it cannot be run so, or nothing can be written.
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


def calibrate(
    captures: str | PathLike[str] | Iterable[str | PathLike[str]] | None = None,
    *,
    row: str | None = None,
    out: str | PathLike[str] | None = None,
    targets: str | PathLike[str] | None = None,
    controller: str | None = None,
    era: str | None = None,
    runs: int = 12,
    progress: Callable[[int, float], None] | None = None,
) -> Calibration:
    """Fit a link so that simulated plain TCP over it shows what was measured.

    Args:
        captures: Captures of a transfer over plain TCP, given together as one.
        row: Instead of captures, the id of a row of the papers' measurements.
        out: A file for the link, which scenarios may name as a profile.
        targets: Another file of measurements for ``row``.
        controller: Congestion control of the captured transfer's sender (default: cubic-linux, with
            ``era`` 2012 reno).
        era: Whose TCP it was, as ``mptcp.era`` in scenarios (default: today's).
        runs: How many runs each try is simulated with.
        progress: Called with the tries so far and the largest relative error.

    Raises:
        Error: There is nothing to calibrate on; says what is missing.
        KeyboardInterrupt: Ctrl-C; nothing is written.
    """
    from mptcplab.calibration import capture, fit, rows
    from mptcplab.calibration.calibration import Calibration
    from mptcplab.scenario import policy

    if (captures is None) == (row is None):
        raise Error("give either captures or a row to calibrate on")
    if captures is not None and targets is not None:
        raise Error("targets are those of a row: they do not go with captures")
    if row is not None and (controller, era) != (None, None):
        raise Error("controller and era are those of captures: a row has its own")
    known = policy.known("congestion_control")
    if controller not in (None, *known):
        hint = policy.hint("congestion_control", str(controller))
        raise Error(f"there is no congestion controller {controller}; {hint}")
    if runs < 1:
        raise Error(f"runs is {runs}; it must be at least 1")
    if captures is not None:
        subject = capture.subject(captures, controller=controller, era=era)
    else:
        subject = rows.subject(str(row), targets)
    made = fit.fit(subject, runs=runs, workers=os.cpu_count() or 1, progress=progress)
    calibration = Calibration(made)
    if out is not None:
        calibration.write(Path(out))
    return calibration
