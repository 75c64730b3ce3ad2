"""``mptcplab report``: runs, a campaign, captures or files of other tools in, a page out."""

from __future__ import annotations

from argparse import Namespace, _SubParsersAction
from pathlib import Path

from mptcplab import Error
from mptcplab.cli.browser import add_open_to, open_page
from mptcplab.cli.parser import Parser, add_filter_to, add_part_to, check_part, named, number
from mptcplab.cli.say import print_json, remark, show_path

# So many files that are not on the page are named.
NAMED = 3
EXAMPLES = """\
examples:
  mptcplab report runs/wifi-lte-1                   the run with MPTCP beside its baselines
  mptcplab report runs/wifi-lte-1/tcp-lte           one run alone: runs/wifi-lte-1/tcp-lte.html
  mptcplab report runs/A runs/B runs/C              laid over each other: runs.html
  mptcplab report runs/wifi-lte-kernel-1 --issue    a bundle for kernel maintainers
  mptcplab report campaigns/size-and-controller     a campaign: distributions, gains, all numbers
  mptcplab report campaigns/size-and-controller --run 14a41698160c69fb
  mptcplab report client.pcapng --from 10 --to 20   ten seconds of a capture: client.html
  mptcplab report drive                             captures, drive logs, qlogs in a directory
  mptcplab analyze client.pcapng --report page.html the same of captures made elsewhere
"""


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "report",
        help="draw a run or a campaign as one HTML page",
        description="Draws a run or a campaign as one HTML file that needs no network: what each "
        "path contributed, charts, events, all numbers, and where it all comes from. mptcplab run "
        "and mptcplab sweep make it by themselves.",
        epilog=EXAMPLES,
    )
    command.add_argument(
        "directory",
        type=named,
        nargs="+",
        metavar="DIR|FILE",
        help="what mptcplab run or mptcplab sweep left, or a run directory in it; or a capture, a "
        "file of another tool, or a directory of such files; several are laid over each other, and "
        "so are the runs of run --repeat",
    )
    command.add_argument(
        "--out",
        type=named,
        metavar="FILE",
        help="the page (default: DIR/report.html; of a single run or file NAME.html; of several "
        "runs.html)",
    )
    command.add_argument(
        "--run",
        dest="key",
        metavar="KEY",
        help="draw one run of the campaign, by the key that its page shows; a simulated run is "
        "repeated for this (default file: DIR/reports/KEY.html)",
    )
    command.add_argument(
        "--connection",
        type=number,
        metavar="N",
        help="draw connection N (default: the one that moved most bytes)",
    )
    add_filter_to(command)
    add_part_to(command)
    command.add_argument(
        "--issue",
        action="store_true",
        help="instead of a page, make a small bundle for a kernel issue: the scenario, packet "
        "headers with other addresses and no payload, the senders' state, and what was measured "
        "(default file: RUN-issue.zip beside the run)",
    )
    add_open_to(command)
    command.add_argument("--json", action="store_true", help="print the name of the file as JSON")
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    from mptcplab.api.pages import write_issue, write_report

    if options.issue:
        _refuse_beside_issue(options)
        _print(write_issue(options.directory[0], options.out), options)
        return 0
    check_part(options)
    for directory in options.directory:
        _tell_left_out(Path(directory))
    several = len(options.directory) > 1
    source = options.directory if several else options.directory[0]
    page = write_report(
        source,
        options.out,
        connection=options.connection,
        run=options.key,
        filter_by=options.filter,
        from_seconds=options.from_seconds,
        to_seconds=options.to_seconds,
    )
    _print(page, options)
    if options.open:
        open_page(page)
    return 0


def _tell_left_out(directory: Path) -> None:
    from mptcplab.results.opening import left_out

    if names := left_out(directory):
        more = f" and {len(names) - NAMED} more" if names[NAMED:] else ""
        remark(
            f"mptcplab: not on the page: {', '.join(names[:NAMED])}{more} in {directory}: no "
            "captures by their names, and of no tool that is known (mptcplab analyze --sources "
            "lists those)"
        )


def _print(written: Path, options: Namespace) -> None:
    if options.json:
        print_json({"file": str(written)})
    else:
        show_path(written)


def _refuse_beside_issue(options: Namespace) -> None:
    """Refuse what a bundle of one run has no use for."""
    given = {
        "--run": options.key,
        "--connection": options.connection,
        "--filter": options.filter,
        "--from": options.from_seconds or None,
        "--to": options.to_seconds,
    }
    for name, value in given.items():
        if value is not None:
            raise Error(f"{name} does not go with --issue, which is about a whole run")
    if options.open:
        raise Error("--open has no page to open with --issue")
    if len(options.directory) > 1:
        raise Error("--issue is about one run")
