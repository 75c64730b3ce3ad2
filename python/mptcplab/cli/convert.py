"""``mptcplab convert``: convert between TCP and MPTCP at one end of several paths."""

from __future__ import annotations

import os
from argparse import Namespace, _SubParsersAction

from mptcplab.cli.parser import Parser

EXAMPLES = """\
examples:
  mptcplab convert server --listen '[::]:5124' --allow 10.0.0.0/8    for these clients
  mptcplab convert server --listen 192.0.2.5:443 --to 10.0.0.7:443    before one server
  mptcplab convert client --listen 10.1.0.1:80 --to 192.0.2.7:80 --converter 192.0.2.5:5124
  mptcplab convert client --listen 10.1.0.1:80 --to 192.0.2.7:80      to a server of MPTCP
  sudo mptcplab convert client --listen 0.0.0.0:80 --transparent --converter 192.0.2.5:5124
"""
# Those that take a value, with what stands for it in the help.
VALUES = {
    "--listen": ("ADDRESS:PORT", "where connections come in"),
    "--to": ("ADDRESS:PORT", "the server, the same for all connections"),
    "--converter": ("ADDRESS:PORT", "client: the converter at the server's end, by RFC 8803"),
    "--congestion-control": ("NAME", "of connections of MPTCP (default: the host's)"),
    "--connections": ("N", "connections at once (default: 1000)"),
    "--idle": ("SECONDS", "reset connections on which nothing moved for so long (default: 7440)"),
}
FLAGS = {
    "--transparent": "the server is whom the client connects to; needs CAP_NET_ADMIN",
    "--cookies": "server: clients have to send back a cookie",
    "--json": "print a line of JSON for each connection that has ended",
}


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "convert",
        help="convert between TCP and MPTCP at one end of several paths",
        description="Takes TCP at the client's end of several paths and makes MPTCP of it, or "
        "takes MPTCP at the server's end and makes TCP of it. The converter at the client's end "
        "tells the other one by the Convert Protocol (RFC 8803) whom to connect to, or both are "
        "transparent, or the server is always the same.",
        epilog=EXAMPLES,
    )
    command.add_argument("end", choices=("client", "server"), help="at which end of the paths")
    for option, (metavar, about) in VALUES.items():
        command.add_argument(option, metavar=metavar, help=about)
    command.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="NETWORK",
        help="server: clients that may name a server to connect to, such as 10.0.0.0/8",
    )
    for option, about in FLAGS.items():
        command.add_argument(option, action="store_true", help=about)
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Become the program that does it."""
    from mptcplab.machine import programs

    given = vars(options)
    arguments = [options.end]
    for option in VALUES:
        if (value := given[option.removeprefix("--").replace("-", "_")]) is not None:
            arguments += [option, value]
    for network in options.allow:
        arguments += ["--allow", network]
    arguments += [option for option in FLAGS if given[option.removeprefix("--")]]
    path = programs.converter()
    os.execv(path, [path, *arguments])  # noqa: S606 - ours
