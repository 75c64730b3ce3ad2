"""``mptcplab controllers --load`` and ``--unload``: controllers as programs in the kernel."""

from __future__ import annotations

from argparse import Namespace

from mptcplab._core import Error
from mptcplab.cli.parser import Parser
from mptcplab.cli.say import say

EXAMPLES = """
  sudo mptcplab controllers --load lia olia   into the kernel, for runs with the kernel engine
  sudo mptcplab controllers --unload"""


def add_to(command: Parser) -> None:
    """Describe what concerns the kernel."""
    kernel = command.add_argument_group("the kernel")
    what = kernel.add_mutually_exclusive_group()
    what.add_argument(
        "--load",
        nargs="*",
        metavar="NAME",
        help="load these into the kernel, or all that there are as programs for it; anybody may "
        "then use them, until they are unloaded or the machine goes down (root)",
    )
    what.add_argument(
        "--unload",
        nargs="*",
        metavar="NAME",
        help="unload these, or all; connections that use one keep it (root)",
    )


def run(options: Namespace) -> bool:
    """Load or unload, if that was asked for."""
    from mptcplab.controllers import catalogue, loading
    from mptcplab.messages import nearest

    names = options.load if options.unload is None else options.unload
    if names is None:
        return False
    for name in names:
        if name not in catalogue.NAMES:
            raise Error(f"there is no program for {name}; {nearest(name, catalogue.NAMES)}")
    act = loading.load if options.unload is None else loading.unload
    done = act(names or list(catalogue.NAMES))
    verb = "loaded" if options.unload is None else "unloaded"
    for name in done:
        say(f"mptcplab: {verb} {name} ({catalogue.linux(name)})")
    if not done:
        say(f"mptcplab: nothing to be {verb}")
    return True


def shown() -> str:
    """Say which are loaded, and how to load them."""
    from mptcplab.controllers import catalogue, repairs

    loaded = catalogue.loaded()
    old = [name for name in loaded if repairs.version(name) != catalogue.version(name)]
    line = f"in the kernel: {', '.join(loaded) or 'none'}"
    if old:
        line += f" ({', '.join(old)} of another version: --unload, then --load)"
    rest = [name for name in catalogue.NAMES if name not in loaded]
    return f"{line}; --load loads {', '.join(rest)}" if rest else line
