"""``mptcplab serve``: the other host of the field engine."""

from __future__ import annotations

import argparse

from mptcplab import Error
from mptcplab.cli.parser import Parser, number_above_0
from mptcplab.cli.say import say, show, show_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace, _SubParsersAction
    from typing import Any

EXAMPLES = """\
examples:
  mptcplab serve --name lab.example.org
  mptcplab serve --name lab.example.org --rate 200Mbit/s --per-run 500MB --per-day 20GB
  mptcplab serve --systemd > /etc/systemd/system/mptcplab-serve.service
"""
EVERYWHERE = "::"
EVERYWHERE_4 = "0.0.0.0"  # noqa: S104 - whoever has the token may come from anywhere


def add_to(commands: _SubParsersAction[Parser]) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "serve",
        help="be the other host of runs and probes over real networks",
        description="Serves transfers to clients that hold its token (mptcplab run --engine "
        "field), one at a time, and\nanswers their probes (mptcplab probe), until it is ended. "
        "Needs no privilege; with CAP_NET_RAW it\ncaptures, too.",
        epilog=EXAMPLES,
    )
    command.add_argument(
        "--name", metavar="HOST", help="how clients reach this host (default: its own name)"
    )
    command.add_argument(
        "--address",
        action="append",
        type=_address,
        metavar="ADDRESS",
        help="where it listens; may be repeated (default: everywhere)",
    )
    command.add_argument(
        "--port",
        action="append",
        type=_port,
        metavar="N",
        help="port of TCP and UDP; may be repeated (default: 7443)",
    )
    command.add_argument(
        "--probe-port",
        action="append",
        type=_port,
        metavar="N",
        help="port of TCP alone, for probes, which compare several; may be repeated (default: the "
        "one after the first --port)",
    )
    command.add_argument(
        "--state",
        metavar="DIR",
        help="directory of its key, its token and what it carried today; made if it is not there "
        "(default: mptcplab/server in $XDG_CONFIG_HOME or ~/.config)",
    )
    limits = command.add_argument_group("limits")
    limits.add_argument("--rate", type=_rate, metavar="RATE", help="how fast (default: no limit)")
    limits.add_argument(
        "--per-run", type=_bytes, default="1 GB", metavar="SIZE", help="in a run (default: 1 GB)"
    )
    limits.add_argument(
        "--per-day", type=_bytes, default="20 GB", metavar="SIZE", help="in a day (default: 20 GB)"
    )
    limits.add_argument(
        "--clients",
        type=number_above_0,
        default=16,
        metavar="N",
        help="clients that may wait for their turn (default: 16)",
    )
    command.add_argument(
        "--systemd", action="store_true", help="print a unit for systemd, and serve nobody"
    )
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Run the command and return its exit status."""
    import socket
    from pathlib import Path

    from mptcplab.engines.field import server_line
    from mptcplab.engines.field.server.limits import Limits
    from mptcplab.engines.field.server.serve import Server, serve

    ports = tuple(options.port or [server_line.PORT])
    tcp_ports = tuple(options.probe_port or [ports[0] % 65535 + 1])
    if both := set(ports) & set(tcp_ports):
        raise Error(f"--port and --probe-port both name {min(both)}: name another one")
    if options.systemd:
        from mptcplab.engines.field.server.unit import STATE, unit

        if options.state:
            raise Error(f"--state: a service of systemd keeps its state in {STATE}: leave it out")
        show_lines(unit(_said(options), ports + tcp_ports))
        return 0
    state = Path(options.state) if options.state else server_line.configuration() / "server"
    limits = Limits(
        rate_bits_per_second=options.rate,
        run_bytes=options.per_run,
        day_bytes=options.per_day,
        clients=options.clients,
    )
    everywhere = EVERYWHERE if socket.has_dualstack_ipv6() else EVERYWHERE_4
    addresses = tuple(options.address or [everywhere])
    host = options.name or socket.getfqdn()

    def begin(fingerprint: str) -> None:
        line = server_line.ServerLine(host, ports[0], fingerprint)
        at = ", ".join(map(str, ports)) + " (probes: " + ", ".join(map(str, tcp_ports)) + ")"
        say(f"mptcplab: serves at port {at}; the token is in {state}/token")
        show(str(line))

    def log(what: str) -> None:
        say(f"mptcplab: {what}")

    serve(Server(state.absolute(), addresses, ports, tcp_ports, limits), begin, log)
    return 0


def _said(options: Namespace) -> list[str]:
    """Give the options again, as a command line has them."""
    said = {
        "--name": [options.name],
        "--address": options.address or [],
        "--port": options.port or [],
        "--probe-port": options.probe_port or [],
        "--rate": [options.rate and f"{options.rate} bit/s"],
        "--per-run": [f"{options.per_run} B"],
        "--per-day": [f"{options.per_day} B"],
        "--clients": [options.clients],
    }
    return [
        argument
        for name, values in said.items()
        for value in values
        if value
        for argument in (name, str(value))
    ]


def _address(text: str) -> str:
    from ipaddress import ip_address

    try:
        ip_address(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not an address of IPv4 or IPv6") from None
    return text


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 1 << 16:
        raise argparse.ArgumentTypeError(f"{text} is not a port (1 to 65535)")
    return int(text)


def _rate(text: str) -> int:
    from mptcplab import quantity

    return _quantity(quantity.RATE, text)


def _bytes(text: str) -> int:
    from mptcplab import quantity

    return _quantity(quantity.BYTES, text)


def _quantity(kind: Any, text: str) -> int:
    try:
        value = int(kind.parse(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value
