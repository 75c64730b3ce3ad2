"""Runs of scenarios: made, explained, compared, and joined with logs."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from mptcplab._core import Error
from mptcplab.engines import DEFAULT, named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from mptcplab.results.annotating import Annotated
    from mptcplab.results.comparison import Comparison
    from mptcplab.results.differences.differences import Comparable, Differences
    from mptcplab.results.run import Run
    from mptcplab.results.why import Why
    from mptcplab.scenario.settings import Settings


def run(
    scenario: str | PathLike[str] | dict[str, Any],
    *,
    seed: int = 1,
    out: str | PathLike[str] | None = None,
    settings: Settings = (),
    baselines: bool | None = None,
    captures: str | None = None,
    force: bool = False,
    engine: str = DEFAULT.name,
) -> Comparison:
    """Run a scenario with MPTCP, and with plain TCP over each of its paths.

    Args:
        scenario: A file, the name of a scenario that ships, or the scenario as a dictionary.
        seed: Random seed. Runs with the same seed have the same radio conditions.
        out: Directory for the run directories. Existing runs of the same scenario, seed and version
            are not run again. If left out, a temporary directory that lives as long as the returned
            object.
        settings: Changes to the scenario: values by key, such as
            ``{"path.wifi.rate": "10 Mbit/s", "transfer.size": 10**6}``, or texts such as
            ``["path.wifi.rate=10 Mbit/s"]``. The last of them wins.
        baselines: Whether to run plain TCP as well. If left out, as the scenario says.
        captures: ``"none"``, ``"headers"`` or ``"full"`` (payload too). If left out ``"headers"``
            with ``out`` and ``"none"`` without.
        force: Replace other runs in ``out``.
        engine: ``"simulation"``, in virtual time, or another engine, such as ``"kernel"``, Linux's
            own MPTCP in real time.

    Raises:
        ScenarioError: The scenario is invalid, or not supported by this engine; says where and why.
        Error: Something cannot be written or exists already, or this machine does not allow it.
        KeyboardInterrupt: Ctrl-C; finished runs are kept, the others leave nothing behind.
    """
    from mptcplab.results import record
    from mptcplab.scenario.scenario import load

    chosen = named(engine)
    name, read = load(scenario, settings, "settings")
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
        source: A directory of ``mptcplab run``, a run in it, or the result of ``mptcplab.run``; the
            runs beside it are used as well. Or captures, one or several taken as one.
        tries: Whether to simulate with each remedy: the scenario of a simulated run, with its seed;
            for captures, those of a run of another engine among them, a model of the largest
            transfer.

    Raises:
        Error: There is no run, or it kept no captures to make a model of; a capture cannot be read,
            or shows too little for a model.
        TypeError: ``source`` is none of these.
    """
    from mptcplab.calibration import captured
    from mptcplab.results.comparison import Comparison
    from mptcplab.results.run import Run
    from mptcplab.results.why import Why

    if isinstance(source, Run | Comparison) or (
        isinstance(source, str | PathLike) and Path(source).is_dir()
    ):
        return captured.of_run(source) if tries else Why.of(source)
    if not isinstance(source, str | PathLike | Iterable):
        raise TypeError(
            "source must be a run, a path (str or os.PathLike) or an iterable of paths, "
            f"not {type(source).__name__}"
        )
    # "-" is standard input.
    if isinstance(source, str | PathLike) and str(source) != "-":
        _refuse_what_never_ran(Path(source))
    return captured.why(source, tries=tries)


def _refuse_what_never_ran(source: Path) -> None:
    from mptcplab.results.opening import missing
    from mptcplab.scenario.library import names

    there = source.exists()
    if source.suffix == ".toml" if there else str(source) in names("scenarios"):
        raise Error(
            f"{source} is a scenario, which tells nothing before it is run: mptcplab run "
            f"{shlex.quote(str(source))}, and then mptcplab why of the directory that it prints"
        )
    if not there:
        raise missing(source)


def annotate(
    directory: str | PathLike[str],
    *,
    radio: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    positions: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    path: str | None = None,
    time_zone: str | None = None,
    began: str | None = None,
) -> list[Annotated]:
    """Add logs to a run, by time, as its tables ``radio`` and ``positions``.

    Rows from 10 s before the run to 10 s after it are kept. They replace rows of a file of the same
    name that was added before.

    Args:
        directory: A run, or a directory of ``run``, each of whose runs is then annotated.
        radio: CSV files whose first line names the columns: ``time``, ``path``, and those of the
            table ``radio``.
        positions: GPX files, or files with NMEA 0183 sentences.
        path: Path of rows in ``radio`` without a path.
        time_zone: Zone of times in ``radio`` without a zone.
        began: Start of the run by the clock of the logs, if that differs from the run's clock.

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
        a: A run directory; a directory of ``mptcplab run``, also with ``--repeat``; a campaign's
            directory; a capture, or a directory of captures, which are taken as one. Or the result
            of ``mptcplab.run``, ``sweep`` or ``analyze``, or a list of results of ``run``.
        b: What to compare it with, of the same kind; runs and captures may be mixed.
        level: Level of the confidence intervals.
        progress: Called with the number of metrics over several seeds that are compared, and of
            all.

    Raises:
        Error: A source does not exist or cannot be read, or the two cannot be compared.
    """
    from mptcplab.results.differences.differences import Differences, Side

    return Differences(Side.of(a), Side.of(b), level=level, progress=progress)


def scenario_schema() -> dict[str, Any]:
    """Give the JSON schema of scenarios (draft 7), with which editors complete and check them.

    It has every key, element and policy. Whether they fit together is only checked when a scenario
    is read.
    """
    from mptcplab.scenario.json_schema import scenarios

    return scenarios()


def _files(given: str | PathLike[str] | Sequence[str | PathLike[str]]) -> list[Path]:
    """Give one file, or several, as a list."""
    return [Path(one) for one in ([given] if isinstance(given, str | PathLike) else given)]
