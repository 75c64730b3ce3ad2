"""``mptcplab sweep``: a campaign in, its runs and a summary out."""

from __future__ import annotations

from mptcplab.cli import defaults
from mptcplab.cli.browser import add_open_to, open_page, refuse_without_page
from mptcplab.cli.parser import Parser, named, number_above_0
from mptcplab.cli.say import print_json, remark, say, show
from mptcplab.labels import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace, _SubParsersAction
    from pathlib import Path

    from mptcplab.campaign.matrix import Matrix
    from mptcplab.results.campaign import Campaign

EXAMPLES = """\
examples:
  mptcplab sweep size-and-controller --dry-run      a campaign that ships: mptcplab campaigns
  mptcplab sweep size-and-controller                the same again costs nothing
  mptcplab sweep mine.toml --jobs 4                 a file of your own, four runs at once
  mptcplab sweep mine.toml --dask tcp://head:8786   on the workers of a Dask scheduler
  mptcplab sweep mine.toml --json | jq .configurations
"""
# Some runs failed: not some transfers, which may end as they like.
FAILED = 1


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "sweep",
        help="run a campaign: a scenario many times, with what varies",
        description="Runs a scenario for every combination of what varies, several times each, "
        "beside plain TCP over each path under the same radio conditions. Interrupt it when you "
        "like: the same command goes on from there.",
        epilog=EXAMPLES,
    )
    command.add_argument(
        "campaign", type=named, metavar="CAMPAIGN", help="a file, or the name of one that ships"
    )
    command.add_argument(
        "--dry-run",
        action="store_true",
        help="print how many runs there are and how long they will take; only the few runs needed "
        "for the estimate are made",
    )
    workers = command.add_mutually_exclusive_group()
    workers.add_argument(
        "--jobs",
        type=number_above_0,
        metavar="N",
        help="runs at once (default: one per core, or "
        "MPTCPLAB_JOBS; in real time, with the kernel, one)",
    )
    workers.add_argument(
        "--dask", metavar="ADDRESS", help="run it on the workers of this Dask scheduler"
    )
    output = command.add_argument_group("output")
    output.add_argument(
        "--out",
        type=named,
        metavar="DIR",
        help="output directory; existing runs are kept and not run again (default: "
        "campaigns/CAMPAIGN)",
    )
    output.add_argument(
        "--no-report",
        action="store_true",
        help="leave out the page of the campaign, DIR/report.html; --json does, too",
    )
    add_open_to(output)
    output.add_argument("--json", action="store_true", help="print the summary as JSON")
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    from pathlib import Path

    from mptcplab.campaign import definition
    from mptcplab.campaign.matrix import Matrix

    refuse_without_page(options, "dry_run", "no_report", "json")
    matrix = Matrix(definition.load(options.campaign))
    options.jobs = defaults.jobs_of(matrix.definition.campaign.engine, options.jobs)
    out = Path(options.out or defaults.folder("campaigns", matrix.definition.name))
    if options.dry_run:
        from mptcplab.cli.summary.campaign import plan_document, print_dry_run

        if options.json:
            print_json(plan_document(matrix, out, options.jobs))
        else:
            print_dry_run(matrix, out, options.jobs)
        return 0
    campaign = _sweep(matrix, out, options)
    if options.json:
        _print_json(campaign)
    else:
        from mptcplab.cli.summary.campaign import print_campaign

        print_campaign(campaign)
        if not options.no_report and campaign.runs.height:
            page = campaign.report()
            show(f"{page} shows it")
            if options.open:
                open_page(page)
    return FAILED if campaign.failures.height else 0


def _sweep(matrix: Matrix, out: Path, options: Namespace) -> Campaign:
    from mptcplab.campaign.perform import perform
    from mptcplab.cli.progress import Sweeping

    total = len(matrix.runs)

    def begin(existing: int) -> None:
        runs = text.plural(total, "run")
        if existing:
            done = f"{text.count(existing)} there already" if existing < total else "all there"
            runs += f", {done}"
        remark(f"{out}: {runs}")

    with Sweeping(str(out)) as progress:
        try:
            return perform(
                matrix, out, jobs=options.jobs, dask=options.dask, begin=begin, progress=progress
            )
        except KeyboardInterrupt:
            progress.clear()
            say(
                f"mptcplab: interrupted; {text.count(progress.ended)} of {text.count(total)} runs "
                "are done and kept: the same command goes on from there"
            )
            raise


def _print_json(campaign: Campaign) -> None:
    from mptcplab.results.overview import document

    print_json(document(campaign))
