"""Transfers between kernels, recorded for the tests."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from dataclasses import dataclass

# A recording in which the kernel reset a connection (see recorder/transfer.py) is made again: it is
# material here, and not what is tested.
RESET = os.EX_TEMPFAIL
TIMES = 3
RECORD = pathlib.Path(__file__).resolve().parents[1] / "examples" / "record.py"
KINDS = {
    "bulk": ["bulk", "5000000"],
    "bulk-lossy": ["bulk", "4000000", "--loss", "1"],
    "short": ["short", "150"],
    "short-lossy": ["short", "100", "--loss", "1"],
}
# Thousands of connections: too many for tshark in a test.
MANY = {"many": ["short", "2000"]}


@dataclass(frozen=True)
class KernelCapture:
    """Both ends of transfers between kernels, and the sizes that the server's application sent."""

    client: pathlib.Path
    server: pathlib.Path
    bytes_up: int
    bytes_down: list[int]  # one per connection, in no order of the capture


def record(kind: str, directory: pathlib.Path) -> KernelCapture:
    """Make captures of one of KINDS or MANY."""
    what, number, *options = (KINDS | MANY)[kind]
    command = [sys.executable, str(RECORD), what, number, str(directory), *options]
    for _ in range(TIMES):
        done = subprocess.run(command, check=False, timeout=120, stdout=subprocess.DEVNULL)
        if done.returncode != RESET:
            break
    done.check_returncode()
    sent = json.loads((directory / "sent.json").read_text())
    return KernelCapture(
        directory / "client.pcapng",
        directory / "server.pcapng",
        sent["bytes_up"],
        sent["bytes_down"],
    )
