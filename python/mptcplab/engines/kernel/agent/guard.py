"""The guard beside the kernel's path manager, where the scenario wants one."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

from mptcplab._core import Error

ENDS_SECONDS = 5.0
SAID_BYTES = 1 << 16


class Guard:
    """Runs from when it is made; what it decides goes to a file, as rows of ``signals``."""

    def __init__(self, program: str, parameters: dict[str, Any], decisions: str) -> None:
        command = [program, "--json", "--parameters", json.dumps(parameters)]
        command += ["--state", f"{decisions}.state"]
        with open(decisions, "wb") as file:  # noqa: PTH123 - the process has it from here on
            self._process = subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.PIPE
            )

    def check(self) -> None:
        """Fail if it has ended: from then on the run is one without a guard."""
        if self._process.poll() is not None:
            raise Error(f"the guard ended early: {self._said()}")

    def end(self) -> None:
        """Have it put back what it took, and end."""
        self.check()
        self._process.terminate()
        try:
            status = self._process.wait(ENDS_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise Error(f"the guard did not end within {ENDS_SECONDS:.0f} s") from None
        if status:
            raise Error(f"the guard failed: {self._said()}")

    def _said(self) -> str:
        """Give its last words; it says a few lines, which a pipe holds."""
        said = b""
        if (pipe := self._process.stderr) is not None:
            os.set_blocking(pipe.fileno(), False)
            said = pipe.read(SAID_BYTES) or b""
        lines = said.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"exit status {self._process.returncode}"
