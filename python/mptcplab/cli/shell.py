"""``mptcplab shell``: any program, or a shell, at the client of a scenario."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager

from mptcplab.cli import defaults
from mptcplab.cli.interrupt import by_signals
from mptcplab.cli.parser import Parser, add_captures_to, add_changes_to, add_live_to, named
from mptcplab.cli.say import print_json, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace, _SubParsersAction
    from collections.abc import Iterator
    from pathlib import Path

    from mptcplab.results.run import Run
    from mptcplab.scenario.scenario import Scenario

# How a connection fell back whose server asked for TCP, and an element that does the same to it.
UNANSWERED = "the SYN/ACK came without MP_CAPABLE"
STRIPS = "strip-options"
DIRECTIONS = ("uplink", "downlink")
EXAMPLES = """\
examples:
  mptcplab shell wifi-lte                           a shell at the client; exit ends it
  mptcplab shell wifi-lte --mptcpize --serve 'iperf3 -s -1' -- iperf3 -c server
  mptcplab shell wifi-lte --mptcpize --serve 'python3 -m http.server 80' -- curl -O http://server/file
  mptcplab shell mine.toml -- ip mptcp monitor      while the paths of mine.toml come and go
"""


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "shell",
        usage="mptcplab shell SCENARIO [options] [-- COMMAND ...]",
        help="open a shell, or run any program, at the client of a scenario",
        description="Opens a shell on the client of a scenario, or runs COMMAND there, over "
        "emulated links and with the MPTCP of this machine's kernel. The scenario's timeline is "
        "played, its own transfer is not. "
        "Leaves a run directory with captures and tables, and exits with the status of COMMAND.",
        epilog=EXAMPLES,
    )
    command.rest = "command"
    command.add_argument(
        "scenario", type=named, metavar="SCENARIO", help="a file, or the name of one that ships"
    )
    command.add_argument(
        "--serve",
        type=named,
        metavar="COMMAND",
        help="a command for the server, whose host name is server; it is started first and "
        "stopped at the end, and its output goes to server.log in the run directory",
    )
    command.add_argument(
        "--mptcpize",
        action="store_true",
        help="give MPTCP to programs that ask for TCP, at both ends",
    )
    command.add_argument(
        "--mptcpize-all",
        action="store_true",
        help="the same for programs that --mptcpize does not reach, too: in Go, and linked "
        "statically",
    )
    add_changes_to(command)
    output = command.add_argument_group("output")
    output.add_argument(
        "--out",
        type=named,
        metavar="DIR",
        help="the run directory (default: runs/SCENARIO-shell-N, with the first number that is "
        "free)",
    )
    output.add_argument(
        "--force", action="store_true", help="replace another run that is already there"
    )
    add_captures_to(output)
    add_live_to(output)
    output.add_argument(
        "--json",
        action="store_true",
        help="print the summary as JSON on standard output; what programs print there goes to "
        "standard error",
    )
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    from mptcplab.cli.live import Beside, names_of
    from mptcplab.engines import for_programs
    from mptcplab.engines.engine import Programs
    from mptcplab.results.record import run_programs
    from mptcplab.scenario.scenario import load

    name, scenario = load(options.scenario, options.settings)
    command = options.command or [os.environ.get("SHELL") or "/bin/sh"]
    engine, directory = for_programs(), _directory(name, options)
    view = Beside(str(directory), names_of(scenario, engine), shows=not options.no_live)

    def begin(warnings: list[str]) -> None:
        _greet(name, scenario, warnings, shell=not options.command)
        view.start()

    # They end the program, as they would without us; what it did is kept.
    with by_signals(), view, _own_output(options):
        done, status = run_programs(
            engine,
            scenario,
            directory,
            Programs(command, options.serve, options.mptcpize, options.mptcpize_all),
            name=name,
            seed=options.seed,
            captures=options.captures,
            force=options.force,
            begin=begin,
            watch=view.watch,
        )
    if options.json:
        print_json({"directory": str(done.directory), "status": status} | done.document())
    else:
        _print(done)
    return status


@contextmanager
def _own_output(options: Namespace) -> Iterator[None]:
    """Keep standard output for JSON: programs have standard error instead."""
    if not options.json:
        yield
        return
    own = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        yield
    finally:
        os.dup2(own, sys.stdout.fileno())
        os.close(own)


def _directory(name: str, options: Namespace) -> Path:
    from itertools import count
    from pathlib import Path

    from mptcplab.writing import is_taken

    if options.out is not None:
        return Path(options.out)
    directories = (defaults.folder("runs", f"{name}-shell-{number}") for number in count(1))
    return next(directory for directory in directories if not is_taken(directory))


def _greet(name: str, scenario: Scenario, warnings: list[str], *, shell: bool) -> None:
    """Say where one is; standard output is the program's."""
    for warning in warnings:
        say(f"mptcplab: warning: {warning}")
    if shell:
        _print_location(name, scenario)


