"""``mptcplab doctor``: what this machine can do for the kernel engine, and what mends the rest."""

from __future__ import annotations

from mptcplab.cli.parser import Parser
from mptcplab.cli.say import print_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace, _SubParsersAction

    from mptcplab.machine.check import Check

EXAMPLES = """\
examples:
  mptcplab doctor
  mptcplab doctor --json | jq -r '.checks[] | select(.verdict != "fine") | .mend'
"""
STYLES = {"fine": "good", "limited": "warning", "missing": "bad", "unknown": "faint"}
UNABLE = 1


def add_to(commands: _SubParsersAction[Parser]) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "doctor",
        help="say what this machine can do for the kernel engine",
        description="Says what this machine can do for the kernel engine, and which command would "
        "mend what it cannot.\nChanges nothing.",
        epilog=EXAMPLES,
    )
    command.add_argument("--json", action="store_true", help="print the checks as JSON")
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Run the command and return its exit status."""
    from mptcplab.machine import doctor
    from mptcplab.machine.checks import able

    checks = doctor()
    if options.json:
        _print_json(checks)
    else:
        _print(checks)
    return 0 if able(checks) else UNABLE


def _print(checks: list[Check]) -> None:
    from mptcplab.cli.summary.page import Page
    from mptcplab.machine.checks import able

    page = Page()
    name_width = max(len(check.name) for check in checks)
    for check in checks:
        verdict = page.style(check.verdict.ljust(7), STYLES[check.verdict])
        said = f"{check.found}; {check.meaning}" if check.meaning else check.found
        mend = f"  → {check.mend}" if check.mend else ""
        page.line(f"{verdict}  {check.name.ljust(name_width)}  {said}{page.style(mend, 'strong')}")
    page.line()
    if able(checks):
        page.line("The kernel engine can run here.")
    else:
        page.line("The kernel engine cannot run here.")


def _print_json(checks: list[Check]) -> None:
    from dataclasses import asdict

    from mptcplab.machine.checks import able

    document = {"schema": 1, "able": able(checks), "checks": [asdict(check) for check in checks]}
    print_json(document)
