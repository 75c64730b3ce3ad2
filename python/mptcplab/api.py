"""What Python programs call, with slow modules left until they do."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path

from mptcplab._core import Error
from mptcplab.charts.paper import check_installed
from mptcplab.engines import DEFAULT, named
from mptcplab.results import pages
from mptcplab.surroundings import moments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from mptcplab.analysis import Analysis
    from mptcplab.artifact.artifact import Artifact
    from mptcplab.artifact.verify import Verdict
    from mptcplab.calibration.calibration import Calibration
    from mptcplab.campaign.sweep import Progress
    from mptcplab.charts.paper.choice import Kind
    from mptcplab.charts.paper.paper import Paper
    from mptcplab.charts.sources import Source
    from mptcplab.machine.check import Check
    from mptcplab.probing.probes import Probes
    from mptcplab.recordings.importing import Imported
    from mptcplab.results.annotating import Annotated
    from mptcplab.results.campaign import Campaign
    from mptcplab.results.comparison import Comparison
    from mptcplab.results.differences.differences import Comparable, Differences
    from mptcplab.results.run import Run
    from mptcplab.results.why import Why
    from mptcplab.schedule.schedule import Told
    from mptcplab.study.running import Begin


def analyze(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]],
    *,
    bin_seconds: float = 1.0,
    smoothing_seconds: float = 5.0,
    trim_seconds: float = 5.0,
    samples: bool = True,
    from_seconds: float = 0.0,
    to_seconds: float | None = None,
    scenario: str | PathLike[str] | dict[str, Any] | None = None,
    filter_by: str | None = None,
    connection: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Analysis:
    """Measure what is in captures of one network, given together as one.

    Args:
        paths: One or more files, pcap or pcapng, also compressed by gzip or zstd. Give the
            captures of both ends of a transfer, or one per interface, together. ``"-"`` is
            standard input.
        bin_seconds: Length of the bins of ``throughput``.
        smoothing_seconds: Window of the moving mean under the coefficient of variation.
        trim_seconds: Start of a transfer that the coefficient of variation leaves out.
        samples: Whether to fill ``segments``, ``rtt``, ``reordering``, ``responses`` and
            ``window``, which have a row per packet or sample and take memory accordingly.
        from_seconds: Where to begin, after the first packet of the captures.
        to_seconds: Where to end, after that packet; ``None``: with the captures.
        scenario: A file, the name of a scenario that ships, or one as a dictionary, whose
            ``transfer`` says which application it was: how it was served is measured, too.
        filter_by: Only connections that meet it, such as ``"port=443,protocol=mptcp"``.
        connection: Only this one.
        progress: Called now and then with the bytes read and, where known, the bytes in all.

    Raises:
        CaptureError: A capture cannot be read. One that ends in the middle is no error: what
            came before is analysed, ``complete`` is false, and ``diagnostics`` says so.
        ScenarioError: The scenario cannot be; says where and why.
        Error: An argument cannot be, or no connection meets ``filter_by``, or there is no such.
        TypeError: ``paths`` is neither a path nor an iterable of paths.
        KeyboardInterrupt: Ctrl-C; also while standard input is silent.
    """
    from mptcplab.analysis import Analysis, measure
    from mptcplab.results.chosen import Chosen

    transfer = None
    if scenario is not None:
        from mptcplab.scenario.plan import planned_transfer
        from mptcplab.scenario.scenario import load

        transfer = planned_transfer(load(scenario)[1].transfer)
    tables = measure(
        paths,
        bin_seconds=bin_seconds,
        smoothing_seconds=smoothing_seconds,
        trim_seconds=trim_seconds,
        samples=samples,
        from_seconds=from_seconds,
        to_seconds=to_seconds,
        transfer=transfer,
        progress=progress,
    )
    return Analysis(Chosen.narrowed(tables, filter_by, connection))


def why(source: str | PathLike[str] | Run | Comparison, *, tries: bool = False) -> Why:
    """Say why a run was slow, with what the runs beside it tell, and what would help.

    Args:
        source: A directory that ``mptcplab run`` left, or a run in it; or what ``mptcplab.run``
            gave. Of captures, ``mptcplab.analyze(...).findings`` says why.
        tries: Whether to simulate the run's scenario with each remedy, with the run's seed.

    Raises:
        Error: There is no run, or only those of a simulation could be tried.
    """
    from mptcplab.results.why import Why

    return Why.of(source, tries=tries)


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
    from mptcplab.results.record import OwnedDirectory

    matrix = Matrix(sheet.load(campaign))
    if out is not None:
        return perform(matrix, Path(out), jobs=jobs, dask=dask, tell=progress)
    owned = OwnedDirectory()
    made = perform(matrix, owned.directory, jobs=jobs, dask=dask, tell=progress)
    made.owned = owned
    return made


def run_schedule(
    campaign: str | PathLike[str] | dict[str, Any],
    *,
    out: str | PathLike[str],
    server: str | None = None,
    progress: Callable[[Told], None] = lambda _: None,
) -> Campaign:
    """Run a campaign by its calendar until it is over: that may take weeks.

    Args:
        campaign: A file, the name of a campaign that ships, or the campaign as a dictionary.
        out: Where it goes; one that was begun there goes on.
        server: The line that ``mptcplab serve`` prints, as ``server`` in ``[field]``.
        progress: Told what became of each visit.

    Raises:
        ScenarioError: The campaign cannot be; says where and why.
        Error: Something cannot be written, another schedule writes there, or it is another one.
        KeyboardInterrupt: Ctrl-C; the same call goes on from there.
    """
    from mptcplab.campaign import sheet
    from mptcplab.schedule.schedule import run

    settings = () if server is None else (f"field.server={server}",)
    return run(sheet.load(campaign, settings), Path(out), tell=progress)


def doctor_field(host: str, interfaces: Sequence[str] = (), *, port: int = 7443) -> list[Check]:
    """Look at what runs over real networks to a server need of this host; changes nothing.

    Args:
        host: The server, by name or address.
        interfaces: Those of the paths, the first path's first; if left out all that are up and
            have an address.
        port: The server's.

    Raises:
        Error: There is no such host, or the kernel cannot be asked.
    """
    from mptcplab.engines.field import uplinks

    return uplinks.examine(list(interfaces) or uplinks.interfaces(), host, port).checks


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


def import_links(
    files: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    out: str | PathLike[str],
    format: str | None = None,  # noqa: A002 - as the command calls it
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, str] | None = None,
    time_zone: str | None = None,
    unaligned: bool = False,
    start_s: float = 0,
    end_s: float | None = None,
    step_s: float = 1,
    rate: str = "20 Mbit/s",
    delay: str = "20 ms",
    queue: str = "200 ms",
    licence: str | None = None,
) -> Imported:
    """Make links, and a scenario over them, of recordings of real networks.

    Args:
        files: Recordings; ``NAME=FILE`` names the path, ``NAME/up=FILE`` its direction, too.
        out: The directory that takes everything.
        format: Name of the format, where the files do not show it.
        columns: Of any CSV, the column of each quantity: ``{"time": "when", "down_kbps": "rx"}``.
        where: What columns of rows must hold that count.
        time_zone: The zone of times that name none (default: UTC).
        unaligned: Begin each recording at its start, whatever its clock.
        start_s: Seconds of the span in common that are left out.
        end_s: Seconds from the beginning of the whole at which it ends.
        step_s: Make one row of values that are closer than this.
        rate: The rate of directions that were not measured.
        delay: The delay each way where none was measured.
        queue: What queues hold.
        licence: The recordings' licence, for the origin of the links.

    Raises:
        Error: A file cannot be read or is malformed, or the files do not go together; says where,
            and what to do. Nothing is written then.
    """
    from mptcplab.recordings.importing import Wishes, import_recordings

    wishes = Wishes(
        format=format,
        columns=columns or {},
        where=where or {},
        zone=moments.zone(time_zone),
        licence=licence,
        unaligned=unaligned,
        start_s=start_s,
        end_s=end_s,
        step_s=step_s,
        rate=rate,
        delay=delay,
        queue=queue,
    )
    words = [files] if isinstance(files, str | PathLike) else files
    return import_recordings([os.fspath(word) for word in words], Path(out), wishes)


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


def write_report(
    source: Source | Sequence[Source],
    out: str | PathLike[str] | None = None,
    *,
    connection: int | None = None,
    run: str | None = None,
    filter_by: str | None = None,
) -> Path:
    """Write the page of a run, with its baselines where they are there, of a campaign, or captures.

    Args:
        source: A directory that ``mptcplab run`` or ``mptcplab sweep`` left, or one of the run
            directories in it; or what ``mptcplab.run``, ``mptcplab.open_campaign`` or
            ``mptcplab.analyze`` gave. Several of them, but for campaigns, are laid over each other,
            and so are the seeds of ``mptcplab run --repeat``.
        out: The file. If left out, ``report.html`` in the directory of a comparison or campaign or
            of repeated runs, ``NAME.html`` beside that of a run, ``reports/KEY.html`` in a
            campaign's for one of its runs, and ``runs.html`` here for several.
        connection: Which connection; if left out the one that moved most bytes.
        filter_by: Which connections are meant, such as ``"port=443,protocol=mptcp"``; of several
            the one that moved most bytes is drawn.
        run: Key of a run of the campaign: the page of this run. It is repeated for that, unless
            its directory was kept.

    Raises:
        Error: The directory holds no run, there is no such connection or run, or the page cannot
            be written; also where the file is there and is no page of mptcplab.
    """
    from mptcplab.charts.html import refuse_foreign, write
    from mptcplab.charts.sources import one_of, several_of
    from mptcplab.results.campaign import Campaign

    several, beside = several_of(source)
    if several is not None:
        if (run, connection, filter_by) != (None, None, None):
            raise Error("of several runs there is no single run or connection to choose")
        from mptcplab.charts.several import describe as describe_several

        target = Path(out) if out is not None else beside
        refuse_foreign(target)
        write(describe_several(several), target)
        return target
    opened, page = one_of(source)  # type: ignore[arg-type]
    if run is not None:
        if not isinstance(opened, Campaign):
            raise Error(f"{source} is no campaign: there is no run {run} to choose")
        from mptcplab.campaign.repeat import again
        from mptcplab.charts.campaign.page import PAGES

        page = opened.directory / PAGES / f"{run}.html"
        opened = again(opened, run)
    if out is None:
        if page is None:
            raise Error("what is measured in captures has no directory: say where (out)")
        out = page
    target = Path(out)
    refuse_foreign(target)
    if isinstance(opened, Campaign):
        if (connection, filter_by) != (None, None):
            raise Error(f"{opened.directory} is a campaign: its page has no single connection")
        from mptcplab.charts.campaign.page import describe as describe_campaign

        write(describe_campaign(opened), target)
    else:
        from mptcplab.charts.run.page import describe
        from mptcplab.charts.run.subject import Subject

        write(describe(Subject.of(opened, connection, filter_by)), target)
    return target


def write_issue(
    source: str | PathLike[str] | Run | Comparison, out: str | PathLike[str] | None = None
) -> Path:
    """Write a small bundle for kernel maintainers: scenario, anonymised headers, state.

    Args:
        source: A run, or what ``mptcplab run`` left: then its run with MPTCP.
        out: The file, a zip. If left out, ``NAME-issue.zip`` beside the directory of the run.

    Raises:
        Error: It is no run, it has no captures, or the file cannot be written.
    """
    from mptcplab.artifact.issue import bundle

    return bundle(source, None if out is None else Path(out))


def figure(
    kind: str,
    source: Source,
    out: str | PathLike[str] | None = None,
    *,
    size: tuple[float, float] | None = None,
    title: str | None = None,
    by: str | Sequence[str] = (),
    where: Mapping[str, object] | None = None,
    value: str | None = None,
    paths: str | Sequence[str] = (),
    connection: int | None = None,
) -> Paper:
    """Draw a static figure of a run, of captures, or of a campaign.

    Args:
        kind: What is drawn; ``mptcplab figure --list`` says what there is.
        source: A run directory, what ``mptcplab run`` left, a campaign's directory, a capture, or a
            directory of captures that are taken as one; or what ``mptcplab.run``, ``sweep`` or
            ``analyze`` gave.
        out: A file that ends in ``.pdf``, ``.svg`` or ``.png``. If left out, nothing is written.
        size: Width and height in inches.
        title: Stands above; papers have captions instead.
        by: Axes of the campaign to split by: the first along the figure, others side by side.
        where: Values of axes; runs with others are left out.
        value: The figure of runs that is drawn, a column of ``Campaign.runs``.
        paths: What is drawn: ``"mptcp"``, and names of paths for plain TCP over them.
        connection: Which connection of captures; if left out the one that moved most bytes.

    Returns:
        A figure of matplotlib, with ``caption``: what is drawn, and how it was computed.

    Raises:
        Error: There is no such kind, the source has nothing for it, or it cannot be written.
    """
    check_installed()
    from mptcplab.charts.paper.choice import Choice
    from mptcplab.charts.paper.kinds import drawn, find
    from mptcplab.charts.paper.paper import format_of
    from mptcplab.charts.sources import run_or_campaign

    if out is not None:
        format_of(Path(out))
    drawn_from, of = run_or_campaign(source)
    chosen = Choice(
        _listed(by),
        {axis: str(one) for axis, one in (where or {}).items()},
        value,
        _listed(paths),
        connection,
    )
    made = drawn(find(kind, of), drawn_from, chosen, size=size, title=title)
    if out is not None:
        made.save(out)
    return made


def figure_kinds() -> list[Kind]:
    """List the kinds of figures."""
    check_installed()
    from mptcplab.charts.paper.kinds import kinds

    return kinds()


def package(
    source: str | PathLike[str] | Run | Comparison | Campaign,
    out: str | PathLike[str],
    *,
    tolerance_percent: float | None = None,
) -> Artifact:
    """Make one file of runs: scenarios, random seeds, and the metrics that came of them.

    Args:
        source: A run directory, what ``mptcplab run`` left (also with ``--repeat``), or a
            campaign's directory; or what ``mptcplab.run`` or ``sweep`` gave.
        out: The zip file; an earlier one is replaced.
        tolerance_percent: How far metrics may be from what they were, of their value; if left out
            0 for simulated runs, which are the same each time, and 15 for those in real time.

    Raises:
        Error: There are no such runs, they cannot be run again, or the file cannot be written.
    """
    from mptcplab.artifact.package import package as made

    return made(source, out, tolerance_percent=tolerance_percent)


def verify(
    file: str | PathLike[str],
    *,
    jobs: int | None = None,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Verdict:
    """Run again what :func:`package` put into a file, and compare the metrics.

    In real time only the throughput is compared: other metrics depend on single events.

    Args:
        file: What ``mptcplab package`` made.
        jobs: How many runs at once; if left out one per core, or in real time one.
        progress: Told how many runs are done, and of how many.

    Raises:
        Error: It is no artifact, its engine cannot run it here, or a scenario in it cannot be.
        KeyboardInterrupt: Ctrl-C; nothing is kept.
    """
    from mptcplab.artifact.verify import verify as verified

    return verified(file, jobs=jobs, progress=progress)


def scenario_schema() -> dict[str, Any]:
    """Give the JSON schema of scenarios (draft 7), by which editors complete and check them.

    It knows every key, element and policy; whether they go together, reading alone tells.
    """
    from mptcplab.scenario.json_schema import scenarios

    return scenarios()


def _files(given: str | PathLike[str] | Sequence[str | PathLike[str]]) -> list[Path]:
    """Give one file, or several, as a list."""
    return [Path(one) for one in ([given] if isinstance(given, str | PathLike) else given)]


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _html(source: Any) -> str:
    from mptcplab.charts.notebook import of

    return of(source)


pages.write, pages.draw, pages.html = write_report, figure, _html


def probe(
    line: str,
    *,
    paths: Sequence[str] = (),
    token: str | None = None,
    idle_seconds: float = 30.0,
    begin: Callable[[str, float], None] | None = None,
) -> Probes:
    """Find out what stands between this host and a server.

    Args:
        line: The line that ``mptcplab serve`` prints.
        paths: Interfaces or addresses of this host; if left out, the routes choose.
        token: The file with the server's token; if left out ``~/.config/mptcplab/token``.
        idle_seconds: How long connections are silent at most, up to an hour; 0 leaves that out.
        begin: Called before each path with its name and about how many seconds it will take.

    Raises:
        Error: The server is not there, is another one, or refuses.
    """
    from mptcplab.probing.probes import probe_paths

    return probe_paths(line, paths, token, idle_seconds, begin)
