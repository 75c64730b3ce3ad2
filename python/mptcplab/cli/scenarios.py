"""``mptcplab scenarios``, ``mptcplab links`` and ``mptcplab campaigns``: what ships."""

from __future__ import annotations

import re
import sys
from argparse import Namespace, _SubParsersAction
from typing import Any

from mptcplab.cli import importing
from mptcplab.cli.parser import Parser, named

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
# Further examples.
MORE = {
    "links": "\n  mptcplab links import --help              makes links of what was "
    "measured elsewhere"
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
            epilog=f"examples:\n  mptcplab {what}\n  mptcplab {what} NAME > mine.toml\n"
            f"  mptcplab {what} --json | jq -r '.[].name'" + MORE.get(what, ""),
        )
        command.add_argument(
            "name", nargs="?", type=named, metavar="NAME", help="print this one as it is written"
        )
        command.add_argument("--json", action="store_true", help="print it as JSON")
        if what == "scenarios":
            command.add_argument(
                "--json-schema",
                action="store_true",
                help="print the JSON schema of scenarios, with which editors complete and check "
                "them",
            )
        command.set_defaults(run=run, what=what)
        if what == "links":
            importing.add_to(commands)


def run(options: Namespace) -> int:
    """Run one of the commands and return its exit status."""
    from mptcplab.messages import nearest
    from mptcplab.scenario import library
    from mptcplab.scenario.fault import ScenarioError

    if getattr(options, "json_schema", False):
        _print_schema(options)
        return 0
    names = library.names(options.what)
    parts = [part["name"] for part in _parts()] if options.what == "links" else []
    if options.name not in (None, *names, *parts):
        thing = options.what.removesuffix("s")
        raise ScenarioError(f"no {thing} {options.name} ships; {nearest(options.name, names)}")
    if options.json:
        _print_json(options.what, options.name)
    elif options.name is None:
        _list(options.what)
    elif options.name in names:
        sys.stdout.write(library.text(options.what, options.name))
    else:
        _describe(options.name)
    return 0


def _print_schema(options: Namespace) -> None:
    from mptcplab import Error
    from mptcplab.cli.say import print_json
    from mptcplab.scenario.json_schema import scenarios

    if options.name is not None or options.json:
        raise Error("--json-schema is of all scenarios: leave out NAME and --json")
    print_json(scenarios())


def _print_json(what: str, name: str | None) -> None:
    from mptcplab.cli.say import print_json
    from mptcplab.scenario import library

    entries = _shipped(what) + (_parts() if what == "links" else [])
    if name is None:
        print_json(entries)
        return
    written = {"toml": library.text(what, name)} if name in library.names(what) else {}
    print_json(next(one for one in entries if one["name"] == name) | written)


def _shipped(what: str) -> list[dict[str, Any]]:
    """Give what ships as JSON has it."""
    from mptcplab.cli.summary.listing import entry
    from mptcplab.scenario import library

    kind = what.removesuffix("s")
    titles = {name: str(library.table(what, name)["title"]) for name in library.names(what)}
    return [entry(kind, name, title) for name, title in titles.items()]


def _parts() -> list[dict[str, Any]]:
    """Give what links are made of as JSON has it."""
    from mptcplab.cli.summary.listing import entry
    from mptcplab.scenario.element import known

    return [entry(kind, **part) for kind in USAGES for part in known(kind).values()]


def _list(what: str) -> None:
    from mptcplab.cli.summary.listing import listing

    shipped = _shipped(what)
    names, titles = ([one[key] for one in shipped] for key in ("name", "summary"))
    listing(what.removesuffix("s"), names, titles, ABOUT[what][2])
    if what == "links":
        _list_parts()


def _list_parts() -> None:
    """List what links are made of."""
    from mptcplab.cli.summary.listing import listing

    for kind, usage in USAGES.items():
        parts = [part for part in _parts() if part["kind"] == kind]
        lines = [re.split(r"[.:]\s", part["summary"])[0].rstrip(".") for part in parts]
        hint = f"{usage}; mptcplab links NAME says what can be set of it"
        print()
        listing(kind, [part["name"] for part in parts], lines, hint)


def _describe(name: str) -> None:
    """Describe an element or a queue."""
    from mptcplab.cli.summary.listing import describe
    from mptcplab.scenario.element import known

    for kind, usage in USAGES.items():
        if name in known(kind):
            describe(known(kind)[name], usage.replace("…", name, 1))
