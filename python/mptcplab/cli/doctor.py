"""``mptcplab doctor``: what this machine can do for the kernel engine, and what mends the rest."""

from __future__ import annotations

from mptcplab._core import Error
from mptcplab.cli.parser import Parser, named
from mptcplab.cli.say import print_json, say
from mptcplab.labels import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace, _SubParsersAction
    from collections.abc import Sequence

    from mptcplab.cli.summary.page import Page
    from mptcplab.machine.check import Check

EXAMPLES = """\
examples:
  mptcplab doctor
  mptcplab doctor --field lab.example.org --interface wlan0 --interface wwan0
  mptcplab doctor --field 'LINE' --interface wlan0 --interface wwan0   also token and ports
  sudo mptcplab doctor --field lab.example.org --set-up
  mptcplab doctor --json | jq -r '.checks[] | select(.verdict != "fine") | .mend'
"""
STYLES = {"fine": "good", "limited": "warning", "missing": "bad", "unknown": "faint"}
UNABLE = 1


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "doctor",
        help="say what this machine can do for the kernel engine",
        description="Says what this machine can do for the kernel engine, or for runs over real "
        "networks (--field), and which command fixes what is missing. Changes nothing without "
        "--set-up.",
        epilog=EXAMPLES,
    )
    field = command.add_argument_group("real networks")
    field.add_argument(
        "--field",
        metavar="HOST",
        help="say instead what this host needs for runs over real networks to a server: its name "
        "or address, with :PORT, or the line that mptcplab serve prints, to try that, too",
    )
    field.add_argument(
        "--interface",
        action="append",
        metavar="NAME",
        help="interface of a path, the first one of the first path; may be repeated (default: all "
        "that are up and have an address)",
    )
    field.add_argument(
        "--token",
        type=named,
        metavar="FILE",
        help="the file with that server's token, for its line (default: ~/.config/mptcplab/token)",
    )
    changes = field.add_mutually_exclusive_group()
    changes.add_argument(
        "--set-up", action="store_true", help="run the commands that --field advises (root)"
    )
    changes.add_argument(
        "--undo",
        action="store_true",
        help="undo everything that --set-up did since the machine started",
    )
    command.add_argument("--json", action="store_true", help="print it as JSON")
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    from mptcplab.machine import doctor
    from mptcplab.machine.checks import able

    if options.undo:
        return _undo(options)
    if options.field is not None:
        return _field(options)
    if options.set_up or options.interface or options.token:
        raise Error("--set-up, --interface and --token go with --field HOST")
    checks = doctor()
    if options.json:
        _print_json(checks, ready=able(checks))
    else:
        _print(checks)
    return 0 if able(checks) else UNABLE


def _undo(options: Namespace) -> int:
    from mptcplab.engines.field import set_up

    undone = set_up.undo()
    if options.json:
        print_json({"undone": undone})
    else:
        say(f"mptcplab: {text.plural(undone, 'step')} undone")
    return 0


def _field(options: Namespace) -> int:
    from mptcplab.engines.field import set_up
    from mptcplab.probing.doctor import examine

    names = options.interface or []
    found = examine(options.field, names, options.token)
    if options.set_up and found.steps:
        set_up.set_up(found.steps)
        for step in found.steps:
            say(f"mptcplab: done: {' '.join(step.do)}")
        found = examine(options.field, names, options.token)
    ready = all(check.verdict in ("fine", "limited") for check in found.checks)
    if options.json:
        _print_json(found.checks, ready=ready)
        return 0 if ready else UNABLE
    page = _print_checks(found.checks)
    sentence = "All paths can be measured" if ready else "Not all paths can be measured"
    if ready and any(check.verdict == "limited" for check in found.checks):
        sentence += ", with what is limited above"
    sentence += "."
    if found.steps:
        sentence += " --set-up does what stands behind the arrows, --undo undoes it."
    page.line(sentence)
    return 0 if ready else UNABLE


def _print(checks: list[Check]) -> None:
    from mptcplab.machine.checks import able

    page = _print_checks(checks)
    if able(checks):
        page.line("The kernel engine can run here.")
    else:
        page.line("The kernel engine cannot run here.")


def _print_checks(checks: list[Check]) -> Page:
    from mptcplab.cli.summary.page import Page

    page = Page()
    name_width = max(len(check.name) for check in checks)
    for check in checks:
        verdict = page.style(check.verdict.ljust(7), STYLES[check.verdict])
        description = f"{check.found}; {check.meaning}" if check.meaning else check.found
        mend = f"  → {check.mend}" if check.mend else ""
        page.line(
            f"{verdict}  {check.name.ljust(name_width)}  {description}{page.style(mend, 'strong')}"
        )
    page.line()
    return page


def _print_json(checks: Sequence[Check], *, ready: bool) -> None:
    print_json({"schema": 1, "able": ready, "checks": [vars(check) for check in checks]})
