"""The program beside an agent that carries its connection over QUIC."""

from __future__ import annotations

import json
import os
import select
import subprocess
from typing import Any

from mptcplab._core import Error

STARTS_SECONDS, ENDS_SECONDS = 10.0, 5.0
READ_BYTES = 1 << 16


class Quic:
    """Runs from when it is made; ``job`` is what the program is asked."""

    def __init__(self, program: str, job: dict[str, Any]) -> None:
        self._output = b""
        self._congestion_control: str = job["congestion_control"]
        self._process = subprocess.Popen(  # noqa: S603
            [program, json.dumps(job)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        if "ready" not in self._line(STARTS_SECONDS):
            raise Error(f"mptcplab-quic does not start: {self._last_line()}")

    def is_over(self) -> bool:
        """Say whether its connection has ended."""
        return self._process.poll() is not None

    def end(self) -> dict[str, Any]:
        """End it, if it still runs; gives why its connection ended early, if so, and its paths."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        said = self._line(ENDS_SECONDS)
        if "done" not in said:
            self._process.kill()
            self._process.wait()
            raise Error(f"mptcplab-quic ended early: {self._last_line()}")
        self._process.wait()
        done: dict[str, Any] = said["done"]
        return done

    def sockets(self, done: dict[str, Any]) -> list[dict[str, Any]]:
        """Give its connection as a summary of sockets has it: paths for subflows."""
        paths = [
            {key: path[key] for key in ("local", "remote")}
            | {"congestion_control": self._congestion_control}
            for path in done["paths"]
        ]
        shared = {"mptcp": False, "fallback": False, "token": None}
        return [{**shared, "subflows": paths}] if paths else []

    def _line(self, seconds: float) -> dict[str, Any]:
        """Read a line; an empty one where none comes."""
        pipe = self._process.stdout
        assert pipe is not None  # noqa: S101 - it is one
        while b"\n" not in self._output:
            if not select.select([pipe], [], [], seconds)[0]:
                return {}
            received = os.read(pipe.fileno(), READ_BYTES)
            if not received:
                return {}
            self._output += received
        line, self._output = self._output.split(b"\n", 1)
        said: dict[str, Any] = json.loads(line)
        return said

    def _last_line(self) -> str:
        pipe = self._process.stderr
        assert pipe is not None  # noqa: S101 - it is one
        os.set_blocking(pipe.fileno(), False)
        lines = (pipe.read() or b"").decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"exit status {self._process.poll()}"
