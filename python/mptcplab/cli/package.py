"""``mptcplab package``: results with what it takes to repeat them, in one file."""

from __future__ import annotations

import shlex
from argparse import Namespace, _SubParsersAction

from mptcplab.cli.parser import Parser, named, percent
from mptcplab.cli.say import print_json, show

EXAMPLES = """\
examples:
  mptcplab package runs/wifi-lte-1                      runs/wifi-lte-1-package.zip
  mptcplab package campaigns/loss --out loss.zip && mptcplab verify loss.zip
"""


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "package",
        help="make one file of results that others can repeat",
        description="Puts scenarios, random seeds, versions and the metrics that came of them into "
        "one zip file, which mptcplab verify runs again anywhere.",
        epilog=EXAMPLES,
    )
    command.add_argument(
        "runs",
        type=named,
        metavar="DIR",
        help="a run directory, what mptcplab run left (also with --repeat), or a campaign's "
        "directory",
    )
    command.add_argument(
        "--out",
        type=named,
        metavar="FILE",
        help="the file, usually named .zip (default: DIR-package.zip, beside the directory)",
    )
    command.add_argument(
        "--tolerance",
        type=percent,
        metavar="PERCENT",
        help="how far metrics may deviate when they are verified (default: 0; in real time 15)",
    )
    command.add_argument("--json", action="store_true", help="print what it holds as JSON")
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    from mptcplab import package
    from mptcplab.artifact.package import default_path

    out = options.out or str(default_path(options.runs))
    artifact = package(options.runs, out, tolerance_percent=options.tolerance)
    if options.json:
        print_json(
            {
                "file": out,
                "runs": len(artifact.runs),
                "scenarios": len(artifact.scenarios),
                "tolerance_percent": artifact.tolerance_percent,
            }
        )
    else:
        runs = "1 run" if len(artifact.runs) == 1 else f"{len(artifact.runs)} runs"
        show(f"{out}: {runs}; mptcplab verify {shlex.quote(out)} repeats them")
    return 0
