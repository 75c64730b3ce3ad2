"""``mptcplab report``: runs or a campaign in, an HTML page out."""

from __future__ import annotations

from argparse import Namespace, _SubParsersAction

from mptcplab.cli.browser import add_open_to, open_page
from mptcplab.cli.parser import Parser, named, number
from mptcplab.cli.say import show_path

EXAMPLES = """\
examples:
  mptcplab report runs/wifi-lte-1                   the run with MPTCP beside its baselines
  mptcplab report runs/wifi-lte-1/tcp-lte           one run alone: runs/wifi-lte-1/tcp-lte.html
  mptcplab report campaigns/size-and-controller     a campaign: distributions, gains, all numbers
  mptcplab report campaigns/size-and-controller --run 14a41698160c69fb
  mptcplab analyze client.pcapng --report page.html the same of captures made elsewhere
"""


def add_to(commands: _SubParsersAction[Parser]) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "report",
        help="draw a run or a campaign as one HTML page",
        description="Draws a run or a campaign as one HTML file that needs no network: what each "
        "path contributed, charts,\nevents, all numbers, and where it all comes from. mptcplab run "
        "and mptcplab sweep make it by themselves.",
        epilog=EXAMPLES,
    )
    command.add_argument(
        "directory",
        type=named,
        metavar="DIR",
        help="what mptcplab run or mptcplab sweep left, or a run directory in it",
    )
    command.add_argument(
        "--out",
        type=named,
        metavar="FILE",
        help="the page (default: DIR/report.html; of a single run DIR.html)",
    )
    command.add_argument(
        "--run",
        dest="key",
        metavar="KEY",
        help="draw a single run of the campaign, as its page names it; a simulated one is repeated "
        "for that (default file: DIR/reports/KEY.html)",
    )
    command.add_argument(
        "--connection",
        type=number,
        metavar="N",
        help="draw connection N (default: the one that moved most bytes)",
    )
    add_open_to(command)
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Run the command and return its exit status."""
    from mptcplab.api import write_report

    page = write_report(
        options.directory, options.out, connection=options.connection, run=options.key
    )
    show_path(page)
    if options.open:
        open_page(page)
    return 0
