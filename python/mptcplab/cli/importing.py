"""``mptcplab links import``: recordings of real networks in, links and a scenario out."""

from __future__ import annotations

from argparse import ArgumentTypeError, _SubParsersAction

from mptcplab.cli.parser import Parser, named, seconds, seconds_above_0
from mptcplab.cli.say import print_json, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from mptcplab.recordings.importing import Imported

EXAMPLES = """\
examples:
  mptcplab links import cable.up cable.down --out cable
  mptcplab links import att=att.csv verizon=vz.csv dish=rm.csv --out drive   what fades together
  mptcplab links import dish=rates.csv dish=ping.txt --out dish              rate and delay of one
  mptcplab links import iperf3.json --delay "30 ms" --out test
  mptcplab links import log.csv --column time=when --column down_kbps=rx --out mine
  then  mptcplab run drive/scenario.toml,  or in a scenario:  [path.att]  profile = "drive/att.toml"
"""


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "links import",
        help="make links and a scenario from recordings of real networks",
        description="Makes links from recordings of real networks: throughput, pings and delays "
        "over time, in the formats of common tools and data sets. Recordings with clock times "
        "are aligned by them and cut to the span that all have in common, so that their paths "
        "fade together. DIR gets a scenario for mptcplab run, a link for each path that says "
        "where it comes from, and the traces. They also say what was assumed, missing or odd.",
        epilog=EXAMPLES,
    )
    command.add_argument(
        "files",
        nargs="*",
        type=named,
        metavar="FILE",
        help=(
            "a recording; NAME=FILE names its path, NAME/up=FILE its direction, too; "
            "several of one name are one path"
        ),
    )
    command.add_argument("--out", type=named, metavar="DIR", help="output directory")
    command.add_argument(
        "--formats",
        action="store_true",
        help="list the supported formats, and how they are used",
    )
    command.add_argument(
        "--as",
        dest="format",
        metavar="NAME",
        help="the format, if it cannot be recognised from the files",
    )
    command.add_argument(
        "--column",
        action="append",
        default=[],
        type=_pair,
        metavar="[PATH/]WHAT=COLUMN",
        help=(
            "for any CSV: the column of a quantity (time, seconds, down_mbps, up_kbps, "
            "rtt_ms, loss_percent…), in the files of one path, or in all; those of one path "
            "go over those of all"
        ),
    )
    command.add_argument(
        "--where",
        action="append",
        default=[],
        type=_pair,
        metavar="COLUMN=VALUE",
        help="only rows of a CSV with this value",
    )
    command.add_argument(
        "--time-zone",
        metavar="ZONE",
        help="zone of times without a zone, such as Europe/Paris (default: UTC)",
    )
    command.add_argument(
        "--unaligned",
        action="store_true",
        help="start each recording at its own beginning, ignoring its clock",
    )
    command.add_argument(
        "--from",
        dest="start_s",
        type=seconds,
        default=0.0,
        metavar="SECONDS",
        help="leave out this much at the beginning",
    )
    command.add_argument(
        "--to",
        dest="end_s",
        type=seconds_above_0,
        metavar="SECONDS",
        help="end this long after the beginning",
    )
    command.add_argument(
        "--step",
        type=seconds_above_0,
        default=1.0,
        metavar="SECONDS",
        help="average values that are closer together than this (default: 1)",
    )
    command.add_argument(
        "--rate",
        default="20 Mbit/s",
        metavar="RATE",
        help='the rate of directions that were not measured (default: "20 Mbit/s")',
    )
    command.add_argument(
        "--delay",
        default="20 ms",
        metavar="TIME",
        help='the delay each way where none was measured (default: "20 ms")',
    )
    command.add_argument(
        "--queue",
        default="200 ms",
        metavar="TIME",
        help='size of queues, which no recording contains (default: "200 ms")',
    )
    command.add_argument(
        "--licence", metavar="TEXT", help="licence of the recordings, for the origin of the links"
    )
    command.add_argument("--json", action="store_true", help="print what was made as JSON")
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    from mptcplab._core import Error
    from mptcplab.api.links import import_links

    if options.formats:
        from mptcplab.cli.summary.listing import list_readers
        from mptcplab.recordings.formats import formats

        parts = {"reads": "read", "empty": "not", "licence": "licence"}
        list_readers(formats().values(), parts, json=options.json)
        return 0
    if not options.files or options.out is None:
        raise Error("links import takes files and --out DIR; --formats lists what is read")
    imported = import_links(
        options.files,
        out=options.out,
        format=options.format,
        columns=dict(options.column),
        where=dict(options.where),
        time_zone=options.time_zone,
        unaligned=options.unaligned,
        start_s=options.start_s,
        end_s=options.end_s,
        step_s=options.step,
        rate=options.rate,
        delay=options.delay,
        queue=options.queue,
        licence=options.licence,
    )
    if options.json:
        print_json(imported.document())
    else:
        _report(imported)
    return 0


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals or not value:
        raise ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return key, value


def _report(imported: Imported) -> None:
    """Print the links, what was assumed, and what is odd in the files."""
    show(f"{imported.scenario}: {imported.window.label}")
    for path in imported.paths:
        names = ", ".join(f"{source.path.name} ({source.format})" for source in path.sources)
        print()
        show(f"  {path.name}: {names}")
        for line in path.measured:
            show(f"    {line}")
        for line in path.assumed:
            show(f"    assumed: {line}")
        for line in path.odd:
            show(f"    · {line}")
    print()
    show(f"mptcplab run {imported.scenario} simulates it")
    logs = [
        f"--{name} {log}"
        for name, log in (("radio", imported.radio), ("positions", imported.positions))
        if log
    ]
    if logs:
        command = f"mptcplab annotate RUN {' '.join(logs)} --began {imported.began}"
        show(f"{command} adds them to a run of it")
