"""Messages beside the results, on standard error: a line each, harmless to a terminal."""

from __future__ import annotations

import json
import os
import sys
from os import PathLike
from typing import Any

from mptcplab.labels import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.analysis import Measured

# What --quiet and --verbose ask for.
quiet = verbose = False


def remark(message: str) -> None:
    """Print a line that is neither a result nor a fault; --quiet leaves it out."""
    if not quiet:
        say(message)


def detail(message: str) -> None:
    """Print a line of progress, for --verbose."""
    if verbose:
        say(message)


def say(message: str) -> None:
    """Print a line; names in it may hold anything."""
    print(text.clean(message), file=sys.stderr, flush=True)


def warn_if_cut(tables: Measured) -> None:
    """Warn of captures that were read in part only."""
    if not tables.complete:
        for row in tables.rows("diagnostics"):
            if row["diagnostic"] == "capture_cut":
                say(f"mptcplab: warning: {row['capture']}: {row['message']}")


def show(message: str) -> None:
    """Print a line on standard output at once, also from a command that runs for days."""
    print(text.clean(message), flush=True)


def show_lines(lines: str) -> None:
    """Print lines on standard output."""
    for line in lines.splitlines():
        show(line)


def show_path(path: str | PathLike[str]) -> None:
    """Print a path alone: to a terminal harmless, to a program as it is."""
    name = os.fspath(path)
    if sys.stdout.isatty():
        show(name)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(os.fsencode(name) + b"\n")


def print_json(document: Any) -> None:
    """Print a document; what would steer a terminal stands there as its escape."""
    shown = json.dumps(document, indent=2, ensure_ascii=False)
    sys.stdout.write(text.escaped(shown) + "\n")


def print_unit(unit: str, *, json: bool) -> None:
    """Print a unit for systemd, as a file holds it or in a document."""
    if json:
        print_json({"unit": unit})
    else:
        show_lines(unit)


def show_json(document: Any) -> None:
    """Print a document in a line at once, also from a command that runs for days."""
    print(text.escaped(json.dumps(document, ensure_ascii=False)), flush=True)
