"""A unit for systemd: the schedule of a user, started with the machine and after any end."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Without a limit, so that a network that is away for days ends nothing.
UNIT = """\
[Unit]
Description=mptcplab schedule: {what}
After=network-online.target
Wants=network-online.target
StartLimitIntervalSec=0

[Service]
WorkingDirectory={place}
ExecStart={command}
Restart=on-failure
RestartSec=30
# What cannot be run at all is not tried again.
RestartPreventExitStatus=2

[Install]
WantedBy=default.target
"""


def unit(what: str, arguments: Sequence[str]) -> str:
    """Give it for the Python that runs us, in the directory that we are in."""
    words = [sys.executable, "-P", "-m", "mptcplab", "schedule", *arguments]
    # systemd reads % and $ in commands, and % in all else.
    command = shlex.join(words).replace("%", "%%").replace("$", "$$")
    place = str(Path.cwd()).replace("%", "%%")
    return UNIT.format(what=what.replace("%", "%%"), place=place, command=command).rstrip("\n")
