"""``mptcplab study``: the papers' experiments, run again, beside what was printed."""

from __future__ import annotations

from mptcplab.api.campaigns import run_study
from mptcplab.cli import defaults
from mptcplab.cli.parser import Parser, add_engine_to, named, number_above_0
from mptcplab.cli.say import print_json, say
from mptcplab.engines import named as named_engine
from mptcplab.labels import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace, _SubParsersAction
    from collections.abc import Callable
    from typing import Any

    from mptcplab.campaign.sweep import Progress
    from mptcplab.study.experiment import Experiment

EXAMPLES = """\
examples:
  mptcplab study                              the experiments, a line each
  mptcplab study eight-subflows --quick       one of them, with fewer runs
  mptcplab study all --out study              all of them; the same again goes on where it stopped
  mptcplab study all --era current            today's stack beside the papers'
  mptcplab study all --engine kernel --quick  those that Linux itself can run, in real time
"""
# Some runs failed: not some findings, which are as they are.
FAILED = 1


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "study",
        help="run the papers' experiments again, beside what they printed",
        description="Lists the experiments of five papers on MPTCP over wireless networks, or runs "
        "them as campaigns, and puts every printed number beside ours. Interrupt it when you "
        "like: the same command goes on from there.",
        epilog=EXAMPLES,
    )
    command.add_argument(
        "names", nargs="*", type=named, metavar="NAME", help="experiments to run, or all"
    )
    command.add_argument("--quick", action="store_true", help="fewer repetitions: some minutes")
    add_engine_to(command)
    command.add_argument(
        "--era",
        choices=["2012", "current"],
        default="2012",
        help="2012: the papers' stack (default); current: today's beside it",
    )
    command.add_argument(
        "--jobs",
        type=number_above_0,
        metavar="N",
        help="runs at once (default: one per core, or MPTCPLAB_JOBS)",
    )
    command.add_argument(
        "--out",
        type=named,
        metavar="DIR",
        help="output directory (default: study)",
    )
    command.add_argument("--json", action="store_true", help="print the results as JSON")
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    if not options.names:
        from mptcplab.study.experiments import experiments

        _list(list(experiments().values()), as_json=options.json)
        return 0
    options.out = options.out or str(defaults.folder("study"))
    options.engine = options.engine or defaults.engine()
    results = _study(options)
    if options.json:
        print_json(results)
    else:
        from mptcplab.cli.summary.study import print_study

        print_study(results, options.out)
    return FAILED if any(one["failed"] for one in results["experiments"]) else 0


def _study(options: Namespace) -> dict[str, Any]:
    from mptcplab.cli.progress import Sweeping

    lines: list[Sweeping] = []

    def begin(name: str, runs: int) -> Callable[[Progress], None]:
        for line in lines:
            line.clear()
        say(f"{name}: {text.plural(runs, 'run')}")
        lines.append(Sweeping(name))
        return lines[-1]

    try:
        return run_study(
            options.names,
            out=options.out,
            quick=options.quick,
            engine=options.engine,
            era=options.era,
            jobs=defaults.jobs_of(named_engine(options.engine), options.jobs),
            begin=begin,
        )
    except KeyboardInterrupt:
        for line in lines:
            line.clear()
        say("mptcplab: interrupted; what is done is kept: the same command goes on from there")
        raise
    finally:
        for line in lines:
            line.clear()


def _list(experiments: list[Experiment], *, as_json: bool) -> None:
    from mptcplab.cli.summary.listing import entry, listing

    if as_json:
        print_json([entry("experiment", one.name, one.title) for one in experiments])
        return
    listing(
        "experiment",
        [one.name for one in experiments],
        [one.title for one in experiments],
        "mptcplab study NAME runs it, mptcplab study all runs all of them",
    )
