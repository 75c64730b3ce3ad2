"""The command on a machine, as copies of a process that has imported it there.

Most of what a short run takes is imports, and becoming the user of a machine.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable

# All that runs import before they begin or when they are over.
IMPORTS = [
    *("mptcplab.cli.main", "mptcplab.cli.summary.page", "mptcplab.scenario.scenario"),
    *("mptcplab.engines.kernel.engine", "mptcplab.results.record", "mptcplab.results.opening"),
    *("mptcplab.results.campaign", "polars", "pydantic"),
]
# More than the arguments and the environment of a command.
MOST_BYTES = 1 << 20


class Copies:
    """Such a process."""

    def __init__(self, python: Callable[..., list[str]]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(python("-P", __file__), stdin=theirs.fileno())
        self._socket = ours
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            ours.setsockopt(socket.SOL_SOCKET, option, MOST_BYTES)

    def run(
        self, arguments: list[str], directory: str, seconds: float
    ) -> subprocess.CompletedProcess[str]:
        """Run ``mptcplab``, as ``subprocess.run`` would.

        Raises ``subprocess.TimeoutExpired`` after ``seconds``.
        """
        asked = json.dumps([arguments, directory, dict(os.environ)]).encode()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            socket.send_fds(self._socket, [asked], [out.fileno(), err.fileno()])
            pid = int(self._socket.recv(MOST_BYTES))
            late = threading.Timer(seconds, os.kill, (pid, signal.SIGKILL))
            late.start()
            try:
                status = int(self._socket.recv(MOST_BYTES))
            finally:
                late.cancel()
            if status == -signal.SIGKILL:
                raise subprocess.TimeoutExpired(arguments, seconds)
            for file in (out, err):
                file.seek(0)
            said = out.read().decode(), err.read().decode()
            return subprocess.CompletedProcess(arguments, status, *said)

    def end(self) -> None:
        """Let it end."""
        self._socket.close()
        self._process.wait()


def _serve() -> None:
    """Make a copy for each command that comes through standard input, and say how it ended."""
    asks = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    for name in IMPORTS:
        importlib.import_module(name)
    while True:
        asked, outputs, _, _ = socket.recv_fds(asks, MOST_BYTES, 2)
        if not asked:
            return
        pid = os.fork()
        if pid == 0:
            asks.close()
            for number, opened in enumerate(outputs, 1):
                os.dup2(opened, number)
            _become(*json.loads(asked))
        for opened in outputs:
            os.close(opened)
        asks.send(str(pid).encode())
        asks.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())


def _become(arguments: list[str], directory: str, environment: dict[str, str]) -> None:
    from mptcplab.cli.main import main

    os.environ.clear()
    os.environ.update(environment)
    os.chdir(directory)
    sys.argv = ["mptcplab", *arguments]
    sys.orig_argv = [sys.executable, "-m", "mptcplab", *arguments]
    main()


if __name__ == "__main__":
    _serve()
