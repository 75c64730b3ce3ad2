"""The control protocol, lines of JSON over TLS: a client shows its token and asks for runs.

Of the client: ``{"hello": 1, "token": TOKEN, "congestion_controls": [...]}``, the last if it wants
to know whether these can be chosen; then for each run ``{"run": {...}}`` as `run_request` reads it,
and ``{"end": true}`` when it has done its part; or ``{"probe": {"seconds": n}}``, any line to see
whether the server is there, and ``{"end": true}``. Of the server: ``{"welcome": {...}}``,
``{"waiting": n}`` while others run, ``{"ready": {...}}``, ``{"done": {...}, "files": [...],
"captures": {...}}`` and the files' bytes; or ``{"refused": "one line"}``, after which all is over
but a request's refusal.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import platform
import shutil
import socket
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from mptcplab import _core
from mptcplab._core import Error
from mptcplab.engines.field import preamble, probe_protocol
from mptcplab.engines.field.keep_alive import keep_alive
from mptcplab.engines.field.server import run_request
from mptcplab.engines.field.server.probing import MOST_SESSION_BYTES, Probing
from mptcplab.engines.field.server.running import Running
from mptcplab.engines.field.server_line import PROTOCOL
from mptcplab.engines.kernel.agent.sockets import choose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from mptcplab.engines.field.server.limits import Ledger, Limits, Reservation
    from mptcplab.engines.field.server.listeners import Client, Listeners
    from mptcplab.engines.field.server.run_request import RunRequest

# For a client to send a line, or to read what it is sent.
PATIENCE_SECONDS = 60.0
HELLO_SECONDS = 10.0
# The wait after a wrong token, so that guessing is slow.
WRONG_SECONDS = 1.0
CHUNK_BYTES = 1 << 16
# A client that takes its files more slowly than this gets no more of them.
LEAST_BYTES_PER_SECOND = 16_000
# Between the end of the client and that of the agent.
GRACE_SECONDS = 3.0
# What a client may cause by breaking off; it is no fault of the server.
BROKEN = (
    OSError,
    TimeoutError,
    asyncio.IncompleteReadError,
    asyncio.LimitOverrunError,
    ValueError,
    RecursionError,
    Error,
)
# Of congestion controls that one connection asks about.
MOST_NAMES = 16
SPENT = "this server has carried all that it may today"
SETTINGS = ("net/mptcp/scheduler", "net/ipv4/tcp_congestion_control")


class Ends(NamedTuple):
    """A client's connection: its socket, and both addresses."""

    socket: Any
    local: tuple[Any, ...]
    remote: tuple[Any, ...]


