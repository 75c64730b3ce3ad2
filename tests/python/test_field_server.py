"""What a run needs to begin at ``mptcplab serve``, and the token that comes from a file."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mptcplab import Error
from mptcplab.engines.field.server import run_request, running
from mptcplab.engines.field.server.control import Control
from mptcplab.engines.field.server.limits import Ledger, Limits
from mptcplab.engines.field.server.listeners import Listeners
from mptcplab.engines.kernel.agent import sockets
from mptcplab.results.run import Run
from serving import HOST, REQUEST, TIMEOUT_SECONDS, serving

SCENARIO = """\
schema = 1
[transfer]
direction = "download"
size = "100 kB"
[path.near]
interface = "lo"
[field]
echoes = 1
radio = 0
"""
CAMPAIGN = """\
schema = 1
engine = "field"
scenario = "field.toml"
[[calendar]]
visits = 1
for_days = 1
"""
# Reads what it is told, and never says that it is ready.
SILENT = [sys.executable, "-c", "import sys; sys.stdin.read()"]


def test_an_agent_that_does_not_start_is_given_up_and_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "AGENT", SILENT)
    monkeypatch.setattr(running, "START_SECONDS", 0.2)
    monkeypatch.setattr(running, "END_SECONDS", 0.2)

    async def run() -> int | None:
        request = run_request.read(REQUEST, Limits())
        made = running.Running(request, Limits(), 10**6, tmp_path, 1)
        with pytest.raises(Error, match=r"agent does not start within 0\.2 s"):
            await made.start()
        agent = made._agent
        await made.end()
        assert made.files() == []
        # Nothing was carried, and a day's bytes are given back.
        assert made.carried == 0
        assert agent is not None
        return agent.returncode

    assert asyncio.run(run()) is not None


def test_a_congestion_control_for_root_alone_says_what_opens_it() -> None:
    class Refusing:
        def setsockopt(self, *_: object) -> None:
            raise PermissionError(errno.EPERM, "Operation not permitted")

    allowed = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control").read_text().strip()
    with pytest.raises(Error) as refused:
        sockets.choose(cast("socket.socket", Refusing()), "vegas")
    assert str(refused.value) == (
        f"congestion control vegas: ordinary users may have {allowed}; to fix it: "
        f'sudo sysctl net.ipv4.tcp_allowed_congestion_control="{allowed} vegas"'
    )


class Writer:
    """What a client is told, which is gone after so many questions for its ends."""

    def __init__(self, ends: int) -> None:
        self.said: list[dict[str, Any]] = []
        self.closed = False
        #: What it says, once that is read.
        self.reader: asyncio.StreamReader
        self._ends = ends

    def get_extra_info(self, name: str) -> Any:
        self._ends -= 1
        if self._ends < 0:
            return None
        return SimpleNamespace(setsockopt=lambda *_: None) if name == "socket" else (HOST, 1)

    def write(self, line: bytes) -> None:
        self.said.append(json.loads(line))
        if "ready" in self.said[-1]:
            self.reader.feed_data(b'{"end": true}\n')

    async def drain(self) -> None:
        """It takes all at once."""

    def close(self) -> None:
        self.closed = True

    async def wait_closed(self) -> None:
        """It is closed at once."""


def _served(client: Writer, ledger: Ledger) -> None:
    async def run() -> None:
        reader = asyncio.StreamReader()
        for line in ({"hello": 1, "token": "a-token"}, {"run": REQUEST}):
            reader.feed_data(json.dumps(line).encode() + b"\n")
        client.reader = reader
        served = Control("a-token", Limits(), ledger)
        served.listeners = cast("Listeners", SimpleNamespace(sessions={}))
        await served.serve((reader, cast("asyncio.StreamWriter", client)), lambda: None)

    asyncio.run(run())


def test_a_client_that_goes_costs_no_reservation_and_is_no_exception(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who was interrupted has no address any more."""

    async def refuse(_: object) -> None:
        raise Error("no agent")

    monkeypatch.setattr(running.Running, "start", refuse)
    monkeypatch.setattr(f"{Control.__module__}.PATIENCE_SECONDS", 0.2)
    ledger, gone, going = Ledger(tmp_path / "ledger"), Writer(0), Writer(3)
    with pytest.raises(ConnectionResetError):
        _served(gone, ledger)
    assert gone.closed
    assert gone.said == []
    _served(going, ledger)
    assert going.said[-1] == {"refused": "no agent"}
    assert ledger.spent() == 0


def test_a_server_that_cannot_write_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its disk is full: of its ledger, and then of where runs are made."""
    monkeypatch.setattr(f"{Control.__module__}.PATIENCE_SECONDS", 0.2)
    ledger, full = Ledger(tmp_path / "ledger"), os.strerror(errno.ENOSPC)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, full, "/there")

    with monkeypatch.context() as patched:
        patched.setattr("mptcplab.writing.replace", refuse)
        _served(first := Writer(3), ledger)
    assert first.said[-1] == {
        "refused": f"at the server: cannot write {tmp_path / 'ledger'}: {full}"
    }
    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    _served(second := Writer(3), ledger)
    assert second.said[-1] == {"refused": f"at the server: cannot write /there: {full}"}


def test_an_agent_that_fails_is_told_to_the_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def start(_: object) -> None:
        """It does."""

    async def fail(_: object) -> None:
        raise Error("at the server: cannot write the samples")

    monkeypatch.setattr(running.Running, "start", start)
    monkeypatch.setattr(running.Running, "wait", fail)
    _served(client := Writer(3), Ledger(tmp_path / "ledger"))
    assert client.said[-1] == {"refused": "at the server: cannot write the samples"}


@pytest.mark.parametrize("command", ["run", "schedule"])
def test_a_token_that_cannot_be_read_is_said_in_a_line(command: str, tmp_path: Path) -> None:
    done = _with_token(command, tmp_path, tmp_path / "none", "127.0.0.1:1#" + "0" * 64)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"{tmp_path / 'none'}: there is no token" in done.stderr
    assert "--token FILE" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_token_is_read_from_the_file_that_is_named(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        token = tmp_path / "a token"
        token.write_text(server.token)
        token.chmod(0o644)
        done = _with_token("run", tmp_path, token, str(server.line))
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "others may read the token" in done.stderr
        token.chmod(0o600)
        done = _with_token("run", tmp_path, token, str(server.line))
        assert done.returncode == 0, done.stderr
    runs = [Run(path) for path in (tmp_path / "out").iterdir() if path.is_dir()]
    assert {run.name for run in runs} == {"mptcp", "tcp-near"}
    assert all(run.outcome["finished"] for run in runs)


def _with_token(
    command: str, directory: Path, token: Path, line: str
) -> subprocess.CompletedProcess[str]:
    (directory / "field.toml").write_text(SCENARIO)
    (directory / "weeks.toml").write_text(CAMPAIGN)
    arguments = {
        "run": ["run", "field.toml", "--engine", "field", "--no-report"],
        "schedule": ["schedule", "weeks.toml"],
    }
    shared = ["--out", "out", "--server", line, "--token", str(token)]
    return subprocess.run(
        [sys.executable, "-m", "mptcplab", *arguments[command], *shared],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
