"""Reads the command line and turns whatever goes wrong into one clear line and an exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from mptcplab import Error, __version__, starting
from mptcplab.cli import (
    analyze,
    annotate,
    anonymise,
    calibrate,
    compare,
    completion,
    convert,
    doctor,
    figure,
    guard,
    interrupt,
    package,
    policies,
    probe,
    radio,
    scenarios,
    schedule,
    serve,
    shell,
    study,
    sweep,
    verify,
    why,
)
from mptcplab.cli import help as help_command
from mptcplab.cli import report as report_command
from mptcplab.cli import run as run_command
from mptcplab.cli import say as levels
from mptcplab.cli.parser import Parser, add_levels_to
from mptcplab.cli.say import say

# Each has `add_to`, which describes it to argparse, and `run`, which gives the exit status.
COMMANDS = (
    analyze,
    run_command,
    why,
    sweep,
    schedule,
    report_command,
    figure,
    compare,
    calibrate,
    study,
    shell,
    serve,
    doctor,
    guard,
    convert,
    scenarios,
    policies,
    radio,
    annotate,
    package,
    verify,
    anonymise,
    probe,
    completion,
    help_command,
)
UNREADABLE = 2
# As a shell reports a program that a closed pipe ended.
PIPE_CLOSED = 141


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit."""
    _open_streams()
    try:
        starting.is_over()
        status = run(arguments)
        sys.stdout.flush()
    except Error as error:
        if levels.verbose:
            import traceback

            traceback.print_exc()
        for line in error.args:
            say(f"mptcplab: {line}")
        status = UNREADABLE
    except BrokenPipeError:
        # The reader of our output has closed it (| head).
        _close_output()
        status = PIPE_CLOSED
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (os error")[0]
        if error.filename is None:
            # What befalls a stream has no name.
            say(f"mptcplab: cannot write standard output: {reason}")
            _close_output()
        else:
            say(f"mptcplab: cannot access {os.fsdecode(error.filename)}: {reason}")
        status = UNREADABLE
    except KeyboardInterrupt as interrupted:
        status = interrupt.status(interrupted)
    sys.exit(status)


def _open_streams() -> None:
    """Put something where our caller has closed a stream (``>&-``).

    What is printed nevertheless fails like any writing, and no file of ours gets the number of a
    standard stream; messages that nobody wants are lost.
    """
    for number, name, mode in ((1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, mode)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, open(number, "w", closefd=False))  # noqa: SIM115 - lives as long as we


def _close_output() -> None:
    """Let Python have nothing to complain about when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    try:
        options = parser().parse_args(arguments)
    finally:
        # Help, which exits at once, fails like any other output.
        sys.stdout.flush()
    levels.quiet, levels.verbose = options.quiet, options.verbose
    return int(options.run(options))


EXAMPLES = """\
examples:
  mptcplab analyze client.pcapng server.pcapng
  mptcplab analyze --why client.pcapng server.pcapng    why it was slow
  mptcplab why --try client.pcapng server.pcapng        and what would help, tried in a model
  mptcplab run wifi-lte
  mptcplab why --try runs/wifi-lte-1                    the same of a run, with its seed
"""


def parser() -> Parser:
    """Describe the command line."""
    top = Parser(
        prog="mptcplab",
        description="A laboratory for Multipath TCP: what each path of a connection contributed, "
        "at what delay and loss, and why.",
        epilog=EXAMPLES,
    )
    top.add_argument("--version", action="version", version=f"mptcplab {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_to(commands)
    for one in commands.choices.values():
        add_levels_to(one)
    top.commands = commands.choices
    top.set_defaults(parser=top)
    return top
