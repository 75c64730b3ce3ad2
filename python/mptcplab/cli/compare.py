"""``mptcplab compare``: two measurements side by side."""

from __future__ import annotations

from argparse import Namespace, _SubParsersAction

from mptcplab.cli.parser import Parser, named
from mptcplab.cli.say import print_json

EXAMPLES = """\
examples:
  mptcplab compare runs/wifi-lte-1 runs/wifi-lte-2              run by run
  mptcplab compare runs/wifi-lte-1/mptcp runs/wifi-lte-1/tcp-wifi
  mptcplab compare runs/wifi-lte runs/wifi-lte-kernel           seed by seed, after --repeat
  mptcplab compare campaigns/lia campaigns/olia                 by configuration and seed
  mptcplab compare before.pcapng after.pcapng                   captures made elsewhere
  mptcplab compare --json A B | jq '.configuration[] | [.key, .a, .b]'
"""


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "compare",
        help="show what differs between two measurements",
        description="Shows what differs between two measurements: first how they were configured, "
        "then what they gave. Runs of several seeds are compared seed by seed, with confidence "
        "intervals and corrected p-values.",
        epilog=EXAMPLES,
    )
    for side in "AB":
        command.add_argument(
            side.lower(),
            type=named,
            metavar=side,
            help="a run directory, what mptcplab run left (also with --repeat), a campaign's "
            "directory, a capture, or a directory of captures that are taken as one",
        )
    command.add_argument("--json", action="store_true", help="print everything as JSON")
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    from mptcplab import compare
    from mptcplab.cli.progress import Counting

    with Counting("comparing", "figure") as progress:
        differences = compare(options.a, options.b, progress=progress)
        # Reads all there is: what cannot be read leaves nothing half printed.
        document = differences.document()
    if options.json:
        print_json(document)
    else:
        from mptcplab.cli.summary.differences import print_differences

        print_differences(differences)
    return 0
