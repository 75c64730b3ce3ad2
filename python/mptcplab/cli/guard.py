"""``mptcplab guard``: watch this host's paths, leave those that go bad, and come back to them."""

from __future__ import annotations

import os
from argparse import ArgumentTypeError, Namespace, _SubParsersAction
from typing import Any

from mptcplab.cli.parser import Parser

EXAMPLES = """\
examples:
  sudo mptcplab guard --observe     only say what would be done
  sudo mptcplab guard
  sudo mptcplab guard --routes      also send what comes from an address over its interface
  sudo mptcplab guard --set 'margin=80 ms' --set probes=4
  sudo mptcplab guard --set leave_below=-78     leave a Wi-Fi that hears less, in dBm
  sudo mptcplab guard --policy budget --budget wwan0=500MB     close a path that has carried enough
  sudo mptcplab guard --policy on-demand        a second path only while there is much to carry
"""
NEEDS_BUDGET = "--budget and --cost need --policy budget"
NEEDS_GUARD = "--signals is for the guard: no --policy uses a signal"
NEEDS_THRESHOLD = "--signals needs a threshold of the guard, such as --set leave_below=-110"


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "guard",
        help="watch the paths of this host's MPTCP connections, and leave those that go bad",
        description="Watches the paths of this host's MPTCP connections (the endpoints that ip "
        "mptcp endpoint lists). A path on which nothing moves and probes go unanswered is taken "
        "out of use, and put back once it answers again. When the command ends, all is as it was.",
        epilog=EXAMPLES,
    )
    command.add_argument(
        "--policy",
        metavar="NAME",
        help="open and close paths by a policy instead: budget, maps, offload or on-demand, which "
        "mptcplab path-managers describes",
    )
    for flag, kind, metavar, what in (
        ("--budget", _budget, "INTERFACE=SIZE", "may carry"),
        ("--cost", _cost, "INTERFACE=PRICE", "costs per MB"),
    ):
        command.add_argument(
            flag,
            type=kind,
            action="append",
            default=[],
            metavar=metavar,
            help=f"what an interface {what}, for --policy budget",
        )
    command.add_argument("--observe", action="store_true", help="only report what would be done")
    command.add_argument(
        "--routes",
        action="store_true",
        help="also keep a routing table and a rule for each path's address",
    )
    command.add_argument(
        "--signals",
        metavar="FILE",
        help="signal strengths for leave_below: one line INTERFACE DBM each, read twice a second; "
        "without it the kernel is asked, which knows those of Wi-Fi",
    )
    command.add_argument("--json", action="store_true", help="print a line of JSON per decision")
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="settings",
        help="set a parameter of the guard or the policy; mptcplab path-managers NAME lists them",
    )
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Become the program that does it."""
    import json

    from mptcplab._core import Error
    from mptcplab.machine import programs

    arguments = [f"--{flag}" for flag in ("observe", "routes", "json") if getattr(options, flag)]
    if options.signals:
        if options.policy is not None:
            raise Error(NEEDS_GUARD)
        if "leave_below" not in _names(options):
            raise Error(NEEDS_THRESHOLD)
        arguments += ["--signals", options.signals]
    if options.policy is not None:
        parameters, plans = _planned(options)
        arguments += ["--policy", options.policy, "--plans", json.dumps(plans)]
        arguments += ["--parameters", json.dumps(parameters)]
    elif options.budget or options.cost:
        raise Error(NEEDS_BUDGET)
    elif options.settings:
        arguments += ["--parameters", json.dumps(_parameters("guard", options.settings))]
    path = programs.guard()
    os.execv(path, [path, *arguments])  # noqa: S606 - ours


def _names(options: Namespace) -> list[str]:
    """Name the parameters that are set."""
    return [one.partition("=")[0].strip() for one in options.settings]


def _parameters(scenario: str | dict[str, Any], settings: list[str]) -> dict[str, Any]:
    """Give what is set in base units, as a scenario's are read; errors name what was typed."""
    from mptcplab._core import Error
    from mptcplab.scenario.plan import plan
    from mptcplab.scenario.scenario import load

    prefix = "mptcp.path_manager_parameters."
    try:
        _, read = load(scenario, [prefix + one for one in settings])
        transport = plan(read, 1).table()["transport"]
    except Error as error:
        raise Error(str(error).replace(prefix, "")) from None
    parameters: dict[str, Any] = transport["client"]["mptcp"]["path_manager"]["parameters"]
    return parameters


def _planned(options: Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give what is set of a policy, and what each interface may carry and costs."""
    from mptcplab._core import Error
    from mptcplab.engines.kernel.features import POLICIES
    from mptcplab.messages import nearest, quoted

    if options.policy not in POLICIES:
        raise Error(
            f"--policy: there is no policy {quoted(options.policy)}; "
            f"{nearest(options.policy, POLICIES)}"
        )
    budgets, costs = dict(options.budget), dict(options.cost)
    trouble = _repeated(options) or _trouble(options, bool(budgets), bool(costs))
    if trouble:
        raise Error(trouble)
    # Interfaces may have names that paths may not.
    path: dict[str, Any] = {"rate": "1 Mbit/s", "delay": "1 ms"}
    if budgets:
        path["budget"] = "1 MB"
    if costs:
        path["cost_per_mb"] = 1
    scenario: dict[str, Any] = {
        "schema": 1,
        "transfer": {"size": "1 MB"},
        "path": {"any": path},
        "mptcp": {"path_manager": options.policy},
    }
    plans = {
        name: {"budget_bytes": budgets.get(name), "cost_per_mb": costs.get(name, 0)}
        for name in (budgets | costs)
    }
    return _parameters(scenario, options.settings), plans


def _repeated(options: Namespace) -> str | None:
    """Say which interface was given more than one budget, or cost."""
    from collections import Counter

    for flag in ("budget", "cost"):
        for name, times in Counter(name for name, _ in getattr(options, flag)).items():
            if times > 1:
                return f"--{flag}: {name} has {times}; an interface has one"
    return None


def _trouble(options: Namespace, has_budgets: bool, has_costs: bool) -> str | None:
    """Say what a policy lacks, or has no use for."""
    pays = "cost_budget" in _names(options)
    if options.policy != "budget":
        return NEEDS_BUDGET if has_budgets or has_costs else None
    if has_costs and not pays:
        return "--cost needs what all may cost, such as --set cost_budget=2.5"
    if pays and not has_costs:
        return "--set cost_budget needs what an interface costs, such as --cost wwan0=0.01"
    if not has_budgets and not has_costs:
        return "--policy budget needs one, such as --budget wwan0=500MB"
    return None


def _budget(text: str) -> tuple[str, int]:
    from mptcplab import quantity

    interface, size = _of_interface(text)
    try:
        found = quantity.BYTES.parse(size)
    except ValueError as error:
        raise ArgumentTypeError(f"{text}: {error}") from None
    if not found:
        raise ArgumentTypeError(f"{text} is not above 0")
    return interface, found


def _cost(text: str) -> tuple[str, float]:
    from math import isfinite

    interface, price = _of_interface(text)
    try:
        found = float(price)
    except ValueError:
        raise ArgumentTypeError(f"{text}: the price is not a number") from None
    if not isfinite(found) or found <= 0:
        raise ArgumentTypeError(f"{text} is not above 0")
    return interface, found


def _of_interface(text: str) -> tuple[str, str]:
    interface, _, value = text.partition("=")
    if not interface or not value:
        raise ArgumentTypeError(f"{text} is not INTERFACE=VALUE, such as wwan0=500MB")
    return interface, value
