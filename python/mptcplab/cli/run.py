"""``mptcplab run``: a scenario in; run directories and a comparison out."""

from __future__ import annotations

from mptcplab import engines
from mptcplab.cli import defaults
from mptcplab.cli.browser import add_open_to, open_page, refuse_without_page
from mptcplab.cli.interrupt import by_signals
from mptcplab.cli.parser import (
    Parser,
    add_captures_to,
    add_changes_to,
    add_engine_to,
    add_live_to,
    add_server_to,
    named,
    number_above_0,
    server_setting,
)
from mptcplab.cli.say import print_json, remark, say, show
from mptcplab.labels import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace, _SubParsersAction
    from pathlib import Path

    from mptcplab.results.comparison import Comparison
    from mptcplab.scenario.scenario import Scenario

EXAMPLES = """\
examples:
  mptcplab run wifi-lte                             a scenario that ships: mptcplab scenarios
  mptcplab run mine.toml --seed 7                   a file of your own, another random seed
  mptcplab run wifi-lte --set path.wifi.rate=10Mbit/s --set mptcp.congestion_control=olia
  mptcplab run wifi-lte --repeat 10                 seeds 1 to 10, mean and standard deviation
  mptcplab run wifi-lte --engine kernel             the same with Linux's own MPTCP, in real time
  mptcplab run wifi-lte --json | jq .gain
  mptcplab analyze runs/wifi-lte-1/mptcp/*.pcapng   a closer look; Wireshark opens them too
"""


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "run",
        help="run a scenario, with MPTCP and with plain TCP over each path",
        description="Simulates a scenario with MPTCP and, under the same radio conditions, with "
        "plain TCP over each of its paths; or runs it with the Linux kernel, over emulated links. "
        "Each run leaves a directory with its captures and tables.",
        epilog=EXAMPLES,
    )
    command.add_argument(
        "scenario", type=named, metavar="SCENARIO", help="a file, or the name of one that ships"
    )
    add_engine_to(command)
    add_server_to(command)
    add_changes_to(command)
    command.add_argument(
        "--repeat",
        type=number_above_0,
        metavar="N",
        help="run with N seeds from --seed on, each in a directory of its own",
    )
    command.add_argument(
        "--no-baselines",
        action="store_true",
        help="do not run plain TCP",
    )
    output = command.add_argument_group("output")
    output.add_argument(
        "--out",
        type=named,
        metavar="DIR",
        help="directory for the runs, with --repeat one directory per seed in it; runs that are "
        "already there are not run again (default: runs/SCENARIO-SEED, with --repeat "
        "runs/SCENARIO; for a file of your own, or with --set, a hash of the content follows the "
        "name, so each variant gets its own directory; engines other than simulation are named "
        "too, as in wifi-lte-kernel-1)",
    )
    output.add_argument(
        "--force", action="store_true", help="overwrite other runs in that directory"
    )
    add_captures_to(output)
    add_live_to(output)
    output.add_argument(
        "--no-report",
        action="store_true",
        help="leave out the page of the runs, DIR/report.html; --json does, too",
    )
    add_open_to(output)
    output.add_argument("--json", action="store_true", help="print everything as JSON")
    command.set_defaults(run=run)


# Exit status where a transfer did not finish; its run is kept and complete.
UNFINISHED = 1


def run(options: Namespace) -> int:
    from mptcplab.scenario.scenario import load

    refuse_without_page(options, "no_report", "json")
    options.engine = options.engine or defaults.engine()
    options.settings += server_setting(options)
    name, scenario = load(options.scenario, options.settings)
    for one in scenario.remarks:
        remark(f"mptcplab: {one}")
    directory = _directory(name, scenario, options, options.seed)
    pages = directory.parent if options.repeat is not None else directory
    if not (options.json or options.no_report):
        from mptcplab.charts.html import refuse_foreign

        # Better now than after the runs.
        refuse_foreign(pages / "report.html")
    with by_signals():
        comparisons = _compare(name, scenario, options)
    if options.json:
        _print_json(comparisons, options)
    elif options.repeat is None:
        from mptcplab.cli.summary.comparison import print_comparison

        print_comparison(comparisons[0], scenario.title)
    else:
        from mptcplab.cli.summary.comparison import print_repeated

        print_repeated(comparisons, scenario.title)
    if not (options.json or options.no_report):
        _write_page(comparisons, pages, options)
    return 0 if all(one.mptcp.outcome["finished"] for one in comparisons) else UNFINISHED


def _write_page(comparisons: list[Comparison], directory: Path, options: Namespace) -> None:
    if not any(len(one.mptcp.connections) for one in comparisons):
        return
    from mptcplab.api.pages import write_report

    source = comparisons[0] if options.repeat is None else directory
    page = write_report(source, directory / "report.html")
    show(f"{page} shows them")
    if options.open:
        open_page(page)


def _compare(name: str, scenario: Scenario, options: Namespace) -> list[Comparison]:
    from mptcplab.cli.live import Live, names_of
    from mptcplab.cli.progress import Running
    from mptcplab.results.record import with_baselines

    engine = engines.named(options.engine)
    engine.need(scenario)
    for lacking in engine.lacks(scenario):
        say(f"mptcplab: warning: {lacking}")
    comparisons = []
    ended = existing = 0
    seeds = range(options.seed, options.seed + (options.repeat or 1))

    def done(_what: str, existed: bool) -> None:
        nonlocal ended, existing
        progress.clear()
        ended += 1
        existing += existed

    try:
        for seed in seeds:
            out = _directory(name, scenario, options, seed)
            shown: Live | Running = (
                Live(str(out), names_of(scenario, engine))
                if engine.real_time and not options.no_live
                else Running(str(out), engine.counts)
            )
            with shown as progress:
                comparison = with_baselines(
                    name,
                    scenario,
                    out,
                    seed=seed,
                    baselines=False if options.no_baselines else None,
                    captures=options.captures,
                    force=options.force,
                    engine=engine,
                    begin=progress.begin,
                    done=done,
                    watch=progress.watch,
                )
            comparisons.append(comparison)
    except KeyboardInterrupt:
        finished = "1 run is" if ended == 1 else f"{ended} runs are"
        if options.repeat is not None:
            finished = f"{len(comparisons)} of {len(seeds)} seeds are"
        go_on = f"{finished} done and kept: the same command goes on from there"
        left = go_on if ended else "nothing is kept"
        say(f"mptcplab: interrupted; {left}")
        raise
    if existing:
        directory = out.parent if options.repeat is not None else out
        remark(f"{directory}: {text.plural(existing, 'run')} kept from before")
    return comparisons


def _directory(name: str, scenario: Scenario, options: Namespace, seed: int) -> Path:
    """Say where the runs go: whatever is not a scenario as it ships has a name by its content."""
    from pathlib import Path

    if options.out is not None:
        out = Path(options.out)
    else:
        from mptcplab.scenario import library

        if options.settings or options.scenario not in library.names("scenarios"):
            import hashlib

            from mptcplab.scenario import long

            name += "-" + hashlib.sha256(long.write(scenario).encode()).hexdigest()[:6]
        if engines.named(options.engine) is not engines.DEFAULT:
            name += f"-{options.engine}"
        out = defaults.folder("runs", name if options.repeat else f"{name}-{seed}")
    return out / str(seed) if options.repeat else out


def _print_json(comparisons: list[Comparison], options: Namespace) -> None:
    from mptcplab.results.comparison import SCHEMA

    documents = [comparison.document() for comparison in comparisons]
    whole = documents[0] if options.repeat is None else {"schema": SCHEMA, "repeated": documents}
    print_json(whole)
