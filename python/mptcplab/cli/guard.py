"""``mptcplab guard``: watch this host's paths, leave those that go bad, and come back to them."""

from __future__ import annotations

import os

from mptcplab.cli.parser import Parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace, _SubParsersAction

EXAMPLES = """\
examples:
  sudo mptcplab guard --observe     only tell what would be done
  sudo mptcplab guard
"""


def add_to(commands: _SubParsersAction[Parser]) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "guard",
        help="watch the paths of this host's MPTCP connections, and leave those that go bad",
        description="Watches the paths of this host's MPTCP connections: its endpoints, as in ip "
        "mptcp endpoint. One over which nothing moves and probes stay unanswered is taken out of "
        "use, and put back once it answers again. When the command ends, all are as they were.",
        epilog=EXAMPLES,
    )
    command.add_argument("--observe", action="store_true", help="only tell what would be done")
    command.add_argument("--json", action="store_true", help="print a line of JSON per decision")
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Become the program that does it."""
    from mptcplab.machine.guard import program

    flags = [flag for flag in ("observe", "json") if getattr(options, flag)]
    path = program()
    os.execv(path, [path, *(f"--{flag}" for flag in flags)])  # noqa: S606 - ours
