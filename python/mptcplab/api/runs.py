"""Runs of scenarios: made, explained, compared, and joined with logs."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from mptcplab.engines import DEFAULT, named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from mptcplab.results.annotating import Annotated
    from mptcplab.results.comparison import Comparison
    from mptcplab.results.differences.differences import Comparable, Differences
    from mptcplab.results.run import Run
    from mptcplab.results.why import Why


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
    if out is None:
        owned = record.OwnedDirectory()
        directory = owned.directory
    else:
        owned = None
        directory = Path(out)
    return record.with_baselines(
        name,
        read,
        directory,
        seed=seed,
        baselines=baselines,
        captures=captures or ("headers" if owned is None else "none"),
        force=force,
        engine=chosen,
        owned=owned,
    )


def why(
    source: str | PathLike[str] | Iterable[str | PathLike[str]] | Run | Comparison,
    *,
    tries: bool = False,
) -> Why:
    """Say why a run or a captured transfer was slow, and what would help.

    Args:
        source: A directory that ``mptcplab run`` left, or a run in it, or what ``mptcplab.run``
            gave: with what the runs beside it tell. Or captures, one or several taken as one.
        tries: Whether to simulate the run's scenario with each remedy, with the run's seed; of
            captures, a model of the largest transfer.

    Raises:
        Error: There is no run, or only those of a simulation could be tried; a capture cannot be
            read, or tells too little for a model.
    """
    from mptcplab.results.comparison import Comparison
    from mptcplab.results.run import Run
    from mptcplab.results.why import Why

    if isinstance(source, Run | Comparison):
        return Why.of(source, tries=tries)
    if isinstance(source, str | PathLike) and Path(source).is_dir():
        return Why.of(source, tries=tries)
    from mptcplab.calibration import captured

    return captured.why(source, tries=tries)


def annotate(
    directory: str | PathLike[str],
    *,
    radio: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    positions: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    path: str | None = None,
    time_zone: str | None = None,
    began: str | None = None,
) -> list[Annotated]:
    """Join logs to a run by time: they become its tables ``radio`` and ``positions``.

    Rows from up to 10 s before the run to 10 s after it are kept. Those of a file of the same name
    that was joined before are replaced.

    Args:
        directory: A run, or what ``run`` left: then each of its runs.
        radio: CSV files whose first line names the columns: ``time``, ``path``, and those of the
            table ``radio``.
        positions: GPX files, or such with sentences of NMEA 0183.
        path: The path of rows in ``radio`` that name none.
        time_zone: The zone of times in ``radio`` that name none.
        began: When the run began by the clock of the logs, where that is not the run's.

    Raises:
        Error: A file cannot be read, no row is from the time of a run, or a path is unknown.
    """
    from mptcplab.results import annotating

    return annotating.annotate(
        Path(directory),
        radio=_files(radio),
        positions=_files(positions),
        path=path,
        time_zone=time_zone,
        began=began,
    )


def compare(
    a: Comparable,
    b: Comparable,
    *,
    level: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> Differences:
    """Compare two runs, two scenarios run under several seeds, campaigns, or captures.

    Args:
        a: A run directory; a directory that ``mptcplab run`` made, also with ``--repeat``; a
            campaign's directory; a capture, or a directory whose captures are taken as one. Or
            what ``mptcplab.run``, ``sweep`` or ``analyze`` gave, or a list of the first.
        b: What it is compared with, of the same kind; runs and captures may be mixed.
        level: Of the confidence intervals.
        progress: Told how many figures over several seeds are compared, and of how many.

    Raises:
        Error: There is no such thing, it cannot be read, or the two cannot be compared.
    """
    from mptcplab.results.differences.differences import Differences, Side

    return Differences(Side.of(a), Side.of(b), level=level, progress=progress)


def scenario_schema() -> dict[str, Any]:
    """Give the JSON schema of scenarios (draft 7), by which editors complete and check them.

    It knows every key, element and policy; whether they go together, reading alone tells.
    """
    from mptcplab.scenario.json_schema import scenarios

    return scenarios()


def _files(given: str | PathLike[str] | Sequence[str | PathLike[str]]) -> list[Path]:
    """Give one file, or several, as a list."""
    return [Path(one) for one in ([given] if isinstance(given, str | PathLike) else given)]
