"""``mptcplab probe``: what stands between this host and a server."""

from __future__ import annotations

from mptcplab import Error
from mptcplab.cli.parser import Parser, named, number_above_0, seconds
from mptcplab.cli.say import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace, _SubParsersAction

    from mptcplab.probe import Row

EXAMPLES = """\
examples:
  head -c 24 /dev/urandom | base64 > token           once, and copied to both hosts
  mptcplab probe --serve --token token               at the server
  mptcplab probe server.example --token token --path wlan0 --path wwan0
"""


def add_to(commands: _SubParsersAction[Parser]) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "probe",
        help="find out what stands between this host and a server",
        description="Finds out what networks do to connections: which options, windows and packets "
        "get through, what is\ntranslated, and what is forgotten. Needs no privileges.",
        epilog=EXAMPLES,
    )
    command.add_argument("host", nargs="?", type=named, metavar="HOST", help="the server")
    command.add_argument("--serve", action="store_true", help="answer probes until Ctrl-C")
    command.add_argument(
        "--token", required=True, type=named, metavar="FILE", help="a secret that both ends have"
    )
    command.add_argument(
        "--path",
        action="append",
        default=[],
        type=named,
        metavar="PATH",
        help="an interface or an address of this host; may be repeated (default: by routes)",
    )
    command.add_argument(
        "--port",
        action="append",
        default=[],
        type=number_above_0,
        metavar="PORT",
        help="the server's port, after which MPTCP has its own; further ones are compared with it "
        "(default: 8484)",
    )
    command.add_argument(
        "--idle",
        type=seconds,
        default=30.0,
        metavar="SECONDS",
        help="how long connections are silent at most; 0: leave it out (default: 30)",
    )
    output = command.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print the table probes as JSON")
    output.add_argument(
        "--scenario", action="store_true", help="print what was found as a scenario"
    )
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Run the command and return its exit status."""
    from mptcplab.probe import protocol

    if options.serve == bool(options.host):
        raise Error("name either a HOST to probe or --serve; see mptcplab probe --help")
    token = protocol.read_token(options.token)
    first, *others = options.port or [protocol.PORT]
    if options.serve:
        from mptcplab.probe import serve

        serve(
            [first, *others],
            token,
            ready=lambda: say(f"mptcplab: answers probes at port {first}; Ctrl-C ends it"),
        )
    from mptcplab.probe import Way, probe

    rows: list[Row] = []
    ways = [Way(path, options.host, first, token) for path in options.path or [""]]
    for at, way in enumerate(ways):
        about = options.idle + 20
        say(f"mptcplab: probing {way.name or 'the default route'}; about {about:.0f} s")
        beside = ways[at - 1] if len(ways) > 1 else None
        rows += probe(way, beside=beside, other_ports=others, idle_seconds=options.idle)
    _print(rows, options)
    return 0


def _print(rows: list[Row], options: Namespace) -> None:
    import json

    from mptcplab.probe import scenario

    if options.json:
        print(json.dumps({"probes": [row._asdict() for row in rows]}, indent=1))
    elif options.scenario:
        print(scenario.toml(rows), end="")
    else:
        for path in dict.fromkeys(row.path for row in rows):
            print(path or "default route")
            mine = [row for row in rows if row.path == path]
            for row in mine:
                facts = f"{row.sent} → {row.arrived}" if row.sent or row.arrived else ""
                told = " · ".join(filter(None, (facts, row.evidence)))
                print(f"  {row.probe:20} {row.verdict:8} {told}")
            for what, value in scenario.recommended(mine).items():
                print(f"  recommended {what}: {value}")
