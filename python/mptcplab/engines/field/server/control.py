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

    from mptcplab.engines.field.server.limits import Ledger, Limits
    from mptcplab.engines.field.server.listeners import Client, Listeners
    from mptcplab.engines.field.server.run_request import RunRequest

# For a line of theirs, and for taking what is sent.
PATIENCE_SECONDS = 60.0
HELLO_SECONDS = 10.0
# After a wrong token, so that guessing takes its time.
WRONG_SECONDS = 1.0
CHUNK_BYTES = 1 << 16
# A client that takes its files more slowly than this gets no more of them.
LEAST_BYTES_PER_SECOND = 16_000
# Between one's end and the other's.
GRACE_SECONDS = 3.0
# How a client may break off: that is its own business.
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
        """Serve one until it has enough; ``proven`` is called once it has shown its token.

        Raises:
            ConnectionResetError: It is gone already.
        """
        reader, writer = client
        # Once it is gone a transport of TLS does not know them any more.
        ends = Ends(*(writer.get_extra_info(name) for name in ("socket", "sockname", "peername")))
        if None in ends:
            writer.close()
            raise ConnectionResetError("the client is gone")
        try:
            await self._serve(reader, writer, ends, proven)
        except BROKEN:
            # It broke off, was too slow, or spoke of something else.
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
        given = hello.get("token")
        if not isinstance(given, str) or not hmac.compare_digest(given.encode(), self._token):
            await asyncio.sleep(WRONG_SECONDS)
            await _say(writer, {"refused": "wrong token"})
            return
        if hello.get("hello") != PROTOCOL:
            await _say(writer, {"refused": f"this server speaks version {PROTOCOL}"})
            return
        if refused := _refused(hello.get("congestion_controls")):
            await _say(writer, {"refused": refused})
            return
        if self._clients >= self._limits.clients:
            await _say(writer, {"refused": "too many clients wait: try again later"})
            return
        proven()
        keep_alive(ends.socket)
        self._clients += 1
        try:
            await _say(writer, {"welcome": {"version": _core.VERSION}})
            while True:
                line = await _read(reader, PATIENCE_SECONDS)
                if "probe" in line:
                    await self._probe(line["probe"], reader, writer)
                    continue
                try:
                    request = run_request.read(line.get("run"), self._limits)
                except Error as error:
                    await _say(writer, {"refused": str(error)})
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
            await _say(writer, {"waiting": self._waiting})
        place = Path(tempfile.mkdtemp(prefix="mptcplab-serve-"))
        try:
            async with self._own_turn(reader):
                running = await self._run(request, place, reader, writer, ends)
            # Whoever takes long to read keeps nobody waiting.
            if running is not None:
                await _hand_back(writer, running)
        finally:
            shutil.rmtree(place, ignore_errors=True)

    @contextlib.asynccontextmanager
    async def _own_turn(self, reader: asyncio.StreamReader) -> AsyncIterator[None]:
        """Wait for the turn, as long as the client is there."""
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
        place: Path,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        ends: Ends,
    ) -> Running | None:
        """Have it run; gives it once it is over, or nothing where it could not be."""
        reserved = self._ledger.reserve(self._limits.run_bytes, self._limits.day_bytes)
        if reserved is None:
            await _say(writer, {"refused": SPENT})
            return None
        running = Running(request, self._limits, reserved.count, place, ends.local[1])
        try:
            try:
                await running.start()
            except Error as error:
                await _say(writer, {"refused": str(error)})
                return None
            self.listeners.sessions[running.run] = running
            await _say(writer, {"ready": self._ready(running, ends)})
            await self._until_over(running, request, reader)
            await running.end(self.listeners.others)
        finally:
            self.listeners.sessions.pop(running.run, None)
            await running.end()
            self._ledger.settle(reserved, running.carried)
        return running

    async def _probe(
        self, asked: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer probes, beside a run, until the client has enough."""
        seconds = asked.get("seconds") if isinstance(asked, dict) else None
        if not isinstance(seconds, int) or not 0 < seconds <= probe_protocol.MOST_SESSION_SECONDS:
            await _say(writer, {"refused": "probes are asked for with their seconds, 3 h at most"})
            return
        most = min(self._limits.run_bytes, MOST_SESSION_BYTES)
        reserved = self._ledger.reserve(most, self._limits.day_bytes)
        if reserved is None:
            await _say(writer, {"refused": SPENT})
            return
        probing = Probing(reserved.count, self._limits.rate_bits_per_second)
        self.listeners.sessions[probing.run] = probing
        ready = {"run": probing.run.hex(), "key": probing.key.hex(), "ports": self.tcp_ports}
        try:
            await _say(writer, {"ready": ready})
            async with asyncio.timeout(seconds):
                while "end" not in await _read(reader, seconds):
                    await _say(writer, {"alive": True})
            await _say(writer, {"done": {}})
        finally:
            del self.listeners.sessions[probing.run]
            await probing.end()
            self._ledger.settle(reserved, probing.carried)

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
        """Until client and agent have both ended, or the one does not follow the other."""
        ends = asyncio.ensure_future(_read(reader, request.stop_ns / 1e9 + PATIENCE_SECONDS))
        agent = asyncio.ensure_future(running.wait())
        try:
            await asyncio.wait({ends, agent}, return_when=asyncio.FIRST_COMPLETED)
            if ends.done():
                # Raises where it is gone.
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
    read = json.loads(line)
    if not isinstance(read, dict):
        raise Error("a line is a table")
    return read


async def _say(writer: asyncio.StreamWriter, line: dict[str, Any]) -> None:
    writer.write(json.dumps(line).encode() + b"\n")
    async with asyncio.timeout(PATIENCE_SECONDS):
        await writer.drain()


async def _hand_back(writer: asyncio.StreamWriter, running: Running) -> None:
    """Send what a run left, to whoever takes it fast enough to be worth the place."""
    files = running.files()
    sizes = [path.stat().st_size for path in files]
    named = [{"name": path.name, "bytes": size} for path, size in zip(files, sizes, strict=True)]
    async with asyncio.timeout(PATIENCE_SECONDS + sum(sizes) / LEAST_BYTES_PER_SECOND):
        await _say(writer, {"done": running.done, "files": named, "captures": running.captures})
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
    found = {}
    for name in SETTINGS:
        with contextlib.suppress(OSError):
            found[name.replace("/", ".")] = Path("/proc/sys", name).read_text("ascii").strip()
    return found
