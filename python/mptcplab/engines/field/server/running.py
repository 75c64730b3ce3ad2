"""One run at the server: an agent that transfers, a recorder, and their files."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
from pathlib import Path

from mptcplab._core import Error
from mptcplab.engines.field import agents, recorder
from mptcplab.engines.field.server.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from mptcplab.engines.field.server.limits import Limits
    from mptcplab.engines.field.server.run_request import RunRequest

AGENT = [sys.executable, "-P", "-m", "mptcplab.engines.kernel.agent"]
RECORDER = [sys.executable, "-P", "-m", "mptcplab.engines.field.recorder"]
HOST = "server"
LINGER_NS = 3 * 10**9
START_SECONDS = 30.0
END_SECONDS = 10.0
FILES = {"samples": "server.samples", "counters": "server.counters"}
CAPTURE = "server.pcapng"


class Running(Session):
    """A run to which connections and echoes may belong."""

    captured = True

    def __init__(
        self, request: RunRequest, limits: Limits, most_bytes: int, directory: Path, port: int
    ) -> None:
        super().__init__()
        #: What captures, or why nothing does.
        self.captures: dict[str, Any] = {"by": None, "why": "not asked for"}
        #: The agent's report at the end.
        self.done: dict[str, Any] | None = None
        self._request = request
        self._limits = limits
        self._most_bytes = most_bytes
        self._directory = directory
        self._port = port
        self._taken: set[int] = set()
        self._agent: asyncio.subprocess.Process | None = None
        self._recorder: asyncio.subprocess.Process | None = None
        # Passes connections to the agent.
        self._to_agent: socket.socket | None = None

    def take(self, number: int, sock: socket.socket) -> bool:
        """Pass an authenticated connection to the agent; each number is taken once."""
        if number != 0 or number in self._taken or self._to_agent is None:
            return False
        self._taken.add(number)
        try:
            socket.send_fds(self._to_agent, [b"c"], [sock.fileno()])
        except OSError:
            return False
        # The agent owns it now.
        sock.close()
        return True

    async def start(self) -> None:
        """Start the agent and the recorder."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._to_agent = ours
        ours.setblocking(False)
        with theirs:
            self._agent = await asyncio.create_subprocess_exec(
                *AGENT,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                pass_fds=[theirs.fileno()],
            )
            job = self._job() | {"handed": theirs.fileno()}
        self._send(json.dumps(job))
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._wait_for("ready")
        except TimeoutError:
            raise Error(f"the server's agent does not start within {START_SECONDS:g} s") from None
        if self._request.captures != "none":
            await self._record()
        self._send("go")

    async def wait(self) -> None:
        """Wait for the agent's end."""
        if self.done is None:
            self.done = (await self._wait_for("done"))["done"]

    async def end(self, others: Iterable[tuple[str, int]] = ()) -> None:
        """End it, even in the middle; all files are complete then.

        ``others`` are ends of connections outside the run, which are removed from its capture.
        """
        if self._to_agent is not None:
            self._to_agent.close()
            self._to_agent = None
        if self._agent is not None:
            if self.done is None:
                self._send("stop")
                with contextlib.suppress(TimeoutError, Error):
                    async with asyncio.timeout(END_SECONDS):
                        await self.wait()
            await _ended(self._agent)
        if self._recorder is not None:
            if self._recorder.returncode is None:
                _write(self._recorder, json.dumps({"without": list(others)}))
            await _ended(self._recorder, agents.CAPTURED_SECONDS)
            line = await _line(self._recorder)
            ended = json.loads(line) if line.endswith(b"\n") else {}
            if "captured" in ended:
                self.captures |= ended["captured"]
            else:
                why = ended.get("error", "the recorder ended in the middle")
                self.captures = {"by": None, "why": why}
                (self._directory / CAPTURE).unlink(missing_ok=True)
            self._recorder = None

    def files(self) -> list[Path]:
        """List its files."""
        names = [*FILES.values(), CAPTURE]
        return [path for name in names if (path := self._directory / name).is_file()]

    @property
    def carried(self) -> int | None:
        """Bytes that were written and read; ``None`` where the agent ended without a report."""
        if self.done is None:
            return None if self._taken else 0
        return int(self.done["bytes_sent"]) + int(self.done["bytes_received"])

    def _job(self) -> dict[str, Any]:
        request = self._request
        return {
            "transfer": request.transfer,
            "congestion_control": request.congestion_control,
            "stop_ns": request.stop_ns,
            "linger_ns": LINGER_NS,
            "host": HOST,
            "sample_ns": request.sample_ns,
            "shared": True,
            "most_bytes": self._most_bytes,
            "most_bits_per_second": self._limits.rate_bits_per_second,
            **{key: str(self._directory / name) for key, name in FILES.items()},
        }

    async def _record(self) -> None:
        snap = recorder.WHOLE_BYTES if self._request.captures == "full" else recorder.SNAP_BYTES
        job = {
            "file": str(self._directory / CAPTURE),
            "host": HOST,
            "interfaces": None,
            "port": self._port,
            "snap": snap,
            "most": self._limits.capture_bytes,
        }
        process = await asyncio.create_subprocess_exec(
            *RECORDER, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        _write(process, json.dumps(job))
        try:
            async with asyncio.timeout(START_SECONDS):
                message = json.loads(await _line(process) or b"{}")
        except TimeoutError:
            message = {"error": f"the recorder does not start within {START_SECONDS:g} s"}
        if "ready" in message:
            self._recorder = process
            self.captures = {"by": message["ready"], "why": None}
        else:
            self.captures = {"by": None, "why": message.get("error", "the recorder ended")}
            await _ended(process)

    async def _wait_for(self, key: str) -> dict[str, Any]:
        assert self._agent is not None  # noqa: S101 - it was started
        while line := await _line(self._agent):
            message: dict[str, Any] = json.loads(line)
            if "error" in message:
                raise Error(f"at the server: {message['error']}")
            if key in message:
                return message
        raise Error("the server's agent ended in the middle")

    def _send(self, line: str) -> None:
        assert self._agent is not None  # noqa: S101 - it was started
        _write(self._agent, line)


async def _line(process: asyncio.subprocess.Process) -> bytes:
    assert process.stdout is not None  # noqa: S101 - it has one
    return await process.stdout.readline()


def _write(process: asyncio.subprocess.Process, line: str) -> None:
    assert process.stdin is not None  # noqa: S101 - it has one
    with contextlib.suppress(OSError):
        process.stdin.write(f"{line}\n".encode())


async def _ended(process: asyncio.subprocess.Process, seconds: float = END_SECONDS) -> None:
    """Close its input, which ends it, and wait for its end."""
    assert process.stdin is not None  # noqa: S101 - it has one
    process.stdin.close()
    try:
        async with asyncio.timeout(seconds):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, 9)
        await process.wait()
