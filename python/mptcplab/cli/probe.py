"""``mptcplab probe``: what stands between this host and a server."""

from __future__ import annotations

from mptcplab import Error
from mptcplab.cli.parser import Parser, named, seconds
from mptcplab.cli.say import print_json, say, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace, _SubParsersAction

    from mptcplab.probing.probes import Probes

EXAMPLES = """\
examples:
  mptcplab serve --name lab.example.org              at the server; prints its line
  mptcplab probe 'LINE' --path wlan0 --path wwan0
  mptcplab probe 'LINE' --idle 4000 --parquet found  time-outs of up to an hour
"""


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "probe",
        help="find the middleboxes between this host and a server",
        description="Finds out what networks do to connections: which options, windows and packets "
        "get through, what is translated, and what is forgotten. Needs no privileges.",
        epilog=EXAMPLES,
    )
    command.add_argument(
        "line", type=named, metavar="LINE", help="the line that mptcplab serve prints"
    )
    command.add_argument(
        "--token",
        type=named,
        metavar="FILE",
        help="the server's token (default: mptcplab/token in $XDG_CONFIG_HOME or ~/.config)",
    )
    command.add_argument(
        "--path",
        action="append",
        default=[],
        type=named,
        metavar="PATH",
        help="an interface or an address of this host; may be repeated (default: as routed)",
    )
    command.add_argument(
        "--idle",
        type=seconds,
        default=30.0,
        metavar="SECONDS",
        help="longest idle time to test, up to 4000; 0: none (default: 30)",
    )
    output = command.add_argument_group("output (default: a line for each probe)")
    output.add_argument("--json", action="store_true", help="print the table probes as JSON")
    output.add_argument("--scenario", action="store_true", help="print the result as a scenario")
    for kind in ("parquet", "csv"):
        output.add_argument(
            f"--{kind}", type=named, metavar="DIR", help=f"write the table to DIR/probes.{kind}"
        )
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    from mptcplab.api.networks import probe

    if options.json and options.scenario:
        raise Error("--json and --scenario: choose one")

    def begin(path: str, about_seconds: float) -> None:
        say(f"mptcplab: probing {path or 'the default route'}; about {about_seconds:.0f} s")

    found = probe(
        options.line,
        paths=options.path,
        token=options.token,
        idle_seconds=options.idle,
        begin=begin,
    )
    if found.unreached:
        say(f"mptcplab: warning: nothing was probed: {found.unreached}")
    for kind in ("parquet", "csv"):
        if directory := getattr(options, kind):
            found.write(directory, kind)
            say(f"mptcplab: wrote {directory}/probes.{kind}")
    if options.json:
        print_json({"probes": found.rows})
    elif options.scenario:
        for line in found.scenario().splitlines():
            show(line)
    elif not (options.parquet or options.csv):
        _print(found)
    return 0


def _print(found: Probes) -> None:
    from mptcplab.probing.row import details

    width = max((len(row["probe"]) for row in found.rows), default=0)
    for path in found.paths:
        show(path or "default route")
        for row in found.rows:
            if row["path"] == path:
                show(f"  {row['probe']:{width}} {row['verdict']:8} {details(row)}")
        for what, value in found.recommended(path).items():
            show(f"  recommended {what}: {value}")
