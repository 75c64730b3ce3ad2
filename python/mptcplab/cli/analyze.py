"""``mptcplab analyze``: captures in; a summary, JSON, CSV or Parquet out."""

from __future__ import annotations

from argparse import Namespace, _SubParsersAction
from typing import Any

from mptcplab import Error, _core
from mptcplab.cli.browser import add_open_to, open_page
from mptcplab.cli.parser import (
    Parser,
    add_filter_to,
    add_part_to,
    check_part,
    named,
    number,
    seconds,
    seconds_above_0,
)
from mptcplab.cli.say import say, warn_if_cut
from mptcplab.results.run import StoredTables

Tables = _core.Tables | StoredTables

EXAMPLES = """\
examples:
  mptcplab analyze client.pcapng                    what happened, at a glance
  mptcplab analyze client.pcapng server.pcapng      both ends: adds what one end cannot know
  mptcplab analyze wlan0.pcap wwan0.pcap            one capture per interface
  mptcplab analyze --from 10 --to 20 trace.pcap     ten seconds of it
  mptcplab analyze --filter port=443,protocol=mptcp trace.pcap
  tcpdump -r trace.pcap -w - port 443 | mptcplab analyze -      what a filter leaves
  mptcplab analyze --why client.pcapng              why it was slow, with evidence and filters
  mptcplab analyze --scenario call.toml client.pcapng server.pcapng
                                                    how a call was served: what was late, MOS
  tcpdump -w - -i wlan0 tcp | mptcplab analyze -    live, until Ctrl-C
  mptcplab analyze --json trace.pcap | jq '.connections[].subflows[].flows.down.rtt_ms_mean'
  mptcplab analyze --parquet tables trace.pcap      every table, samples included
  mptcplab analyze --report page.html trace.pcap    charts over time, as one HTML page
  mptcplab analyze client.pcapng iperf3.json        files of other tools, beside captures or alone
"""


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "analyze",
        help="measure the MPTCP and TCP connections in captures",
        description="Measures the MPTCP and TCP connections in captures: pcap or pcapng, also "
        "compressed by gzip or zstd. Several captures are taken as one: both ends of a transfer, "
        "or one per interface. Files of other tools, such as iperf3's JSON or qlog, fill "
        "the same tables, as far as their content goes (--sources lists the tools).",
        epilog=EXAMPLES,
    )
    command.add_argument(
        "captures",
        nargs="*",
        type=named,
        metavar="FILE",
        help='a capture; "-": standard input (the first Ctrl-C ends it, the second quits); or a '
        "file of another tool, recognised by its content",
    )
    command.add_argument(
        "--sources",
        action="store_true",
        help="list the tools whose files are read, and what is read from them",
    )
    output = command.add_argument_group("output (default: a summary)")
    output.add_argument("--json", action="store_true", help="print the summary tables as JSON")
    output.add_argument(
        "--why",
        action="store_true",
        help="print the findings instead, each with its evidence, remedy and Wireshark filter",
    )
    for kind in ("parquet", "csv"):
        output.add_argument(
            f"--{kind}",
            type=named,
            metavar="DIR",
            help=f"write every table to DIR/TABLE.{kind}; earlier ones are replaced, other files "
            "left alone",
        )
    output.add_argument(
        "--report",
        type=named,
        metavar="FILE",
        help="draw the connection that moved most bytes, or that of --connection, as one HTML page",
    )
    add_open_to(output)
    output.add_argument("--connection", type=number, metavar="N", help="only connection N, in full")
    add_filter_to(output)
    add_part_to(command)
    definitions = command.add_argument_group("definitions")
    definitions.add_argument(
        "--bin",
        type=seconds_above_0,
        default=1.0,
        metavar="SECONDS",
        help="length of the bins of the throughput series (default: 1)",
    )
    definitions.add_argument(
        "--smoothing",
        type=seconds,
        default=5.0,
        metavar="SECONDS",
        help="window of the moving mean behind the coefficient of variation (default: 5)",
    )
    definitions.add_argument(
        "--trim",
        type=seconds,
        default=5.0,
        metavar="SECONDS",
        help="how much of the start the coefficient of variation leaves out (default: 5)",
    )
    definitions.add_argument(
        "--scenario",
        type=named,
        metavar="NAME",
        help="a scenario (a file, or the name of one that ships) whose [transfer] "
        "names the application: how well it was served is measured, too",
    )
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    if options.sources:
        from mptcplab.cli.summary.listing import list_readers
        from mptcplab.sources.formats import sources

        list_readers(sources().values(), {"reads": "read", "empty": "not"}, json=options.json)
        return 0
    if not options.captures:
        raise Error("analyze needs at least one FILE: a capture, or of a tool that --sources lists")
    _check_outputs(options)
    tables = _chosen(_analyze(options), options)
    if options.csv or options.parquet:
        _write(tables, options)
    if options.report:
        _draw(tables, options)
    warn_if_cut(tables)
    if options.why:
        _explain(tables, options)
    elif options.json:
        _print_json(tables)
    elif not (options.csv or options.parquet or options.report):
        from mptcplab.cli.summary import print_summary

        print_summary(tables, one=options.connection is not None)
    return 0


