"""``mptcplab verify``: runs an artifact again, and says what is reproduced."""

from __future__ import annotations

from argparse import Namespace, _SubParsersAction

from mptcplab.cli.parser import Parser, named, number_above_0
from mptcplab.cli.say import print_json, say, show

EXAMPLES = """\
examples:
  mptcplab verify loss.zip
  mptcplab verify --json loss.zip | jq .reproduced
"""
# The most lines that are printed.
SHOWN = 20


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "verify",
        help="repeat the results in a file of mptcplab package",
        description="Repeats the runs in a file that mptcplab package made, and says which "
        "metrics come out the same. Exits with status 1 if any does not.",
        epilog=EXAMPLES,
    )
    command.add_argument("file", type=named, metavar="FILE", help="a file made by mptcplab package")
    command.add_argument(
        "--jobs",
        type=number_above_0,
        metavar="N",
        help="runs at once (default: one per core; in real time 1)",
    )
    command.add_argument("--json", action="store_true", help="print everything as JSON")
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    from mptcplab import verify
    from mptcplab.cli.progress import Counting
    from mptcplab.results.record import build

    with Counting("repeating", "run") as progress:
        verdict = verify(options.file, jobs=options.jobs, progress=progress)
    if options.json:
        print_json(verdict.document())
        return 0 if verdict.reproduced else 1
    artifact, differences = verdict.artifact, verdict.differences
    count = len(artifact.runs)
    failed = len({one.run for one in differences})
    within = f" within {artifact.tolerance_percent:g} %" if artifact.tolerance_percent else ""
    show(f"{artifact.title}: {count - failed} of {count} runs reproduced{within}")
    for one in differences[:SHOWN]:
        show(f"  {one.run}: {one.metric} was {_figure(one.expected)} and is {_figure(one.found)}")
    if len(differences) > SHOWN:
        show(f"  and {len(differences) - SHOWN} more (--json has all)")
    if differences and artifact.build != build():
        say(
            f"mptcplab: the file was made by mptcplab {artifact.version}, build {artifact.build}; "
            "this is another build"
        )
    return 0 if verdict.reproduced else 1


def _figure(value: float | None) -> str:
    return "empty" if value is None else f"{value:.6g}"
