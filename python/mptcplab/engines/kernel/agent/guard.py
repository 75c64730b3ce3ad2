"""The guard beside the kernel's path manager, where the scenario wants one."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from mptcplab._core import Error

ENDS_SECONDS = 5.0
OUTPUT_BYTES = 1 << 16


class Guard:
    """Runs from when it is made; its decisions go to a file, as rows of ``signals``.

    A ``policy`` opens and closes paths instead; ``plans`` are what interfaces may carry and cost.
    ``signals`` are what radios receive: nanoseconds from the start, interface and dBm.
    """

    def __init__(
        self,
        program: str,
        policy: str | None,
        plans: dict[str, Any],
        parameters: dict[str, Any],
        decisions: str,
        signals: list[tuple[int, str, float]],
    ) -> None:
        self._signals = signals
        self._powers_dbm: dict[str, float] = {}
        self._file = pathlib.Path(f"{decisions}.signals")
        command = [program, "--json", "--parameters", json.dumps(parameters)]
        if policy is not None:
            command += ["--policy", policy, "--plans", json.dumps(plans)]
        command += ["--state", f"{decisions}.state", "--signals", str(self._file)]
        with open(decisions, "wb") as file:  # noqa: PTH123 - the process has it from here on
            self._process = subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.PIPE
            )

    def check(self) -> None:
        """Fail if it has ended: from then on the run is one without a guard."""
        if self._process.poll() is not None:
            raise Error(f"the guard ended early: {self._last_line()}")

    def signals(self) -> Iterator[tuple[int, Callable[[], None]]]:
        """Give the times at which received powers change, and what reports each to the guard."""
        for at_ns, interface, dbm in self._signals:
            yield at_ns, partial(self._set_power, interface, dbm)

    def _set_power(self, interface: str, dbm: float) -> None:
        self._powers_dbm[interface] = dbm
        # The file is replaced whole.
        new_file = self._file.with_suffix(".new")
        lines = [f"{name} {power}\n" for name, power in self._powers_dbm.items()]
        new_file.write_text("".join(lines))
        new_file.replace(self._file)

    def end(self) -> None:
        """End it, once it has undone its changes."""
        self.check()
        self._process.terminate()
        try:
            status = self._process.wait(ENDS_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise Error(f"the guard did not end within {ENDS_SECONDS:.0f} s") from None
        if status:
            raise Error(f"the guard failed: {self._last_line()}")

    def _last_line(self) -> str:
        """Give its last line of errors; it writes a few lines, which a pipe holds."""
        output = b""
        if (pipe := self._process.stderr) is not None:
            os.set_blocking(pipe.fileno(), False)
            output = pipe.read(OUTPUT_BYTES) or b""
        lines = output.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"exit status {self._process.returncode}"
