"""``mptcplab anonymise``: captures in, captures fit to publish out."""

from __future__ import annotations

from argparse import Namespace, _SubParsersAction

from mptcplab.cli.parser import Parser, named
from mptcplab.cli.say import print_json, say, show

EXAMPLES = """\
examples:
  mptcplab anonymise client.pcapng server.pcapng --out public
  head -c 32 /dev/urandom > secret && mptcplab anonymise day*.pcapng --out public --secret secret
"""


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "anonymise",
        help="make captures fit to publish",
        description="Writes captures with other addresses and keys and without payload. Addresses "
        "keep their common prefixes, MPTCP stays valid, and what is measured stays the same. Give "
        "all captures of a network together.",
        epilog=EXAMPLES,
    )
    command.add_argument(
        "captures", nargs="+", type=named, metavar="CAPTURE", help="pcap or pcapng, also compressed"
    )
    command.add_argument(
        "--out",
        required=True,
        type=named,
        metavar="DIR",
        help="output directory; files keep their names",
    )
    command.add_argument(
        "--secret",
        type=named,
        metavar="FILE",
        help="random bytes that determine the new addresses and keys: captures anonymised later "
        "with the same file match these (default: drawn at random, and forgotten)",
    )
    command.add_argument("--json", action="store_true", help="print what was done as JSON")
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    from mptcplab.anonymising import anonymise

    secret = _secret(options.secret) if options.secret else None
    captures = anonymise(options.captures, options.out, secret=secret)
    for done in captures:
        if not options.json:
            show(
                f"{done.file}: {done.packets} packets, {done.payload_bytes} bytes of payload left "
                f"out, {done.remade} tokens and HMACs made anew"
            )
        if done.replaced:
            say(
                f"mptcplab: warning: {done.file}: {done.replaced} tokens and HMACs fit no key of "
                "the captures: other numbers stand in their place"
            )
        if done.cut:
            say(f"mptcplab: warning: {done.file}: its original is cut, and it ends there")
    if options.json:
        print_json({"captures": [one._asdict() | {"file": str(one.file)} for one in captures]})
    return 0


def _secret(file: str) -> bytes:
    from pathlib import Path

    from mptcplab import Error
    from mptcplab.reading import read_bytes

    try:
        return read_bytes(Path(file))
    except OSError as error:
        raise Error(f"cannot read {file}: {error.strerror or error}") from error
