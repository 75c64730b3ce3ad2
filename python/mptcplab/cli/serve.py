"""``mptcplab serve``: the other host of the field engine."""

from __future__ import annotations

import argparse

from mptcplab import Error
from mptcplab.cli import defaults
from mptcplab.cli.parser import Parser, named, number_above_0
from mptcplab.cli.say import print_unit, say, show, show_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace, _SubParsersAction
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    from mptcplab.engines.field.server.serve import Served

EXAMPLES = """\
examples:
  mptcplab serve --name lab.example.org
  mptcplab serve --name lab.example.org --rate 200Mbit/s --per-run 500MB --per-day 20GB
  mptcplab serve --open --out phones          a download for phones that speak MPTCP themselves
  mptcplab serve --systemd > /etc/systemd/system/mptcplab-serve.service
"""
# What goes with --open alone.
OPEN_ALONE = ("out", "per_address", "keep")
EVERYWHERE = "::"
EVERYWHERE_4 = "0.0.0.0"  # noqa: S104 - whoever has the token may come from anywhere


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "serve",
        help="serve runs and probes over real networks to other hosts, or downloads to phones",
        description="Serves transfers to clients that hold its token (mptcplab run --engine "
        "field), one at a time, and answers their probes (mptcplab probe), until it is stopped. "
        "Needs no privilege; with CAP_NET_RAW or in dumpcap's group it captures, too. "
        "With --open it serves downloads by HTTP over MPTCP to whoever asks, each a "
        "run directory.",
        epilog=EXAMPLES,
    )
    command.add_argument(
        "--name",
        metavar="HOST",
        help="name or address by which clients reach this host (default: its own name)",
    )
    command.add_argument(
        "--address",
        action="append",
        type=_address,
        metavar="ADDRESS",
        help="address to listen on; may be repeated (default: all)",
    )
    command.add_argument(
        "--port",
        action="append",
        type=_port,
        metavar="N",
        help="port for TCP and UDP; may be repeated (default: 7443; with --open 8080, only one)",
    )
    command.add_argument(
        "--probe-port",
        action="append",
        type=_port,
        metavar="N",
        help="TCP port for probes, which compare several ports; may be repeated (default: the one "
        "after the first --port)",
    )
    command.add_argument(
        "--state",
        metavar="DIR",
        help="directory of its key, its token and how much it sent today; created if missing "
        "(default: mptcplab/server in $XDG_CONFIG_HOME or ~/.config)",
    )
    limits = command.add_argument_group("limits")
    limits.add_argument(
        "--rate", type=_rate, metavar="RATE", help="maximum rate (default: no limit)"
    )
    limits.add_argument(
        "--per-run",
        type=_bytes,
        metavar="SIZE",
        help="maximum per run (default: 1 GB; with --open 100 MB)",
    )
    limits.add_argument(
        "--per-day", type=_bytes, metavar="SIZE", help="maximum per day (default: 20 GB)"
    )
    limits.add_argument(
        "--clients",
        type=number_above_0,
        metavar="N",
        help="clients that may wait for their turn (default: 16); with --open, clients that are "
        "served at once (default: 8)",
    )
    opened = command.add_argument_group("downloads for anybody")
    opened.add_argument(
        "--open",
        action="store_true",
        help="serve GET /SIZE (such as /10MB) by HTTP to whoever asks, with no token, and nothing "
        "else; each download becomes a run directory",
    )
    opened.add_argument(
        "--out", type=named, metavar="DIR", help="directory for these (default: runs/open)"
    )
    opened.add_argument(
        "--per-address",
        type=_bytes,
        metavar="SIZE",
        help="maximum per day to an address, or an IPv6 network (default: 1 GB)",
    )
    opened.add_argument(
        "--keep",
        type=_bytes,
        metavar="SIZE",
        help="maximum size of DIR; beyond it, downloads are served but not kept (default: 10 GB)",
    )
    command.add_argument(
        "--systemd", action="store_true", help="print a unit for systemd instead of serving"
    )
    command.add_argument(
        "--json",
        action="store_true",
        help="print a line of JSON once it serves, and one at its end with what it carried; with "
        "--systemd, the unit as JSON",
    )
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    from mptcplab.engines.field import server_line

    if options.name is not None:
        server_line.check_host(options.name)
    if options.open:
        return _run_open(options)
    for name in OPEN_ALONE:
        if getattr(options, name) is not None:
            raise Error(f"--{name.replace('_', '-')} goes with --open")
    import socket

    from mptcplab.engines.field.server.limits import Limits
    from mptcplab.engines.field.server.serve import Server, serve

    ports = tuple(options.port or [server_line.PORT])
    tcp_ports = tuple(options.probe_port or [ports[0] % 65535 + 1])
    if both := set(ports) & set(tcp_ports):
        raise Error(f"--port and --probe-port both name {min(both)}: name another one")
    if options.systemd:
        return _print_unit(options, ports + tcp_ports, [])
    state = _state(options)
    limits = Limits(
        rate_bits_per_second=options.rate,
        **_given(options, per_run="run_bytes", per_day="day_bytes", clients="clients"),
    )
    host = options.name or socket.getfqdn()

    def begin(fingerprint: str) -> None:
        line = server_line.ServerLine(host, ports[0], fingerprint)
        if options.json:
            _show_serving(
                line=str(line), ports=ports, probe_ports=tcp_ports, token=f"{state}/token"
            )
            return
        at = ", ".join(map(str, ports)) + " (probes: " + ", ".join(map(str, tcp_ports)) + ")"
        say(f"mptcplab: serves at port {at}; the token is in {state}/token")
        show(str(line))

    server = Server(state.absolute(), _addresses(options), ports, tcp_ports, limits)
    _show_served(serve(server, begin, _log), options)
    return 0


