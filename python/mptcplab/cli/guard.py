"""``mptcplab guard``: watch this host's paths, leave those that go bad, and come back to them."""

from __future__ import annotations

import os
from argparse import Namespace, _SubParsersAction
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


def add_to(commands: _SubParsersAction[Parser]) -> None:
    """Describe the command."""
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
    for flag, metavar, what in (
        ("--budget", "INTERFACE=SIZE", "may carry"),
        ("--cost", "INTERFACE=PRICE", "costs per MB"),
    ):
        command.add_argument(
            flag,
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
    from mptcplab.machine.guard import program

    arguments = [f"--{flag}" for flag in ("observe", "routes", "json") if getattr(options, flag)]
    if options.signals:
        arguments += ["--signals", options.signals]
    if options.policy is not None:
        parameters, plans = _planned(options)
        arguments += ["--policy", options.policy, "--plans", json.dumps(plans)]
        arguments += ["--parameters", json.dumps(parameters)]
    elif options.budget or options.cost:
        raise Error("--budget and --cost need --policy budget")
    elif options.settings:
        arguments += ["--parameters", json.dumps(_parameters(options.settings))]
    path = program()
    os.execv(path, [path, *arguments])  # noqa: S606 - ours


def _parameters(settings: list[str]) -> dict[str, Any]:
    """Give what is set in base units, as a scenario's are read."""
    from mptcplab.scenario.plan import plan
    from mptcplab.scenario.scenario import load

    _, scenario = load("guard", [f"mptcp.path_manager_parameters.{one}" for one in settings])
    transport = plan(scenario, 1).table()["transport"]
    parameters: dict[str, Any] = transport["client"]["mptcp"]["path_manager"]["parameters"]
    return parameters


def _planned(options: Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give what is set of a policy, and what each interface may carry and costs."""
    from mptcplab._core import Error
    from mptcplab.engines.kernel.features import POLICIES
    from mptcplab.messages import nearest, quoted
    from mptcplab.scenario.plan import plan
    from mptcplab.scenario.scenario import load

    if options.policy not in POLICIES:
        raise Error(
            f"--policy: there is no policy {quoted(options.policy)}; "
            f"{nearest(options.policy, POLICIES)}"
        )
    # A path has the name of its interface.
    scenario: dict[str, Any] = {
        "schema": 1,
        "transfer": {"size": "1 MB"},
        "path": {"any": {"rate": "1 Mbit/s", "delay": "1 ms"}},
        "mptcp": {"path_manager": options.policy},
    }
    settings = [f"mptcp.path_manager_parameters.{one}" for one in options.settings]
    for key, given in (("budget", options.budget), ("cost_per_mb", options.cost)):
        for one in given:
            name, _, value = one.partition("=")
            scenario["path"].setdefault(name, dict(scenario["path"]["any"]))
            settings.append(f"path.{name}.{key}={value}")
    _, read = load(scenario, settings)
    transport = plan(read, 1).table()["transport"]
    plans = {
        name: {"budget_bytes": path.budget, "cost_per_mb": path.cost_per_mb or 0}
        for name, path in read.paths.items()
        if name != "any"
    }
    return transport["client"]["mptcp"]["path_manager"]["parameters"], plans
