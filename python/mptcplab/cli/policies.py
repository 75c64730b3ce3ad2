"""``mptcplab controllers``, ``schedulers``, ``path-managers``: what endpoints may decide by."""

from __future__ import annotations

from argparse import Namespace, _SubParsersAction
from typing import Any

from mptcplab.cli import controllers
from mptcplab.cli.parser import Parser, named

# Each command: what one is called, and the key of [mptcp] that names it.
KINDS = {
    "controllers": ("congestion controller", "congestion_control"),
    "schedulers": ("scheduler", "scheduler"),
    "path-managers": ("path manager", "path_manager"),
}


def add_to(commands: _SubParsersAction[Parser]) -> None:
    """Describe the commands."""
    for what, (thing, key) in KINDS.items():
        command = commands.add_parser(
            what,
            help=f"list the {thing}s, or describe one",
            description=f"Lists the {thing}s that a scenario may name, or describes one: what it "
            "is, and its parameters.",
            epilog=f"examples:\n  mptcplab {what}\n  mptcplab {what} NAME\n"
            f"  mptcplab {what} --json | jq -r '.[].name'",
        )
        command.add_argument(
            "name", nargs="?", type=named, metavar="NAME", help="describe this one"
        )
        command.add_argument("--json", action="store_true", help="print it as JSON")
        if what == "controllers":
            controllers.add_to(command)
            command.epilog = f"{command.epilog}{controllers.EXAMPLES}"
        command.set_defaults(run=run, what=what, thing=thing, key=key)


def run(options: Namespace) -> int:
    """Run one of the commands and return its exit status."""
    from mptcplab.scenario import policy
    from mptcplab.scenario.fault import ScenarioError

    if options.what == "controllers" and controllers.run(options):
        return 0
    known = policy.known(options.key)
    if options.name not in (None, *known):
        hint = policy.hint(options.key, options.name)
        raise ScenarioError(f"there is no {options.thing} {options.name}; {hint}")
    if options.json:
        _print_json(options, known)
    elif options.name is None:
        _list(options, list(known.values()))
    else:
        _describe(options, known[options.name])
    return 0


def _print_json(options: Namespace, known: dict[str, dict[str, Any]]) -> None:
    from mptcplab.cli.say import print_json
    from mptcplab.cli.summary.listing import entry

    entries = {name: entry(options.thing, **policy) for name, policy in known.items()}
    print_json(list(entries.values()) if options.name is None else entries[options.name])


def _list(options: Namespace, known: list[dict[str, Any]]) -> None:
    from mptcplab.cli.summary.listing import listing

    listing(
        options.thing,
        [policy["name"] for policy in known],
        [policy["summary"] for policy in known],
        f"in a scenario: [mptcp] {options.key}; mptcplab {options.what} NAME lists its parameters",
    )
    if options.what == "controllers":
        print(controllers.shown())


def _describe(options: Namespace, policy: dict[str, Any]) -> None:
    from mptcplab.cli.summary.listing import describe
    from mptcplab.scenario.policy import PARAMETERS

    describe(policy, f"in a scenario: [mptcp] {PARAMETERS[options.key]}")