def _run_open(options: Namespace) -> int:
    import socket
    from pathlib import Path

    from mptcplab.engines.field.downloads.quota import DownloadLimits
    from mptcplab.engines.field.downloads.serve import PORT, OpenServer, serve
    from mptcplab.results.downloads import save

    if options.probe_port:
        raise Error("--probe-port is for probes, which --open does not answer: leave it out")
    ports = options.port or [PORT]
    if len(ports) > 1:
        raise Error("--open serves at one port: name one --port")
    if options.systemd:
        from mptcplab.engines.field.server.unit import STATE

        return _print_unit(options, ports, ["--open", "--out", options.out or f"{STATE}/open"])
    state, out = _state(options), Path(options.out or defaults.folder("runs", "open"))
    names = {
        "per_run": "download_bytes",
        "per_day": "day_bytes",
        "clients": "downloads",
        "per_address": "address_bytes",
        "keep": "kept_bytes",
    }
    limits = DownloadLimits(rate_bits_per_second=options.rate, **_given(options, **names))
    host = options.name or socket.getfqdn()

    def begin(by: str | None, reason: str | None) -> None:
        address = f"http://{f'[{host}]' if ':' in host else host}:{ports[0]}/"
        if options.json:
            _show_serving(address=address, captured_by=by, reason=reason, runs=str(out))
            return
        captures = f"captured by {by}" if by else f"without captures ({reason})"
        say(f"mptcplab: serves downloads to whoever asks, {captures}; runs go to {out}")
        show(address)

    server = OpenServer(state.absolute(), out, _addresses(options), ports[0], limits)
    _show_served(serve(server, save, begin, _log), options)
    return 0


def _show_serving(**what: Any) -> None:
    show_json({"event": "serving"} | what)


def _show_served(served: Served, options: Namespace) -> None:
    if options.json:
        show_json({"event": "ended"} | vars(served))


def _log(what: str) -> None:
    say(f"mptcplab: {what}")


def _state(options: Namespace) -> Path:
    from pathlib import Path

    from mptcplab.engines.field import server_line

    return Path(options.state) if options.state else server_line.configuration() / "server"


def _addresses(options: Namespace) -> tuple[str, ...]:
    import socket

    everywhere = EVERYWHERE if socket.has_dualstack_ipv6() else EVERYWHERE_4
    return tuple(options.address or [everywhere])


def _given(options: Namespace, **names: str) -> dict[str, Any]:
    """Give the limits that were set, by the names that they have in the library."""
    limits = {limit: getattr(options, name) for name, limit in names.items()}
    return {limit: value for limit, value in limits.items() if value is not None}


def _print_unit(options: Namespace, ports: Sequence[int], more: list[str]) -> int:
    from mptcplab.engines.field.server.unit import STATE, unit

    if options.state:
        raise Error(f"--state: a service of systemd keeps its state in {STATE}: leave it out")
    print_unit(unit([*more, *_command_line(options)], ports), json=options.json)
    return 0


def _command_line(options: Namespace) -> list[str]:
    """Give the options as arguments of a command line."""
    arguments = {
        "--name": [options.name],
        "--address": options.address or [],
        "--port": options.port or [],
        "--probe-port": options.probe_port or [],
        "--rate": [options.rate and f"{options.rate} bit/s"],
        "--per-run": [options.per_run and f"{options.per_run} B"],
        "--per-day": [options.per_day and f"{options.per_day} B"],
        "--clients": [options.clients],
        "--per-address": [options.per_address and f"{options.per_address} B"],
        "--keep": [options.keep and f"{options.keep} B"],
    }
    return [
        argument
        for name, values in arguments.items()
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
