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
        "of; or prints a link, or describes an element or a queue.",
        'in a scenario: [link.NAME] with profile = "…"; mptcplab links NAME says where its '
        "figures come from",
    ),
    "campaigns": (
        "list the campaigns that ship, or print one",
        "Lists the campaigns that ship with mptcplab, or prints one: a start for your own.",
        "mptcplab sweep takes their names, or a file",
    ),
}
# What links are made of, and where it stands.
USAGES = {
    "element": 'in a scenario: uplink = [{ element = "…" }, …], downlink or middleboxes',
    "queue": 'in a scenario: { element = "rate", queue = { queue = "…" }, … }',
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
    elif options.what != "links" or not _describe(options.name):
        thing = options.what.removesuffix("s")
        raise ScenarioError(f"no {thing} {options.name} ships; {nearest(options.name, names)}")
    return 0


def _parts() -> None:
    """List what links are made of."""
    from mptcplab.cli.summary.listing import listing
    from mptcplab.scenario.element import known

    for what, usage in USAGES.items():
        parts = list(known(what).values())
        lines = [re.split(r"[.:]\s", part["summary"])[0].rstrip(".") for part in parts]
        hint = f"{usage}; mptcplab links NAME says what can be set of it"
        print()
        listing(what, [part["name"] for part in parts], lines, hint)


def _describe(name: str) -> bool:
    """Describe an element or a queue of that name, if there is one."""
    from mptcplab.cli.summary.description import describe
    from mptcplab.scenario.element import known

    for what, usage in USAGES.items():
        if name in known(what):
            describe(known(what)[name], usage.replace("…", name, 1))
            return True
    return False
