"""``mptcplab schedule``: a campaign by its calendar, for days and weeks."""

from __future__ import annotations

from mptcplab._core import Error
from mptcplab.cli import defaults
from mptcplab.cli.interrupt import by_signals
from mptcplab.cli.parser import Parser, add_server_to, named, server_setting
from mptcplab.cli.say import print_json, print_unit, say, show
from mptcplab.labels import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace, _SubParsersAction
    from datetime import datetime
    from pathlib import Path

    from mptcplab.campaign.definition import Definition
    from mptcplab.campaign.matrix import Matrix
    from mptcplab.schedule.schedule import VisitOutcome

EXAMPLES = """\
examples:
  mptcplab schedule examples/weeks.toml --server 'LINE' --dry-run    how much data, how much time
  mptcplab schedule examples/weeks.toml --server 'LINE'              until it is over, or Ctrl-C
  mptcplab schedule examples/weeks.toml --server 'LINE' --systemd > \
~/.config/systemd/user/mptcplab-schedule.service
"""


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "schedule",
        help="run a campaign by its calendar: visits to real networks for days and weeks",
        description="Runs a campaign at the times of its [[calendar]], within the budgets of its "
        "paths, until it is over. Interrupt or kill it when you like: the same command goes on "
        "from there, and what was missed meanwhile is listed.",
        epilog=EXAMPLES,
    )
    command.add_argument(
        "campaign", type=named, metavar="CAMPAIGN", help="a file with a [[calendar]]"
    )
    add_server_to(command)
    command.add_argument(
        "--dry-run",
        action="store_true",
        help="print how much data and time it needs, and how much of the budgets is left; nothing "
        "is sent",
    )
    command.add_argument(
        "--systemd",
        action="store_true",
        help="print a unit for systemd --user that runs it from here, and run nothing",
    )
    output = command.add_argument_group("output")
    output.add_argument(
        "--out", type=named, metavar="DIR", help="output directory (default: campaigns/CAMPAIGN)"
    )
    output.add_argument(
        "--no-report",
        action="store_true",
        help="leave out the page, DIR/report.html, which is updated after each visit",
    )
    output.add_argument(
        "--json",
        action="store_true",
        help="print what --dry-run says, the unit, or the summary, as JSON",
    )
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    from pathlib import Path

    from mptcplab.campaign import definition
    from mptcplab.schedule import schedule

    read = definition.load(options.campaign, server_setting(options))
    out = Path(options.out or defaults.folder("campaigns", read.name))
    if options.systemd:
        return _print_unit(read, options)
    if options.dry_run:
        return _print_dry_run(read, out, options)
    if not options.no_report:
        from mptcplab.charts.html import refuse_foreign

        refuse_foreign(out / "report.html")

    def begin(matrix: Matrix) -> None:
        first, last = (one.due for one in (matrix.visits[0], matrix.visits[-1]))
        say(
            f"{out}: {text.plural(len(matrix.visits), 'visit')}, {_at(first, read)} to "
            f"{_at(last, read)} ({read.zone.key})"
        )

    def report(outcome: VisitOutcome) -> None:
        say(_line(outcome, read))
        if not options.no_report:
            _report(outcome.directory)

    def warn(message: str) -> None:
        say(f"mptcplab: warning: {message}")

    with by_signals():
        try:
            campaign = schedule.run(read, out, begin=begin, report=report, warn=warn)
        except KeyboardInterrupt:
            if not options.no_report:
                # It may have been in the middle of that.
                _report(out)
            say("mptcplab: interrupted; the same command goes on from there")
            raise
    if options.json:
        from mptcplab.results.overview import document

        print_json(document(campaign))
    else:
        from mptcplab.cli.summary.campaign import print_campaign

        print_campaign(campaign)
        if not options.no_report and campaign.runs.height:
            show(f"{out / 'report.html'} shows it")
    return 0


def _report(directory: Path) -> None:
    """Renew the page; before the first run there is nothing to show."""
    from mptcplab.results.campaign import Campaign

    try:
        campaign = Campaign(directory)
        if campaign.runs.height:
            campaign.report()
    except Error as error:
        # Nothing that is drawn is worth a visit.
        say(f"mptcplab: {error}")


def _line(outcome: VisitOutcome, read: Definition) -> str:
    line = f"visit {outcome.visit.number} of {outcome.visits}, {_at(outcome.visit.due, read)}: "
    if outcome.state.done:
        used = outcome.state.attempts[-1].used_bytes
        took = [f"{path} {text.size(count)}" for path, count in used.items() if count is not None]
        line += ", ".join(["done", *took])
    else:
        line += f"missed ({outcome.state.reason}): {outcome.state.why}"
    if outcome.failed:
        reasons = "; ".join(dict.fromkeys(outcome.failed))
        line += f"; {len(outcome.failed)} of {text.plural(outcome.runs, 'run')} failed: {reasons}"
    if outcome.following is not None:
        line += f"; next {_at(outcome.following.due, read)}"
    return line


def _at(moment: datetime, read: Definition) -> str:
    return moment.astimezone(read.zone).strftime("%a %Y-%m-%d %H:%M")


def _print_unit(read: Definition, options: Namespace) -> int:
    from mptcplab.schedule.unit import unit

    arguments = [options.campaign]
    for name in ("server", "token", "out"):
        if getattr(options, name) is not None:
            arguments += [f"--{name}", getattr(options, name)]
    if options.no_report:
        arguments.append("--no-report")
    print_unit(unit(read.name, arguments), json=options.json)
    return 0


def _print_dry_run(read: Definition, out: Path, options: Namespace) -> int:
    from datetime import UTC, datetime

    from mptcplab.schedule.forecast import forecast

    found = forecast(read, out, datetime.now(UTC))
    if options.json:
        print_json(found.document())
    else:
        from mptcplab.cli.summary.forecast import print_forecast

        print_forecast(found)
    return 0
