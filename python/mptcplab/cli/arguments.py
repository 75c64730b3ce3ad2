"""Arguments of all commands that run a scenario."""

from __future__ import annotations

from mptcplab.cli.parser import number
from mptcplab.engines import DEFAULT, ENGINES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, _ArgumentGroup


def add_changes_to(command: ArgumentParser) -> None:
    """Describe what a run has other than the scenario's file."""
    command.add_argument(
        "--seed", type=number, default=1, metavar="N", help="seed of all chance (default: 1)"
    )
    command.add_argument(
        "--set",
        action="append",
        default=[],
        dest="settings",
        metavar="KEY=VALUE",
        help="change the scenario: path.wifi.rate=10Mbit/s, timeline.0.at=5s; may be repeated",
    )


def add_engine_to(command: ArgumentParser) -> None:
    """Describe what runs it."""
    told = "; ".join(f"{name}: {engine.means}" for name, engine in ENGINES.items())
    command.add_argument(
        "--engine",
        choices=ENGINES,
        default=DEFAULT.name,
        help=f"what runs it. {told} (default: {DEFAULT.name})",
    )


def add_captures_to(output: _ArgumentGroup) -> None:
    """Describe what captures hold."""
    captures = output.add_mutually_exclusive_group()
    captures.add_argument(
        "--no-captures",
        action="store_const",
        const="none",
        default="headers",
        dest="captures",
        help="write tables only",
    )
    captures.add_argument(
        "--full-payload",
        action="store_const",
        const="full",
        dest="captures",
        help="write the payload into the captures too: of other programs all that they send, "
        "passwords in clear text as well",
    )
