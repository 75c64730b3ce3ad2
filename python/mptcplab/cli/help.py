"""``mptcplab help``: what ``--help`` prints, for those who ask as git and cargo are asked."""

from __future__ import annotations

import argparse

from mptcplab.cli.parser import Parser

EXAMPLES = """\
examples:
  mptcplab help
  mptcplab help run
  mptcplab help links import
"""


def add_to(commands: argparse._SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "help",
        help="print the help of a command",
        description="Prints what COMMAND --help prints; without a command, lists all commands.",
        epilog=EXAMPLES,
    )
    # Commands that are added after this one are known to it, too.
    command.add_argument(
        "command",
        nargs="?",
        choices=commands.choices.keys(),
        metavar="COMMAND",
        help="the command, such as run or links import (default: list all)",
    )
    command.commands = commands.choices
    command.set_defaults(run=run, commands=commands.choices)


def run(options: argparse.Namespace) -> int:
    asked = options.commands[options.command] if options.command else options.parser
    asked.print_help()
    return 0
