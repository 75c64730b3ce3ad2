"""``mptcplab why``: a run in; why it was slow, and what remedies give in a simulation."""

from __future__ import annotations

from mptcplab.cli.parser import Parser, named
from mptcplab.cli.say import print_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace, _SubParsersAction

EXAMPLES = """\
examples:
  mptcplab why runs/wifi-lte-1                      findings, with what plain TCP beside it tells
  mptcplab why runs/wifi-lte-1 --try                what each remedy gives, with the same seed
  mptcplab analyze --why client.pcapng              the same of captures made elsewhere
"""


def add_to(commands: _SubParsersAction[Parser]) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "why",
        help="say why a run was slow, and try what would help",
        description="Says why a run was slow, what that cost, and what would help. --try simulates "
        "the run's scenario again\nwith each remedy, and prints what it really gives.",
        epilog=EXAMPLES,
    )
    command.add_argument(
        "directory", type=named, metavar="DIR", help="what mptcplab run left, or a run in it"
    )
    command.add_argument(
        "--try",
        dest="tries",
        action="store_true",
        help="simulate the scenario with each remedy, with the run's seed",
    )
    command.add_argument("--json", action="store_true", help="print everything as JSON")
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Run the command and return its exit status."""
    from mptcplab.results.why import Why

    why = Why.of(options.directory, tries=options.tries)
    if options.json:
        tried = {} if why.tried_rows is None else {"tried": why.tried_rows}
        print_json({"schema": 1, "findings": why.rows} | tried)
        return 0
    from mptcplab.cli.summary.findings import print_all, print_tried
    from mptcplab.cli.summary.page import Page

    page = Page()
    print_all(page, why.rows, several=len(why.comparison.mptcp.connections) > 1)
    if why.tried_rows is not None:
        print_tried(page, why.tried_rows)
    return 0
