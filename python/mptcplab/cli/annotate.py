"""``mptcplab annotate``: a run and logs in; the run with its radio and positions out."""

from __future__ import annotations

from argparse import Namespace, _SubParsersAction

from mptcplab.cli.parser import Parser, named
from mptcplab.cli.say import print_json, show
from mptcplab.labels import text

EXAMPLES = """\
examples:
  mptcplab annotate runs/field-1 --radio modem.csv --positions drive.gpx
  mptcplab annotate runs/field-1/mptcp --positions receiver.nmea
  mptcplab annotate runs/wifi-lte-1 --radio drive.csv --began 2026-11-25T09:30:00Z
"""


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "annotate",
        help="add radio samples and positions from logs to a run",
        description="Joins logs to a run by time: samples of radios as CSV, positions as GPX or "
        "NMEA 0183. They become the tables radio and positions of the run, with its page and its "
        "figures.",
        epilog=EXAMPLES,
    )
    command.add_argument(
        "directory", type=named, metavar="DIR", help="a directory of mptcplab run, or a run in it"
    )
    command.add_argument(
        "--radio",
        action="append",
        default=[],
        type=named,
        metavar="FILE",
        help="CSV whose first line names its columns: time, path, and those of the table radio",
    )
    command.add_argument(
        "--positions",
        action="append",
        default=[],
        type=named,
        metavar="FILE",
        help="GPX, or sentences of NMEA 0183",
    )
    command.add_argument(
        "--path", type=named, metavar="NAME", help="path of rows in --radio without a path"
    )
    command.add_argument(
        "--time-zone",
        type=named,
        metavar="ZONE",
        help="zone of times in --radio without a zone, such as Europe/Paris",
    )
    command.add_argument(
        "--began",
        type=named,
        metavar="TIME",
        help="start of the run by the clock of the logs: needed for simulations, and if clocks "
        "differ",
    )
    command.add_argument("--json", action="store_true", help="print what was added as JSON")
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    from mptcplab.api.runs import annotate

    annotated = annotate(
        options.directory,
        radio=options.radio,
        positions=options.positions,
        path=options.path,
        time_zone=options.time_zone,
        began=options.began,
    )
    if options.json:
        runs = [{"directory": str(one.run.directory), "rows": one.rows} for one in annotated]
        print_json({"runs": runs})
        return 0
    for one in annotated:
        had = ", ".join(
            f"{text.plural(count, 'row')} of {name}" for name, count in one.rows.items() if count
        )
        show(f"{one.run.directory}: {had or 'no row is from its time'}")
    return 0
