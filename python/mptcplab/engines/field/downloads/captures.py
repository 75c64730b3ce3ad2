"""The process that captures, as the server controls it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from pathlib import Path
from typing import Any

SPLITTER = [sys.executable, "-P", "-m", "mptcplab.engines.field.captures.splitter"]
SNAP_BYTES = 128
START_SECONDS = 30.0
END_SECONDS = 10.0
# Until the last packets of a connection are captured, also by dumpcap.
LAST_SECONDS = 0.8


class Captures:
    """Captures of downloads, where this user may capture."""

    def __init__(self) -> None:
        #: What captures, or why nothing does.
        self.by: str | None = None
        self.why: str | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._finished: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._receiver: asyncio.Task[None] | None = None

    async def start(self, port: int, most_bytes: int) -> None:
        """Capture a port from now on."""
        process = await asyncio.create_subprocess_exec(
            *SPLITTER,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            # Ctrl-C is ours to handle.
            start_new_session=True,
        )
        self._process = process
        self._send({"port": port, "snap": SNAP_BYTES, "most": most_bytes})
        assert process.stdout is not None  # noqa: S101 - it has one
        try:
            async with asyncio.timeout(START_SECONDS):
                message = json.loads(await process.stdout.readline() or b"{}")
        except TimeoutError:
            message = {}
        self.by = message.get("ready")
        if self.by is None:
            self.why = message.get("error", "the recorder does not start")
        self._receiver = asyncio.ensure_future(self._receive(process.stdout))

    def claim(self, number: int, file: Path, ends: list[tuple[str, int, str]]) -> None:
        """Write the packets of these clients' ends, over these paths, to a capture."""
        if self.by is not None:
            self._send({"claim": number, "file": str(file), "ends": ends})

    async def finish(self, number: int) -> dict[str, Any]:
        """End a capture; returns what captured it, or why nothing did, and what it lacks."""
        if self.by is None:
            return {"by": None, "why": self.why}
        await asyncio.sleep(LAST_SECONDS)
        self._finished[number] = asyncio.get_running_loop().create_future()
        self._send({"finish": number})
        try:
            async with asyncio.timeout(END_SECONDS):
                message = await self._finished[number]
        except TimeoutError:
            return {"by": None, "why": "the recorder does not answer"}
        finally:
            self._finished.pop(number, None)
        return {"by": self.by, "why": None, **message}

    async def end(self) -> None:
        """End the process."""
        if self._process is None:
            return
        assert self._process.stdin is not None  # noqa: S101 - it has one
        self._process.stdin.close()
        try:
            async with asyncio.timeout(END_SECONDS):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        if self._receiver is not None:
            await self._receiver

    async def _receive(self, out: asyncio.StreamReader) -> None:
        while line := await out.readline():
            message = json.loads(line)
            future = self._finished.get(message.pop("finished"))
            if future is not None and not future.done():
                future.set_result(message)
        if self.by is not None:
            self.by, self.why = None, "the recorder ended"

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process is not None  # noqa: S101 - it was started
        assert self._process.stdin is not None  # noqa: S101 - it has one
        with contextlib.suppress(OSError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
