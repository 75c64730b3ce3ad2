"""``--open``: shows the page that a command wrote."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, _ArgumentGroup
from os import PathLike
from pathlib import Path

from mptcplab import Error
from mptcplab.cli.say import say


def add_open_to(command: ArgumentParser | _ArgumentGroup) -> None:
    """Describe the option."""
    command.add_argument(
        "--open",
        action="store_true",
        help="open the page in a web browser; the environment variable BROWSER may name one",
    )


def refuse_without_page(options: Namespace, *excluded: str) -> None:
    """Refuse to open what an option, by its attribute's name, leaves out.

    Raises:
        Error: There will be no page.
    """
    for name in excluded:
        if options.open and getattr(options, name) not in (None, False):
            raise Error(f"--open has no page to open with --{name.replace('_', '-')}")


def open_page(page: str | PathLike[str]) -> None:
    """Open it; where no browser can be found, say so."""
    import webbrowser

    if not webbrowser.open(Path(page).resolve().as_uri()):
        say(f"mptcplab: found no browser to open {page} with: set BROWSER to one")
