"""The recorder: who captures by what this user may, how much of it, and what is missing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ordinary
from mptcplab import analyze
from requirements import missing, need_tool

HOST = "127.0.0.1"
BYTES = 300_000
PACKET_BYTES = 50
# Root with no rights but to capture, and to write where only another user may.
RIGHTS = "-all,+net_raw,+dac_override"
CAPTURING = ["setpriv", "--bounding-set", RIGHTS, "--inh-caps", RIGHTS]


@pytest.fixture
def directory() -> Iterator[Path]:
    """A directory of a user without rights."""
    if os.geteuid() != 0:
        missing("only root can play who may capture and who may not")
    need_tool("unshare", "setpriv")
    made = Path(tempfile.mkdtemp(prefix="mptcplab-test-", dir="/var/tmp"))
    os.chown(made, ordinary.NOBODY, ordinary.NOBODY)
    yield made
    shutil.rmtree(made)


def captured(
    directory: Path,
    *,
    root: bool,
    path: str = "/nowhere",
    most: int | None = None,
    during: Callable[[socket.socket, int], None] | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Have a recorder see a transfer over loopback; gives what it says first and last.

    ``during`` is given the listener and the recorder's process, and transfers otherwise.
    """
    arguments = [sys.executable, "-P", "-m", "mptcplab.engines.field.recorder"]
    command = [*CAPTURING, *arguments] if root else ordinary.command(arguments, tun=False)
    with socket.create_server((HOST, 0)) as listener:
        port = listener.getsockname()[1]
        job = {
            "file": str(directory / "client.pcapng"),
            "host": "client",
            "interfaces": {"lo": "near"},
            "port": port,
            "snap": 128,
            "most": most,
        }
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PATH": f"{path}:{os.environ['PATH']}" if path else ""},
        ) as recorder:
            assert recorder.stdin is not None
            assert recorder.stdout is not None
            recorder.stdin.write(json.dumps(job) + "\n")
            recorder.stdin.flush()
            first = json.loads(recorder.stdout.readline())
            if "ready" in first and during is not None:
                during(listener, recorder.pid)
            elif "ready" in first:
                _transfer(listener)
            last, _ = recorder.communicate(timeout=60)
    return first, json.loads(last or "{}")


def _stopped(listener: socket.socket, recorder: int) -> None:
    """Transfer in thousands of small packets, while the recorder stands still."""
    os.kill(recorder, signal.SIGSTOP)
    try:
        with socket.create_connection(listener.getsockname()) as sender:
            sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            receiver, _ = listener.accept()
            with receiver:
                for _ in range(BYTES // PACKET_BYTES):
                    sender.sendall(bytes(PACKET_BYTES))
                    receiver.recv(PACKET_BYTES, socket.MSG_WAITALL)
    finally:
        os.kill(recorder, signal.SIGCONT)


def _transfer(listener: socket.socket) -> None:
    with socket.create_connection(listener.getsockname()) as sender:
        receiver, _ = listener.accept()
        with receiver:
            sender.sendall(bytes(BYTES))
            sender.shutdown(socket.SHUT_WR)
            left = BYTES
            while left:
                left -= len(receiver.recv(left))
            assert receiver.recv(1) == b""


def seen(directory: Path) -> tuple[int, set[str]]:
    """Give the bytes that a capture shows, and its remarks."""
    found = analyze(str(directory / "client.pcapng"))
    (row,) = found.transfers.filter(direction="up").iter_rows(named=True)
    return row["bytes"], set(found.diagnostics["diagnostic"])


@pytest.mark.parametrize("who", ["root", "dumpcap"])
def test_who_may_capture_sees_a_transfer_whole(directory: Path, who: str) -> None:
    if who == "dumpcap":
        _allow_dumpcap(directory)
    first, last = captured(directory, root=who == "root", path=str(directory))
    assert first == {"ready": {"root": "AF_PACKET", "dumpcap": "dumpcap"}[who]}
    assert last == {"captured": {"dropped": 0, "left_out": 0}}
    count, remarks = seen(directory)
    assert count == BYTES
    assert "capture_drops" not in remarks


def test_a_recorder_that_stands_still_loses_nothing(directory: Path) -> None:
    # More packets than a socket's own memory would hold (net.core.rmem_max).
    _, last = captured(directory, root=True, during=_stopped)
    assert last == {"captured": {"dropped": 0, "left_out": 0}}
    assert seen(directory)[0] == BYTES


def test_who_may_not_is_told_why_of_both(directory: Path) -> None:
    forbidden = directory / "dumpcap"
    # Found first, and without rights.
    forbidden.write_text("#!/bin/sh\necho 'dumpcap: You do not have permission' >&2\nexit 2\n")
    forbidden.chmod(0o755)
    first, last = captured(directory, root=False, path=str(directory))
    why = "AF_PACKET: Operation not permitted; dumpcap: You do not have permission"
    assert (first, last) == ({"error": why}, {})
    assert not (directory / "client.pcapng").exists()


def test_what_comes_once_a_capture_is_full_counts_as_dropped(directory: Path) -> None:
    first, last = captured(directory, root=True, most=2000)
    assert first == {"ready": "AF_PACKET"}
    assert last["captured"]["left_out"] > 0
    assert (directory / "client.pcapng").stat().st_size < 4000
    assert "capture_drops" in seen(directory)[1]


def _allow_dumpcap(directory: Path) -> None:
    need_tool("dumpcap", "setcap")
    found = shutil.which("dumpcap")
    assert found is not None
    own = directory / "dumpcap"
    shutil.copyfile(found, own)
    own.chmod(0o755)
    done = subprocess.run(["setcap", "cap_net_raw+ep", own], capture_output=True, check=False)
    if done.returncode:
        missing(f"setcap: {done.stderr.decode().strip()}")
