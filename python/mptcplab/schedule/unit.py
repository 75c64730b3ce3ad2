"""A unit for systemd: the schedule of a user, started with the machine and after any end."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from mptcplab._core import Error

# Without a limit, so that a network that is away for days ends nothing.
UNIT = """\
[Unit]
Description=mptcplab schedule: {what}
After=network-online.target
Wants=network-online.target
StartLimitIntervalSec=0

[Service]
WorkingDirectory={directory}
ExecStart={command}
Restart=on-failure
RestartSec=30
# What cannot be run at all is not tried again.
RestartPreventExitStatus=2

[Install]
WantedBy=default.target
"""


def unit(what: str, arguments: Sequence[str]) -> str:
    """Give it for the Python that runs us, in the directory that we are in.

    Raises:
        Error: A name would be another one, or another line, in a unit.
    """
    directory = str(Path.cwd())
    command = [sys.executable, "-P", "-m", "mptcplab", "schedule", *arguments]
    for word in (what, directory, *command):
        if not word.isprintable() or "\\" in word:
            raise Error(f"{word}: this cannot stand in a unit of systemd: choose another name")
    # systemd reads % and $ in commands, and % in all else.
    line = shlex.join(command).replace("%", "%%").replace("$", "$$")
    what, directory = (word.replace("%", "%%") for word in (what, directory))
    return UNIT.format(what=what, directory=directory, command=line).rstrip("\n")
