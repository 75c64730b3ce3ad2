"""``mptcplab calibrate``: a link of which plain TCP shows measured figures."""

from __future__ import annotations

import sys

from mptcplab.cli.interrupt import by_signals
from mptcplab.cli.parser import Parser, named, number_above_0
from mptcplab.cli.say import print_json, say
from mptcplab.labels import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace, _SubParsersAction

    from mptcplab.calibration.calibration import Calibration

EXAMPLES = """\
examples:
  mptcplab calibrate client.pcapng server.pcapng --out my-wifi.toml
  mptcplab calibrate --row umass-tr/II/boston-verizon-lte
  mptcplab calibrate --all --out links                   a link for each row of the papers
  then, in a scenario:  [path.wifi]  profile = "my-wifi.toml"
"""
MISSED = 1


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "calibrate",
        help="fit a link to measured figures, from a capture of your own or a paper",
        description="Fits a link so that simulated plain TCP over it shows what was measured: "
        "throughput, round-trip times, loss. The figures come from a capture of plain TCP, which "
        "makes a model of your own network, or from the papers' tables. If the link misses a "
        "figure, it is written all the same, with a note in it, and the exit status is 1.",
        epilog=EXAMPLES,
    )
    command.add_argument(
        "captures",
        nargs="*",
        type=named,
        metavar="CAPTURE",
        help="captures of one transfer, taken as one: at the end that sent the data, or at both",
    )
    command.add_argument("--row", type=named, metavar="ID", help="a row of the papers' tables")
    command.add_argument(
        "--all", action="store_true", help="every row with figures of a single path"
    )
    command.add_argument(
        "--targets", type=named, metavar="FILE", help="a table of rows other than the papers'"
    )
    command.add_argument(
        "--controller",
        type=named,
        metavar="NAME",
        help="congestion control of the captured transfer's sender (default: the one that its "
        "run directory names, or else cubic-linux)",
    )
    command.add_argument(
        "--era",
        type=named,
        metavar="ERA",
        help="the sender's TCP: 2012 or current (default: as its run says, or else current)",
    )
    command.add_argument(
        "--runs",
        type=number_above_0,
        default=12,
        metavar="N",
        help="simulated runs per candidate link (default: 12)",
    )
    command.add_argument(
        "--out",
        type=named,
        metavar="FILE",
        help="file for the link, with --all a directory (default: standard output)",
    )
    command.add_argument("--json", action="store_true", help="print everything as JSON")
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    from pathlib import Path

    from mptcplab._core import Error

    wanted = [bool(options.captures), options.row is not None, options.all]
    if sum(wanted) != 1:
        raise Error("calibrate takes captures, --row ID or --all: one of them")
    if options.out is not None and not options.all and Path(options.out).is_dir():
        raise Error(f"cannot write {options.out}: it is a directory")
    made: list[Calibration] = []
    with by_signals():
        try:
            for row in _rows(options):
                made.append(_calibrate(options, row))
        except KeyboardInterrupt:
            saved = text.plural(len(made), "link") if made and options.out else "nothing"
            say(f"mptcplab: interrupted; {saved} kept")
            raise
    if options.json:
        documents = [one.document() for one in made]
        print_json(documents if options.all else documents[0])
    else:
        from mptcplab.cli.summary.calibration import print_calibration

        for one in made:
            print_calibration(one)
            if options.out is None:
                sys.stdout.write(f"\n{one.toml}")
    return MISSED if any(one.missed for one in made) else 0


def _rows(options: Namespace) -> list[str | None]:
    if not options.all:
        return [options.row]
    from mptcplab.calibration import rows

    return list(rows.subjects(options.targets))


def _calibrate(options: Namespace, row: str | None) -> Calibration:
    from pathlib import Path

    from mptcplab.api.links import calibrate
    from mptcplab.calibration.subject import profile_name
    from mptcplab.cli.progress import Calibrating

    out = options.out
    if out is not None and options.all:
        out = Path(out) / f"{profile_name(str(row))}.toml"
    with Calibrating(row or options.captures[0]) as progress:
        return calibrate(
            options.captures or None,
            row=row,
            out=out,
            targets=options.targets,
            controller=options.controller,
            era=options.era,
            runs=options.runs,
            progress=progress,
        )
