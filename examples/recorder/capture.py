"""dumpcap on every path of a host, with interface names, nanoseconds and drop counts."""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

from recorder.merge import merge

SNAP_BYTES = 128
BUFFER_MB = 64
# The kernel hands packets over in blocks, some time after the last one.
SETTLE_SECONDS = 1


class Capture:
    """The captures of a host: a dumpcap per interface, since with two it loses packets."""

    def __init__(self, host: str, interfaces: Sequence[str], directory: pathlib.Path) -> None:
        self.host = host
        self.parts = [directory / f"{host}-{name}.pcapng" for name in interfaces]
        options = ["-q", "-f", "tcp", "-s", str(SNAP_BYTES), "-B", str(BUFFER_MB)]
        self.processes = [
            subprocess.Popen(
                ["ip", "netns", "exec", host, "dumpcap", *options, "-i", name, "-w", str(part)],
                stderr=subprocess.PIPE,
                text=True,
            )
            for name, part in zip(interfaces, self.parts, strict=True)
        ]

    def wait_until_open(self, seconds: float = 10) -> None:
        until = time.monotonic() + seconds
        for process, part in zip(self.processes, self.parts, strict=True):
            while not part.exists() or part.stat().st_size == 0:
                if process.poll() is not None or time.monotonic() > until:
                    process.kill()
                    sys.exit(f"dumpcap at the {self.host}: {process.communicate()[1].strip()}")
                time.sleep(0.05)

    def stop(self) -> bytes:
        """The pcapng of all interfaces."""
        time.sleep(SETTLE_SECONDS)
        for process in self.processes:
            process.send_signal(signal.SIGINT)
            remarks = process.communicate()[1].strip()
            if process.returncode:
                sys.exit(f"dumpcap at the {self.host}: {remarks}")
        return merge(self.parts)
