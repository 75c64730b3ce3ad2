"""dumpcap on every path of a host: one pcapng with interface names, nanoseconds and drop counts."""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

SNAP_BYTES = 128
BUFFER_MB = 64


class Capture:
    def __init__(self, host: str, interfaces: Sequence[str], file: pathlib.Path) -> None:
        self.host = host
        self.file = file
        per_interface = [["-i", name, "-s", str(SNAP_BYTES), "-B", str(BUFFER_MB)] for name in interfaces]
        options = [word for words in per_interface for word in words]
        command = ["dumpcap", "-q", "-f", "tcp", *options, "-w", str(file)]
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", host, *command], stderr=subprocess.PIPE, text=True
        )

    def wait_until_open(self, seconds: float = 10) -> None:
        until = time.monotonic() + seconds
        while not self.file.exists() or self.file.stat().st_size == 0:
            if self.process.poll() is not None or time.monotonic() > until:
                sys.exit(f"dumpcap at the {self.host}: {self._remarks()}")
            time.sleep(0.05)

    def stop(self) -> None:
        # dumpcap reads whole blocks of packets, which the kernel hands over some time after the last one.
        time.sleep(1)
        self.process.send_signal(signal.SIGINT)
        remarks = self._remarks()
        if self.process.returncode:
            sys.exit(f"dumpcap at the {self.host}: {remarks}")

    def _remarks(self) -> str:
        if self.process.poll() is None and not self.file.exists():
            self.process.kill()
        return self.process.communicate()[1].strip()
