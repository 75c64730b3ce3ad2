"""Writes what the documentation takes from the code: the reference pages, and what commands print.

A block of text after ``<!-- run: COMMAND -->`` holds what the command prints (of several, parted by `` ; ``, the last).
What is made of the results of experiments, ``experiments/pages.py`` draws.

A page may tell of one sitting: blocks after ``<!-- file: NAME -->`` are files of an empty directory, and those after ``<!-- then: COMMAND -->``
hold what a command prints there, in the page's order. ``<!-- about: COMMAND -->`` is the same where figures are other ones each time: the
block stays while all but its figures is as it was. ``<!-- stop: COMMAND -->`` has Ctrl-C pressed in the middle.
"""

from __future__ import annotations

import argparse
import importlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from argparse_manpage.manpage import Manpage

import engines_reference
import families_reference
import measurements_reference
import scenario_reference
from mptcplab import __version__, _core, metrics
from mptcplab.cli import interrupt
from mptcplab.cli.main import parser

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "docs/reference/study.md",
]
RUN = re.compile(r"(<!-- run: (.*?) -->\n```text\n).*?(^```$)", re.DOTALL | re.MULTILINE)
STEP = re.compile(
    r"(<!-- (file|then|about|stop): (.*?) -->\n```\w+\n)(.*?)(^```$)", re.DOTALL | re.MULTILINE
)
ATTEMPTS = 20
FIGURES = re.compile(r"[\d.\u202f]+( (ms|s))?")
TYPES = {
    "bool": "yes/no",
    "f64": "number",
    "i64": "integer",
    "text": "text",
    "u32": "integer",
    "u64": "integer",
}


def main() -> None:
    """Write what is not current."""
    for path, text in generated():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            print(f"{path.relative_to(ROOT)} written")


def generated() -> Iterator[tuple[Path, str]]:
    """Give every page that holds something from the code, as it should be."""
    yield ROOT / "docs/reference/tables.md", tables()
    yield ROOT / "docs/reference/metrics.md", metrics_page()
    yield ROOT / "docs/reference/command.md", command()
    yield ROOT / "packaging/data/share/man/man1/mptcplab.1", man_page()
    yield ROOT / "docs/reference/scenario.md", scenario_reference.page()
    yield ROOT / "docs/reference/campaign.md", scenario_reference.campaign()
    yield ROOT / "docs/reference/engines.md", engines_reference.page()
    yield ROOT / "docs/reference/measurements.md", measurements_reference.page()
    yield ROOT / "docs/reference/families.md", families_reference.page()
    results = pages_of_results()
    yield from results.whole()
    for path in PAGES:
        text = path.read_text()
        if STEP.search(text):
            yield path, sitting(text)
        elif RUN.search(text) or results.BLOCK.search(text):
            text = RUN.sub(lambda match: match[1] + output(match[2]) + match[3], text)
            yield path, results.with_results(text)


@cache
def output(line: str) -> str:
    """Run commands of ours, parted by `` ; ``, from the project's directory and give what the last one prints.

    Simulations leave something behind, and run elsewhere.
    """
    commands = [[sys.executable, "-m", *one.split()] for one in line.split(" ; ")]
    with TemporaryDirectory() as elsewhere:
        cwd = elsewhere if any(command[3] in ("run", "sweep") for command in commands) else ROOT
        done = [
            subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True)
            for command in commands
        ]
        return done[-1].stdout


@cache
def sitting(page: str) -> str:
    """Give a page of one sitting with what its commands print."""
    with TemporaryDirectory() as elsewhere:
        return played(page, Path(elsewhere))


def played(page: str, directory: Path) -> str:
    """Do in a directory what a page of one sitting does, and give the page with what is printed."""

    def step(match: re.Match[str]) -> str:
        head, kind, what, block, end = match.groups()
        if kind == "file":
            (directory / what).write_text(block)
            return match[0]
        printed = stopped(what, directory) if kind == "stop" else printed_by(what, directory)
        same = kind != "then" and FIGURES.sub("#", printed) == FIGURES.sub("#", block)
        return head + (block if same else printed) + end

    return STEP.sub(step, page)


def printed_by(line: str, directory: Path) -> str:
    """Run ``mptcplab …`` or ``python …``, several parted by `` ; ``, and give what the last one prints."""
    done = [
        subprocess.run(command_of(one), cwd=directory, capture_output=True, text=True, check=True)
        for one in line.split(" ; ")
    ]
    return done[-1].stdout