def _check_outputs(options: Namespace) -> None:
    """Better now than after a long analysis."""
    from pathlib import Path

    check_part(options)
    if options.open and not options.report:
        raise Error("--open has no page to open without --report FILE")
    if options.report:
        from mptcplab.charts.html import refuse_foreign

        refuse_foreign(Path(options.report))
    if not (options.csv or options.parquet):
        return
    from mptcplab import writing

    for target in filter(None, (options.csv, options.parquet)):
        writing.check(Path(target))


def _analyze(options: Namespace) -> Tables:
    from mptcplab.cli.interrupt import Stop
    from mptcplab.cli.progress import Reading
    from mptcplab.results.measured import measure

    transfer = None if options.scenario is None else _transfer(options.scenario)
    with Reading() as progress, Stop(live="-" in options.captures) as stop:
        return measure(
            options.captures,
            bin_seconds=options.bin,
            smoothing_seconds=options.smoothing,
            trim_seconds=options.trim,
            samples=bool(options.csv or options.parquet or options.report),
            from_seconds=options.from_seconds,
            to_seconds=options.to_seconds,
            transfer=transfer,
            progress=progress,
            stop=stop,
        )


def _transfer(scenario: str) -> dict[str, Any]:
    """Give what a scenario transfers, as it is planned."""
    from mptcplab.scenario.plan import planned_transfer
    from mptcplab.scenario.scenario import load

    return planned_transfer(load(scenario)[1].transfer)


def _print_json(tables: Tables) -> None:
    if isinstance(tables, _core.Tables):
        tables.print_json()
        return
    from mptcplab.cli.say import print_json

    print_json(tables.document())


def _explain(tables: Tables, options: Namespace) -> None:
    from mptcplab.results.unanswered import unanswered

    rows = list(tables.rows("findings"))
    unknown = unanswered(tables, rows)
    if options.json:
        from mptcplab.cli.say import print_json

        known = {"schema": _core.SCHEMA, "complete": tables.complete, "findings": rows}
        print_json(known | {"unanswered": unknown})
        return
    connections = len(tables.table("connections"))
    if not connections:
        from mptcplab.cli.summary import print_summary

        print_summary(tables)
        return
    from mptcplab.cli.summary.findings import print_all, unseen_senders
    from mptcplab.cli.summary.page import Page
    from mptcplab.labels.findings import own_times

    several = connections > 1
    print_all(
        Page(),
        own_times(rows, tables.rows("connections")),
        several=several,
        unseen=unseen_senders(tables.rows("flows")),
        unanswered=unknown,
        sources=[] if "-" in options.captures else options.captures,
    )


def _chosen(tables: Tables, options: Namespace) -> Tables:
    if (options.filter, options.connection) == (None, None):
        return tables
    from mptcplab.results.chosen import Chosen

    return Chosen.narrowed(tables, options.filter, options.connection)


def _write(tables: Tables, options: Namespace) -> None:
    from pathlib import Path

    from mptcplab import writing

    if options.csv:
        with writing.files(Path(options.csv)) as target:
            for name in tables.NAMES:
                tables.write_csv(name, target / f"{name}.csv")
        _say_written(tables, options.csv)
    if options.parquet:
        from mptcplab.results.files import write_parquet

        with writing.files(Path(options.parquet)) as target:
            for name in tables.NAMES:
                write_parquet(tables.table(name), target / f"{name}.parquet")
        _say_written(tables, options.parquet)


def _draw(tables: Tables, options: Namespace) -> None:
    from mptcplab.analysis import Analysis
    from mptcplab.api.pages import write_report

    write_report(Analysis(tables), options.report, connection=options.connection)
    say(f"wrote {options.report}")
    if options.open:
        open_page(options.report)


def _say_written(tables: Tables, target: str) -> None:
    say(f"wrote {len(tables.NAMES)} tables to {target}")
