"""The server for clients without mptcplab: HTTP over MPTCP, each download a run."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mptcplab._core import Error
from mptcplab.engines.field import sockets
from mptcplab.engines.field.downloads import page, request, transfer
from mptcplab.engines.field.downloads.captures import Captures
from mptcplab.engines.field.downloads.download import CAPTURE, SAMPLES, Download
from mptcplab.engines.field.downloads.page import Result
from mptcplab.engines.field.downloads.quota import DownloadLimits, Quota
from mptcplab.engines.field.downloads.request import Refusal
from mptcplab.engines.field.downloads.watch import Watch
from mptcplab.engines.field.server.limits import Ledger, network
from mptcplab.engines.field.server.listeners import connections, listening, request_head
from mptcplab.engines.field.server.serve import Served, log_turned_away, termination

LEDGER = "opened.json"
PORT = 8080
# For the head of a request to arrive, and for the page to be read.
PATIENCE_SECONDS = 10.0
# Connections that have not asked for anything yet, in all and from one address.
MOST_ASKING = 128
MOST_ASKING_OF_ONE = 16
# At the end, for downloads that are nearly complete.
GRACE_SECONDS = 3.0
# Downloads that wait to be measured, and clients whose last one is remembered.
MOST_WAITING = 64
MOST_REMEMBERED = 1 << 12


@dataclass(frozen=True)
class OpenServer:
    """What ``mptcplab serve --open`` is asked for."""

    state: Path
    #: Where runs go.
    out: Path
    addresses: tuple[str, ...]
    port: int
    limits: DownloadLimits


def serve(
    server: OpenServer,
    save: Callable[[Download, Path], object],
    begin: Callable[[str | None, str | None], None],
    log: Callable[[str], None],
) -> Served:
    """Serve until SIGINT or SIGTERM.

    ``save`` measures and stores a download, in a thread of its own. ``begin`` is called with what
    captures, or why nothing does, once all listen; ``log`` with each message.
    """
    return asyncio.run(_serve(server, save, begin, log))


async def _serve(
    server: OpenServer,
    save: Callable[[Download, Path], object],
    begin: Callable[[str | None, str | None], None],
    log: Callable[[str], None],
) -> Served:
    listeners: list[socket.socket] = []
    ended = termination()
    serving = Downloads(server, save, log)
    try:
        # Connections are captured from their first packet on.
        await serving.start()
        listeners += [listening(one, server.port, mptcp=True) for one in server.addresses]
        accepting = [asyncio.ensure_future(serving.accept(one)) for one in listeners]
        begin(serving.captures.by, serving.captures.why)
        turned_away = await log_turned_away(serving.turned_away, log, ended)
        for one in accepting:
            one.cancel()
        await asyncio.gather(*accepting, return_exceptions=True)
    finally:
        await serving.end()
        for listener in listeners:
            listener.close()
    return Served(serving.carried_bytes, turned_away)


class Downloads:
    """Serves all connections at the port."""

    def __init__(
        self,
        server: OpenServer,
        save: Callable[[Download, Path], object],
        log: Callable[[str], None],
    ) -> None:
        self.captures = Captures()
        #: Why connections were turned away, and how often.
        self.turned_away: Counter[str] = Counter()
        self._server = server
        self._save = save
        self._log = log
        self._ledger = Ledger(server.state / LEDGER)
        self._quota = Quota(server.limits, self._ledger)
        self._rate = transfer.Rate(server.limits.rate_bits_per_second)
        self._asking: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._count = 0
        self._results: dict[str, Result] = {}
        self._kept_bytes = _bytes_below(server.out)
        self._full = False
        self._waiting: asyncio.Queue[Download] = asyncio.Queue(MOST_WAITING)
        self._saver: asyncio.Task[None] | None = None

    @property
    def carried_bytes(self) -> int:
        """How much was downloaded."""
        return self._ledger.carried_bytes

    async def start(self) -> None:
        """Start capturing, and measuring finished downloads."""
        limits = self._server.limits
        await self.captures.start(self._server.port, limits.capture_bytes)
        self._saver = asyncio.ensure_future(self._save_all())

    async def accept(self, listener: socket.socket) -> None:
        """Take connections until this is cancelled."""
        async for sock, end in connections(listener):
            one = network(end[0])
            if self._asking.total() >= MOST_ASKING or self._asking[one] >= MOST_ASKING_OF_ONE:
                self.turned_away["too many at once"] += 1
                sock.close()
                continue
            self._asking[one] += 1
            task = asyncio.create_task(self._handle(sock, end))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def end(self) -> None:
        """End all connections; finished downloads are saved."""
        if self._tasks:
            # For the last packets of downloads.
            await asyncio.wait(self._tasks, timeout=GRACE_SECONDS)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._saver is not None:
            await self._waiting.join()
            self._saver.cancel()
            await asyncio.gather(self._saver, return_exceptions=True)
        await self.captures.end()

    async def _handle(self, sock: socket.socket, end: tuple[str, int]) -> None:
        """Read the request on a connection, and answer it."""
        began_ns = time.time_ns()
        one = network(end[0])
        with sock:
            try:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    raw = await request_head(sock, request.MOST_BYTES)
            except (TimeoutError, OSError):
                self.turned_away["asked for nothing in time"] += 1
                return
            finally:
                self._asking[one] -= 1
                if not self._asking[one]:
                    del self._asking[one]
            requested = request.read(raw, self._server.limits.download_bytes)
            if not isinstance(requested, request.Request):
                await self._refuse(sock, requested)
            elif requested.size_bytes is None:
                over = page.protocol(mptcp=bool(sockets.speaks_mptcp(sock)), fallback=False)
                last = self._results.get(one)
                body = page.page(over, last, self._server.limits.download_bytes)
                head = request.answer(200, page.HTML, len(body))
                await _answer(sock, head, b"" if requested.head_only else body)
            elif requested.head_only:
                await _answer(sock, request.answer(200, OCTETS, requested.size_bytes), b"")
            else:
                await self._download(sock, end, requested.size_bytes, began_ns)

    async def _refuse(self, sock: socket.socket, refusal: Refusal) -> None:
        self.turned_away[refusal.why] += 1
        body = (refusal.why + "\n").encode()
        await _answer(sock, request.answer(refusal.status, page.TEXT, len(body)), body)

    async def _download(
        self, sock: socket.socket, end: tuple[str, int], count: int, began_ns: int
    ) -> None:
        reserved = self._quota.take(end[0], count)
        if isinstance(reserved, request.Refusal):
            await self._refuse(sock, reserved)
            return
        directory = Path(tempfile.mkdtemp(prefix="mptcplab-open-"))
        sent = transfer.Sent()
        try:
            sent, download = await self._transfer(sock, end, count, began_ns, directory)
        except BaseException:
            shutil.rmtree(directory, ignore_errors=True)
            raise
        finally:
            self._quota.settle(end[0], reserved, sent.written)
        self._hand_over(download)

    async def _transfer(
        self, sock: socket.socket, end: tuple[str, int], count: int, began_ns: int, directory: Path
    ) -> tuple[transfer.Sent, Download]:
        """Send so many bytes, and watch the connection."""
        self._count += 1
        number, paths, claimed = self._count, {end[0]: "path-1"}, set[tuple[str, int]]()
        watch = Watch(sock, (directory / SAMPLES).open("w", encoding="utf-8"))

        def watch_subflows() -> None:
            new = {end, *watch.look()} - claimed
            for address, _ in sorted(new):
                paths.setdefault(address, f"path-{len(paths) + 1}")
            if new:
                ends = [(address, port, paths[address]) for address, port in sorted(new)]
                self.captures.claim(number, directory / CAPTURE, ends)
                claimed.update(new)

        try:
            watch_subflows()
            head = request.answer(200, OCTETS, count)
            sent = await transfer.send(sock, head, count, self._rate, watch_subflows)
            watch_subflows()
        finally:
            watch.close()
        # Closed before its capture ends.
        sock.close()
        download = Download(
            directory=directory,
            client=end,
            size_bytes=count,
            started_ns=began_ns,
            ended_ns=sent.ended_ns,
            sent=sent,
            finished=sent.reason == transfer.COMPLETE,
            socket=watch.used.summary(),
            counted=watch.used.counted(),
            paths=paths,
        )
        self._remember(network(end[0]), download.result)
        download.captured.update(await self.captures.finish(number))
        return sent, download

    def _remember(self, one: str, result: Result) -> None:
        self._results.pop(one, None)
        if len(self._results) >= MOST_REMEMBERED:
            del self._results[next(iter(self._results))]
        self._results[one] = result

    def _hand_over(self, download: Download) -> None:
        """Queue it to be measured, unless too many wait or the disk is full by ``--keep``."""
        full = self._kept_bytes >= self._server.limits.kept_bytes
        if full and not self._full:
            most = self._server.limits.kept_bytes / 1e6
            self._log(
                f"{self._server.out} holds {most:g} MB, the most that are kept: further downloads "
                "are served and not kept: move runs elsewhere and start again, or raise --keep"
            )
        self._full = full
        if full or self._waiting.full():
            self.turned_away["served and not kept"] += 1
            shutil.rmtree(download.directory, ignore_errors=True)
            return
        self._waiting.put_nowait(download)

    async def _save_all(self) -> None:
        while True:
            download = await self._waiting.get()
            began = time.strftime("%Y%m%d-%H%M%S", time.gmtime(download.started_ns / 1e9))
            target = self._server.out / f"{began}-{download.started_ns % 10**9:09}"
            try:
                await asyncio.to_thread(self._save, download, target)
                self._kept_bytes += _bytes_below(target)
                self._log(f"{target}: {page.described(download.result)}")
            except (Error, OSError) as error:
                self._log(f"{target} is not kept: {error}")
            finally:
                shutil.rmtree(download.directory, ignore_errors=True)
                self._waiting.task_done()


OCTETS = "application/octet-stream"


async def _answer(sock: socket.socket, head: bytes, body: bytes) -> None:
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            await asyncio.get_running_loop().sock_sendall(sock, head + body)
            sock.shutdown(socket.SHUT_WR)
            # Unread data would make the kernel send a reset, and lose the answer.
            while await asyncio.get_running_loop().sock_recv(sock, request.MOST_BYTES):
                pass


def _bytes_below(directory: Path) -> int:
    """Give the bytes of all files in a directory."""
    return sum(path.lstat().st_size for path in directory.rglob("*") if path.is_file())