def _print_location(name: str, scenario: Scenario) -> None:
    from mptcplab.scenario.plan import addresses, reached_addresses

    paths = [
        f"{path} {' '.join(addresses(number, scenario.paths[path]))}"
        for number, path in enumerate(scenario.paths, 1)
    ]
    say(
        f"mptcplab: at the client of {name} ({', '.join(paths)}); server: "
        f"{' '.join(reached_addresses(scenario))}; exit ends it"
    )


def _print(run: Run) -> None:
    import shlex

    from mptcplab.cli.summary.connection import print_measured
    from mptcplab.cli.summary.findings import next_step, print_first, sources_of
    from mptcplab.cli.summary.page import Page
    from mptcplab.labels import text
    from mptcplab.results import policies
    from mptcplab.results.labels import engine

    page = Page(sys.stderr)
    page.line()
    page.facts(
        [text.clean(run.about["scenario"]), engine(run.about), policies.of_run(run)], indent=""
    )
    page.line()
    directory = shlex.quote(str(run.directory))
    rest = f"mptcplab why {directory}"
    rows = list(run.tables.rows("findings"))
    print_first(page, rows, several=len(run.connections) > 1, rest=rest)
    print_measured(page, run.tables, analyze=f"mptcplab analyze {directory}/*.pcapng")
    programs = run.about["programs"]
    given = programs["mptcpize"] or programs.get("mptcpize_all")
    if not given and _server_asked_for_tcp(run):
        page.line()
        page.paragraph("the server's program did not ask for MPTCP: --mptcpize", first="! ")
    elif not programs.get("mptcpize_all") and _all_asked_for_tcp(run):
        page.line()
        page.paragraph(
            "no MPTCP with --mptcpize: programs in Go or linked statically need --mptcpize-all"
            if given
            else "the programs did not ask for MPTCP: --mptcpize",
            first="! ",
        )
    page.line()
    page.paragraph(f"{run.directory} holds the run", indent="", style="faint")
    if step := next_step(rows, sources_of(run, str(run.directory))):
        page.paragraph(step, indent="", style="faint")


def _all_asked_for_tcp(run: Run) -> bool:
    """Whether there were connections of TCP, and no SYN asked for MPTCP."""
    rows = list(run.tables.rows("connections"))
    return {row["protocol"] for row in rows} == {"tcp"} and not any(row["fallback"] for row in rows)


def _server_asked_for_tcp(run: Run) -> bool:
    """Whether MP_CAPABLE was never answered, and no link takes options away."""
    links = run.scenario["link"].values()
    elements = [
        element for link in links for direction in DIRECTIONS for element in link[direction]
    ]
    connections = run.tables.rows("connections")
    unanswered = any(row["fallback"] == UNANSWERED for row in connections)
    answered = any(row["protocol"] == "mptcp" for row in connections)
    stripped = any(one.get("element") == STRIPS for one in elements)
    return unanswered and not answered and not stripped