class Control:
    """Serves clients, one run at a time."""

    def __init__(self, token: str, limits: Limits, ledger: Ledger) -> None:
        self.listeners: Listeners
        #: Ports of TCP alone, at which the kernel keeps SYNs for probes.
        self.tcp_ports: list[int] = []
        self._token = token.encode()
        self._limits = limits
        self._ledger = ledger
        self._clients = 0
        self._waiting = 0
        self._turn = asyncio.Lock()

    async def serve(self, client: Client, proven: Callable[[], None]) -> None:
        """Serve one until it leaves; ``proven`` is called once it has shown its token.

        Raises:
            ConnectionResetError: It is gone already.
        """
        reader, writer = client
        # A TLS transport no longer knows them once the client is gone.
        ends = Ends(*(writer.get_extra_info(name) for name in ("socket", "sockname", "peername")))
        if None in ends:
            writer.close()
            raise ConnectionResetError("the client is gone")
        try:
            await self._serve(reader, writer, ends, proven)
        except BROKEN:
            # It broke off, was too slow, or did not follow the protocol.
            pass
        finally:
            writer.close()
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(HELLO_SECONDS):
                    await writer.wait_closed()

    async def _serve(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        ends: Ends,
        proven: Callable[[], None],
    ) -> None:
        hello = await _read(reader, HELLO_SECONDS)
        token = hello.get("token")
        if not isinstance(token, str) or not hmac.compare_digest(token.encode(), self._token):
            await asyncio.sleep(WRONG_SECONDS)
            await _send(writer, {"refused": "wrong token"})
            return
        if hello.get("hello") != PROTOCOL:
            await _send(writer, {"refused": f"this server speaks version {PROTOCOL}"})
            return
        if refused := _refused(hello.get("congestion_controls")):
            await _send(writer, {"refused": refused})
            return
        if self._clients >= self._limits.clients:
            await _send(writer, {"refused": "too many clients wait: try again later"})
            return
        proven()
        keep_alive(ends.socket)
        self._clients += 1
        try:
            await _send(writer, {"welcome": {"version": _core.VERSION}})
            while True:
                message = await _read(reader, PATIENCE_SECONDS)
                if "probe" in message:
                    await self._probe(message["probe"], reader, writer)
                    continue
                try:
                    request = run_request.read(message.get("run"), self._limits)
                except Error as error:
                    await _send(writer, {"refused": str(error)})
                    continue
                await self._in_turn(request, reader, writer, ends)
        finally:
            self._clients -= 1

    async def _in_turn(
        self,
        request: RunRequest,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        ends: Ends,
    ) -> None:
        if self._turn.locked():
            await _send(writer, {"waiting": self._waiting})
        try:
            directory = Path(tempfile.mkdtemp(prefix="mptcplab-serve-"))
        except OSError as error:
            refused = f"at the server: cannot write {error.filename}: {error.strerror}"
            await _send(writer, {"refused": refused})
            return
        try:
            async with self._own_turn(reader):
                running = await self._run(request, directory, reader, writer, ends)
            # A client that reads slowly does not hold up the others.
            if running is not None:
                await _send_files(writer, running)
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    @contextlib.asynccontextmanager
    async def _own_turn(self, reader: asyncio.StreamReader) -> AsyncIterator[None]:
        """Wait for the turn while the client is connected."""
        turn = asyncio.ensure_future(self._turn.acquire())
        gone = asyncio.ensure_future(reader.read(1))
        self._waiting += 1
        try:
            await asyncio.wait({turn, gone}, return_when=asyncio.FIRST_COMPLETED)
            if gone.done():
                raise Error("a client that waits has nothing to say")
        except BaseException:
            await _cancelled(turn)
            if not turn.cancelled():
                self._turn.release()
            raise
        finally:
            self._waiting -= 1
            await _cancelled(gone)
        try:
            yield
        finally:
            self._turn.release()

    async def _run(
        self,
        request: RunRequest,
        directory: Path,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        ends: Ends,
    ) -> Running | None:
        """Run it; returns it once it is over, or ``None`` where it was refused."""
        reserved = await self._reserve(self._limits.run_bytes, writer)
        if reserved is None:
            return None
        running = Running(request, self._limits, reserved.count, directory, ends.local[1])
        try:
            try:
                await running.start()
            except Error as error:
                await _send(writer, {"refused": str(error)})
                return None
            self.listeners.sessions[running.run] = running
            await _send(writer, {"ready": self._ready(running, ends)})
            try:
                await self._until_over(running, request, reader)
            except Error as error:
                # The client reads why once it has ended.
                await _send(writer, {"refused": str(error)})
                raise
            await running.end(self.listeners.others)
        finally:
            self.listeners.sessions.pop(running.run, None)
            await running.end()
            self._settle(reserved, running.carried)
        return running

    async def _reserve(self, most: int, writer: asyncio.StreamWriter) -> Reservation | None:
        """Reserve bytes of the day, or tell the client why there are none."""
        refused = SPENT
        try:
            reserved = self._ledger.reserve(most, self._limits.day_bytes)
        except Error as error:
            reserved, refused = None, f"at the server: {error}"
        if reserved is None:
            await _send(writer, {"refused": refused})
        return reserved

    def _settle(self, reserved: Reservation, carried: int | None) -> None:
        """Count what was carried; where that cannot be written, all that was reserved stays."""
        with contextlib.suppress(Error):
            self._ledger.settle(reserved, carried)

    async def _probe(
        self, request: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer probes, also during a run, until the client ends them."""
        seconds = request.get("seconds") if isinstance(request, dict) else None
        if not isinstance(seconds, int) or not 0 < seconds <= probe_protocol.MOST_SESSION_SECONDS:
            await _send(writer, {"refused": "probes are asked for with their seconds, 3 h at most"})
            return
        most = min(self._limits.run_bytes, MOST_SESSION_BYTES)
        reserved = await self._reserve(most, writer)
        if reserved is None:
            return
        probing = Probing(reserved.count, self._limits.rate_bits_per_second)
        self.listeners.sessions[probing.run] = probing
        ready = {"run": probing.run.hex(), "key": probing.key.hex(), "ports": self.tcp_ports}
        try:
            await _send(writer, {"ready": ready})
            async with asyncio.timeout(seconds):
                while "end" not in await _read(reader, seconds):
                    await _send(writer, {"alive": True})
            await _send(writer, {"done": {}})
        finally:
            del self.listeners.sessions[probing.run]
            await probing.end()
            self._settle(reserved, probing.carried)

    def _ready(self, running: Running, ends: Ends) -> dict[str, Any]:
        return {
            "run": running.run.hex(),
            "key": running.key.hex(),
            "preamble_bytes": preamble.PREAMBLE_BYTES,
            "seen_as": list(ends.remote[:2]),
            "captures": running.captures,
            "kernel": {
                "release": platform.release(),
                "version": platform.version(),
                "settings": _settings(),
            },
        }

    async def _until_over(
        self, running: Running, request: RunRequest, reader: asyncio.StreamReader
    ) -> None:
        """Wait until client and agent have both ended, or one does not end after the other."""
        ends = asyncio.ensure_future(_read(reader, request.stop_ns / 1e9 + PATIENCE_SECONDS))
        agent = asyncio.ensure_future(running.wait())
        try:
            await asyncio.wait({ends, agent}, return_when=asyncio.FIRST_COMPLETED)
            if ends.done():
                # Raises if the client is gone.
                ends.result()
                await asyncio.wait({agent}, timeout=GRACE_SECONDS)
            else:
                await ends
            if agent.done():
                agent.result()
        finally:
            await _cancelled(ends, agent)


def _refused(congestion_controls: Any) -> str | None:
    """Choose each on a socket that nobody uses; gives why that cannot be."""
    if congestion_controls is None:
        # Nobody asks.
        return None
    given: list[Any] = congestion_controls if isinstance(congestion_controls, list) else [None]
    if len(given) > MOST_NAMES or not all(map(run_request.is_name, given)):
        return f"congestion_controls is not a list of {MOST_NAMES} names at most"
    try:
        with socket.socket() as sock:
            for name in given:
                choose(sock, name)
    except Error as error:
        return f"at the server: {error}"
    return None


async def _read(reader: asyncio.StreamReader, seconds: float) -> dict[str, Any]:
    async with asyncio.timeout(seconds):
        line = await reader.readuntil(b"\n")
    message = json.loads(line)
    if not isinstance(message, dict):
        raise Error("a line is a table")
    return message


async def _send(writer: asyncio.StreamWriter, message: dict[str, Any]) -> None:
    writer.write(json.dumps(message).encode() + b"\n")
    async with asyncio.timeout(PATIENCE_SECONDS):
        await writer.drain()


async def _send_files(writer: asyncio.StreamWriter, running: Running) -> None:
    """Send the files of a run, unless the client reads them too slowly."""
    files = running.files()
    sizes = [path.stat().st_size for path in files]
    named = [{"name": path.name, "bytes": size} for path, size in zip(files, sizes, strict=True)]
    async with asyncio.timeout(PATIENCE_SECONDS + sum(sizes) / LEAST_BYTES_PER_SECOND):
        await _send(writer, {"done": running.done, "files": named, "captures": running.captures})
        for path, size in zip(files, sizes, strict=True):
            left = size
            with path.open("rb") as file:
                while left:
                    block = file.read(min(left, CHUNK_BYTES))
                    left -= len(block)
                    writer.write(block)
                    await writer.drain()


async def _cancelled(*futures: asyncio.Future[Any]) -> None:
    for future in futures:
        future.cancel()
    await asyncio.gather(*futures, return_exceptions=True)


def _settings() -> dict[str, str]:
    settings = {}
    for name in SETTINGS:
        with contextlib.suppress(OSError):
            settings[name.replace("/", ".")] = Path("/proc/sys", name).read_text("ascii").strip()
    return settings
