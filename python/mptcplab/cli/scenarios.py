"""``mptcplab scenarios``, ``mptcplab links`` and ``mptcplab campaigns``: what ships."""

from __future__ import annotations

import re
import sys

from mptcplab.cli.parser import Parser, named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace, _SubParsersAction

ABOUT = {
    "scenarios": (
        "list the scenarios that ship, or print one",
        "Lists the scenarios that ship with mptcplab, or prints one: a start for your own.",
        "mptcplab run takes their names, or a file",
    ),
    "links": (
        "list the links that ship and what links are made of, or print one",
        "Lists the links that ship with mptcplab, and the elements and queues that links are made "
        "of; or prints a link.",
        'in a scenario: [link.NAME] with profile = "…"; mptcplab links NAME says where its '
        "figures come from",
    ),
    "campaigns": (
        "list the campaigns that ship, or print one",
        "Lists the campaigns that ship with mptcplab, or prints one: a start for your own.",
        "mptcplab sweep takes their names, or a file",
    ),
}


def add_to(commands: _SubParsersAction[Parser]) -> None:
    """Describe the commands."""
    for what, (short, long, _) in ABOUT.items():
        command = commands.add_parser(
            what,
            help=short,
            description=long,
            epilog=f"examples:\n  mptcplab {what}\n  mptcplab {what} NAME > mine.toml",
        )
        command.add_argument(
            "name", nargs="?", type=named, metavar="NAME", help="print this one as it is written"
        )
        command.set_defaults(run=run, what=what)


def run(options: Namespace) -> int:
    """Run one of the commands and return its exit status."""
    from mptcplab.cli.summary.listing import listing
    from mptcplab.scenario import library
    from mptcplab.scenario.fault import ScenarioError, nearest

    names = library.names(options.what)
    if options.name is None:
        titles = [str(library.table(options.what, name)["title"]) for name in names]
        listing(options.what.removesuffix("s"), names, titles, ABOUT[options.what][2])
        if options.what == "links":
            _parts()
    elif options.name in names:
        sys.stdout.write(library.text(options.what, options.name))
    else:
        thing = options.what.removesuffix("s")
        raise ScenarioError(f"no {thing} {options.name} ships; {nearest(options.name, names)}")
    return 0


def _parts() -> None:
    """List what links are made of."""
    from mptcplab import _core
    from mptcplab.cli.summary.listing import listing

    hints = {
        "element": 'in a scenario: uplink = [{ element = "…" }, …], and downlink; the reference of '
        "scenarios says what can be set of it",
        "queue": 'in a scenario: { element = "rate", queue = { queue = "…" }, … }',
    }
    for what, parts in (("element", _core.elements()), ("queue", _core.queues())):
        lines = [re.split(r"[.:]\s", part["summary"])[0].rstrip(".") for part in parts]
        print()
        listing(what, [part["name"] for part in parts], lines, hints[what])
