"""``mptcplab why``: a run or captures in; why it was slow, and what remedies give."""

from __future__ import annotations

from argparse import Namespace, _SubParsersAction

from mptcplab.cli.parser import Parser, named
from mptcplab.cli.say import print_json, warn_if_cut

EXAMPLES = """\
examples:
  mptcplab why runs/wifi-lte-1                      findings, with what plain TCP beside it tells
  mptcplab why runs/wifi-lte-1 --try                what each remedy gives, with the same seed
  mptcplab why --try client.pcapng server.pcapng    what each gives in a model of what was captured
"""


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "why",
        help="say why a run or a captured transfer was slow, and try what would help",
        description="Says why a run or a captured transfer was slow, what that cost, and what "
        "would help. --try simulates the run's scenario again with each remedy, and prints what "
        "it really gives. For captures, it simulates the largest transfer over links that "
        "are estimated from them: a model, and it says how far off that is.",
        epilog=EXAMPLES,
    )
    command.add_argument(
        "sources",
        type=named,
        nargs="+",
        metavar="DIR|CAPTURE",
        help="what mptcplab run left, or a run in it; or captures, taken as one",
    )
    command.add_argument(
        "--try",
        dest="tries",
        action="store_true",
        help="simulate it with each remedy: a run with its seed, captures in a model",
    )
    command.add_argument("--json", action="store_true", help="print everything as JSON")
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    from mptcplab.api.runs import why

    sources = options.sources if len(options.sources) > 1 else options.sources[0]
    found = why(sources, tries=options.tries)
    warn_if_cut(found.tables)
    if options.json:
        tried = {} if found.tried_rows is None else {"tried": found.tried_rows}
        model = {} if found.model is None else {"model": found.model}
        known = {"schema": 1, "complete": found.tables.complete, "findings": found.rows}
        print_json(known | {"unanswered": found.unanswered} | tried | model)
        return 0
    from mptcplab.cli.summary import print_summary
    from mptcplab.cli.summary.findings import (
        print_all,
        print_model,
        print_tried,
        sources_of,
        unseen_senders,
    )
    from mptcplab.cli.summary.page import Page
    from mptcplab.results.labels import label

    page = Page()
    stopped = found.run if found.run and not found.run.outcome["finished"] else None
    if stopped:
        reason = stopped.outcome["reason"]
        page.paragraph(f"{label(stopped)} did not finish: {reason}", indent="")
    connections = len(list(found.tables.rows("connections")))
    if not connections and not found.directory:
        print_summary(found.tables)
        return 0
    several = connections > 1
    # A run has both ends.
    unseen = [] if found.directory else unseen_senders(found.tables.rows("flows"))
    triable = options.sources if found.run is None else sources_of(found.run, options.sources[0])
    if found.rows or not stopped:
        print_all(
            page,
            found.rows,
            several=several,
            unseen=unseen,
            unanswered=found.unanswered,
            sources=[] if options.tries else triable,
        )
    if found.model is not None:
        print_model(page, found.model, found.rows)
    if found.tried_rows is not None and (found.model is None or found.model["holds"]):
        print_tried(page, found.tried_rows, model=found.model is not None)
    return 0
