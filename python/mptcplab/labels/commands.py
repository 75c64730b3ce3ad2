"""Commands as people typed them."""

from __future__ import annotations

import shlex
from pathlib import Path


def typed_command(arguments: list[str]) -> str:
    """Give a command as it was typed, without where Python and mptcplab lie."""
    for number, word in enumerate(arguments):
        if Path(word).name == "mptcplab":
            return shlex.join(["mptcplab", *arguments[number + 1 :]])
    return shlex.join(arguments)
