"""``mptcplab serve --open`` at loopback: what anybody gets of it, and what nobody does."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mptcplab.engines.field.downloads import request, transfer
from mptcplab.engines.field.downloads.captures import Captures
from mptcplab.engines.field.downloads.quota import DownloadLimits, Quota
from mptcplab.engines.field.downloads.request import Refusal, Request
from mptcplab.engines.field.downloads.serve import OpenServer, serve
from mptcplab.engines.field.server.limits import Ledger, Reservation
from mptcplab.results.run import Run
from serving import HOST, TIMEOUT_SECONDS, everything, free_port

MB = 10**6


class Open:
    """One that serves."""

    def __init__(self, process: subprocess.Popen[str], port: int, out: Path) -> None:
        self.process = process
        self.port = port
        self.out = out

    def ask(self, raw: bytes, address: str = HOST, *, mptcp: bool = False) -> bytes:
        """Say something, and nothing more; gives the answer."""
        protocol = socket.IPPROTO_MPTCP if mptcp else socket.IPPROTO_TCP
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as sock:
            sock.settimeout(TIMEOUT_SECONDS)
            sock.bind((address, 0))
            sock.connect((HOST, self.port))
            # Who is refused may be told so before it has said all.
            with contextlib.suppress(OSError):
                sock.sendall(raw)
                sock.shutdown(socket.SHUT_WR)
            return everything(sock)

    def get(self, path: str, address: str = HOST) -> tuple[int, bytes]:
        """Give status and body of what is loaded."""
        head, _, body = self.ask(f"GET {path} HTTP/1.1\r\n\r\n".encode(), address).partition(
            b"\r\n\r\n"
        )
        return int(head.split()[1]), body


@contextlib.contextmanager
def opened(directory: Path, *options: str) -> Iterator[Open]:
    """Serve at a free port; it ends well, and all that was over is kept then."""
    port = free_port()
    out = directory / "open"
    arguments = ["serve", "--open", "--name", HOST, "--address", HOST, "--port", str(port)]
    arguments += ["--state", str(directory / "state"), "--out", str(out), *options]
    command = [sys.executable, "-m", "mptcplab", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline().strip() == f"http://{HOST}:{port}/"
            yield Open(process, port, out)
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(TIMEOUT_SECONDS) == 0


def test_it_listens_once_it_captures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = []

    async def start(_: Captures, port: int, most_bytes: int) -> None:
        del most_bytes
        with socket.socket() as sock:
            refused.append(sock.connect_ex((HOST, port)))

    def end(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Captures, "start", start)
    limits = DownloadLimits()
    server = OpenServer(tmp_path, tmp_path, (HOST,), free_port(), limits)
    serve(server, end, end, end)
    assert refused == [errno.ECONNREFUSED]


def test_a_download_is_what_was_asked_for_and_a_run(tmp_path: Path) -> None:
    with opened(tmp_path) as server:
        assert "none from this address" in server.get("/")[1].decode()
        status, body = server.get("/300kB?again=1")
        assert (status, len(body)) == (200, 300_000)
        # Known once the server has seen that all arrived.
        until = time.monotonic() + TIMEOUT_SECONDS
        while "0.3 MB" not in (page := server.get("/")[1].decode()) and time.monotonic() < until:
            time.sleep(0.05)
        assert "0.3 MB in" in page
        # Another address has its own.
        assert "none from this address" in server.get("/", "127.0.3.1")[1].decode()
    (run,) = map(Run, server.out.iterdir())
    assert (run.name, run.outcome["finished"]) == ("tcp-path-1", True)
    assert 0 < run.outcome["bytes_received"]["down"] - 300_000 < 1000
    assert run.about["open"]["paths"] == {HOST: "path-1"}


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"GET /../../etc/passwd HTTP/1.1\r\n\r\n", 404),
        (b"GET /%2e%2e/etc/passwd HTTP/1.1\r\n\r\n", 404),
        (b"GET http://192.0.2.1/1MB HTTP/1.1\r\n\r\n", 400),
        (b"CONNECT 192.0.2.1:80 HTTP/1.1\r\n\r\n", 400),
        (b"POST /1MB HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", 405),
        (b"GET /101MB HTTP/1.1\r\n\r\n", 403),
        (b"GET /999999999999GB HTTP/1.1\r\n\r\n", 403),
        (b"GET /0 HTTP/1.1\r\n\r\n", 404),
        (b"GET /-1 HTTP/1.1\r\n\r\n", 404),
        (b"GET /1e6 HTTP/1.1\r\n\r\n", 404),
        (b"GET /1MB\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 5000, 431),
        (b"\x16\x03\x01" + bytes(100), 400),
        (b"", 400),
        (bytes(range(256)) * 40, 431),
    ],
)
def test_nothing_else_is_given(raw: bytes, status: int) -> None:
    answer = request.read(raw[: request.MOST_BYTES], 100 * MB)
    assert isinstance(answer, Refusal)
    assert answer.status == status


@given(st.binary(max_size=200) | st.from_regex(rb"GET /[0-9a-zA-Z./%?]{0,20} HTTP/1\.1\r\n\r\n"))
def test_whatever_is_asked_is_refused_or_within_the_limit(raw: bytes) -> None:
    answer = request.read(raw, 5 * MB)
    if isinstance(answer, Refusal):
        assert answer.status in request.REASONS
    else:
        assert answer.size_bytes is None or 0 < answer.size_bytes <= 5 * MB


def test_a_head_is_given_without_a_body() -> None:
    assert request.read(b"HEAD /2MB HTTP/1.0\r\n\r\n", 5 * MB) == Request(2 * MB, head_only=True)


def test_garbage_and_half_requests_leave_it_as_it_was(tmp_path: Path) -> None:
    chance = random.Random(7)
    with opened(tmp_path) as server, contextlib.ExitStack() as held:
        for number in range(40):
            sock = held.enter_context(
                socket.create_connection(
                    (HOST, server.port), TIMEOUT_SECONDS, (f"127.0.2.{number % 20 + 1}", 0)
                )
            )
            sock.sendall(b"GET / HT"[: number % 8])
        for _ in range(60):
            raw = b"GET /" + chance.randbytes(chance.randrange(300))
            answer = server.ask(raw)
            assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
        # None of that came with more than a page of ours, or is a run.
        assert len(server.get("/1kB")[1]) == 1000
    assert len(list(server.out.iterdir())) == 1


def test_limits_of_a_day_and_of_an_address_are_kept(tmp_path: Path) -> None:
    with opened(tmp_path, "--per-day", "1 MB", "--per-address", "400 kB") as server:
        assert server.get("/300kB")[0] == 200
        assert server.get("/300kB")[0] == 429
        assert server.get("/300kB", "127.0.3.1")[0] == 200
        assert server.get("/300kB", "127.0.3.2")[0] == 200
        assert server.get("/300kB", "127.0.3.3")[0] == 503
    spent = json.loads((tmp_path / "state" / "opened.json").read_text())
    assert list(spent.values()) == [900_000]
    # Nor does it forget when it is started again.
    with opened(tmp_path, "--per-day", "1 MB") as server:
        assert server.get("/300kB")[0] == 503


def test_what_is_above_the_disk_s_part_is_served_and_not_kept(tmp_path: Path) -> None:
    with opened(tmp_path, "--keep", "1 kB") as server:
        assert server.get("/100kB")[0] == 200
    kept = list(server.out.iterdir())
    assert len(kept) == 1
    with opened(tmp_path, "--keep", "1 kB") as server:
        assert server.get("/100kB")[0] == 200
    assert list(server.out.iterdir()) == kept


def test_a_day_that_is_spent_is_not_given_back_to_others(tmp_path: Path) -> None:
    day = ["2026-03-01"]
    limits = DownloadLimits(day_bytes=100, address_bytes=60, downloads=2, downloads_of_one=1)
    quota = Quota(limits, Ledger(tmp_path / "opened.json", lambda: day[0]))
    first = quota.take("192.0.2.1", 50)
    assert isinstance(first, Reservation)
    assert _status(quota.take("192.0.2.1", 5)) == 429
    second = quota.take("2001:db8::1", 40)
    assert isinstance(second, Reservation)
    assert _status(quota.take("192.0.2.2", 5)) == 503
    quota.settle("192.0.2.1", first, 50)
    quota.settle("2001:db8::1", second, 10)
    # Of the same network of IPv6, and so the same client.
    assert _status(quota.take("2001:db8::ffff", 55)) == 503
    assert isinstance(quota.take("2001:db8::ffff", 40), Reservation)
    assert _status(quota.take("192.0.2.1", 20)) == 503
    day[0] = "2026-03-02"
    assert isinstance(quota.take("192.0.2.1", 60), Reservation)


def _status(answer: Any) -> int:
    assert isinstance(answer, Refusal)
    return answer.status


def test_who_reads_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "STALL_SECONDS", 0.3)

    async def send() -> transfer.Sent:
        with socket.create_server((HOST, 0)) as listener:
            reader = socket.create_connection(listener.getsockname())
            sock, _ = listener.accept()
            sock.setblocking(False)
            with reader, sock:
                return await transfer.send(
                    sock, b"head", 1 << 30, transfer.Rate(None), lambda: None
                )

    sent = asyncio.run(send())
    assert sent.reason.endswith("no more in time")
    # What the buffers of two sockets hold, and no more.
    assert sent.written < 32 << 20


def test_a_rate_is_that_of_all_together() -> None:
    rate = transfer.Rate(8_000_000)
    assert [rate.seconds(500_000, 100.0) for _ in range(3)] == [0.0, 0.5, 1.0]
    # What was not used is not saved.
    assert rate.seconds(500_000, 200.0) == 0.0
    assert transfer.Rate(None).seconds(1 << 40, 0.0) == 0.0


def test_options_of_others_are_refused_in_a_line(tmp_path: Path) -> None:
    for arguments, why in (
        (["--keep", "1 GB"], "--keep goes with --open"),
        (["--open", "--probe-port", "9"], "--open does not answer"),
        (["--open", "--port", "8001", "--port", "8002"], "one --port"),
    ):
        command = [sys.executable, "-m", "mptcplab", "serve", "--state", str(tmp_path), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert why in done.stderr