def stopped(line: str, directory: Path) -> str:
    """Run a sweep, press Ctrl-C when it has kept something, and give its last words."""
    # On a busy machine whoever watches comes first.
    command = ["nice", "-n", "19", *command_of(line)]
    for _ in range(ATTEMPTS):
        process = subprocess.Popen(command, cwd=directory, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not any(directory.glob("campaigns/*/shards/*-*")):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
        if process.returncode == interrupt.STATUS + signal.SIGINT:
            return errors.rstrip().rpartition("\n")[2] + "\n"
        # It was faster than we.
        shutil.rmtree(directory / "campaigns")
    raise RuntimeError(f"{line} could not be interrupted: status {process.returncode}")


def command_of(line: str) -> list[str]:
    """Split a command as a shell does, for this Python."""
    program, *arguments = shlex.split(line)
    return [sys.executable, *(["-m", program] if program == "mptcplab" else []), *arguments]


def pages_of_results() -> Any:
    """Import what draws kept results."""
    sys.path.insert(0, str(ROOT))
    return importlib.import_module("experiments.pages")


def tables() -> str:
    """Describe the tables."""
    lines = [
        "# Tables",
        "",
        f"Schema version {_core.SCHEMA}. *May be empty* means that the value may be unknown. An empty cell never "
        "means 0.",
        "",
    ]
    for name, about, columns in _core.columns():
        lines += [f"## {name}", "", one_line(about), ""]
        lines += ["| column | type | unit | | meaning |", "|---|---|---|---|---|"]
        for column, kind, may_be_empty, unit, meaning in columns:
            empty = "may be empty" if may_be_empty else ""
            lines.append(f"| `{column}` | {TYPES[kind]} | {unit} | {empty} | {cell(meaning)} |")
        lines.append("")
    return "\n".join(lines)


def metrics_page() -> str:
    """Describe the metrics."""
    lines = ["# Metrics", "", METRICS]
    for title, there in (("Of runs", metrics.OF_RUNS), ("Of subflows", metrics.OF_SUBFLOWS)):
        lines += [f"## {title}", "", "| metric | column | unit | better | axis |"]
        lines.append("|---|---|---|---|---|")
        for one in there.values():
            better = {"neither": ""}.get(one.better, one.better)
            axis = "logarithmic" if one.logarithmic else ""
            column = f"`{one.table}.{one.column}`"
            lines.append(f"| {one.label} | {column} | {one.unit} | {better} | {axis} |")
        lines.append("")
    return "\n".join(lines)


METRICS = """\
Summaries, comparisons, reports and figures compare runs, and the subflows of a run, by these metrics. Each is a column of a
[table](tables.md), where it is defined. Frames of campaigns have the metrics of runs under the same names, and `mptcplab figure --value`
takes any of them. *Better* says whether more or less is better; *axis* says whether the axis is logarithmic by default.
"""


def command() -> str:
    """Describe the command line."""
    top = parser()
    lines = ["# The command", "", str(top.description), ""]
    (subparsers,) = (a for a in top._actions if isinstance(a, argparse._SubParsersAction))
    for name, sub in subparsers.choices.items():
        lines += [f"## mptcplab {name}", "", one_line(str(sub.description)), ""]
        for group in sub._action_groups:
            if not group._group_actions:
                continue
            title = {"positional arguments": "arguments"}.get(str(group.title), str(group.title))
            lines += [f"{title}", ""]
            for action in group._group_actions:
                lines += [f"`{usage(action)}`", f": {cell(str(action.help))}", ""]
        lines += ["```text", str(sub.epilog).strip(), "```", ""]
    lines += [EXIT]
    return "\n".join(lines)


def man_page() -> str:
    """Describe the command line as ``man mptcplab`` shows it."""
    top = parser()
    page = Manpage(top, format="single-commands-section")
    page.description = "measures, simulates and runs Multipath TCP"
    page.source, page.manual = f"mptcplab {__version__}", "mptcplab"
    # Of the day that it is made on it says nothing: it is made anew whenever the command changes.
    page.date = ""
    statuses = re.findall(r"^\| (\d+) \| (.*) \|$", EXIT, re.MULTILINE)
    rows = [f".TP\n{status}\n{meaning.replace('`', '')}" for status, meaning in statuses]
    page.add_section("Exit status", ">", "\n".join(rows))
    return str(page)


EXIT = """\
## Exit status

| status | means |
|---|---|
| 0 | analysed, with a warning on standard error where a capture ends in the middle (`complete` is then false); or run to the end of its transfer |
| 1 | of `run`: the transfer with MPTCP did not finish, and its run is kept; of `doctor`: the kernel engine cannot run here; of `sweep` and `study`: runs failed, and the rest are done; of `calibrate`: the link does not reproduce every figure; of `verify`: not everything is reproduced |
| 2 | the command line or a scenario is invalid, a capture cannot be read, or a file cannot be written; one line on standard error says which |
| 130 | interrupted; 129 and 143 where SIGHUP or SIGTERM ended a run |
| 141 | the reader of the output closed it |

`shell` exits with the status of the program that it ran, 128 more than the number of the signal that ended that, or as above.

Messages and progress go to standard error, results to standard output. Colours are used on a terminal only, and not
where `NO_COLOR` is set.
"""


def usage(action: argparse.Action) -> str:
    """Name an argument as on the command line."""
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    return " ".join(filter(None, (", ".join(action.option_strings), metavar)))


def one_line(text: str) -> str:
    """Join the lines of a text."""
    return " ".join(text.split())


def cell(text: str) -> str:
    """Make text fit into a table."""
    return one_line(text).replace("|", "\\|")


if __name__ == "__main__":
    main()
