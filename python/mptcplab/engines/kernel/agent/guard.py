"""The guard beside the kernel's path manager, where the scenario wants one."""

from __future__ import annotations

import json
import subprocess

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ENDS_SECONDS = 5.0


class Guard:
    """Runs from when it is made; what it decides goes to a file, as rows of ``signals``."""

    def __init__(self, program: str, parameters: dict[str, Any], decisions: str) -> None:
        command = [program, "--json", "--parameters", json.dumps(parameters)]
        with open(decisions, "wb") as file:  # noqa: PTH123 - the process has it from here on
            self._process = subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.PIPE
            )

    def end(self) -> None:
        """Have it put back what it took, and end."""
        self._process.terminate()
        _, said = self._process.communicate(timeout=ENDS_SECONDS)
        if self._process.returncode:
            raise Error(said.decode("utf-8", "replace").strip() or "the guard failed")
