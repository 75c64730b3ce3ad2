"""Two hosts with two paths between them, MPTCP over both, and the guard's program at the client."""

from __future__ import annotations

import contextlib
import json
import pathlib
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from mptcplab.machine import programs

WIFI, LTE, SERVER = "10.0.1.2", "10.0.2.2", "10.0.1.1"
PATHS = {"wifi": (1, WIFI), "lte": (2, LTE)}
PATIENCE_SECONDS = 30
# Who connects says what to send again and again: bytes, and seconds in between.
SERVE = """
import socket, threading, time
def serve(client):
    size, pause = client.recv(100).decode().split()
    try:
        while True:
            client.sendall(bytes(int(size)))
            time.sleep(float(pause))
    except OSError:
        pass
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("10.0.1.1", 8080))
listener.listen(500)
print(flush=True)
while True:
    threading.Thread(target=serve, args=listener.accept()[:1], daemon=True).start()
"""
FETCH = """
import select, socket, sys
made = []
for _ in range(int(sys.argv[1])):
    one = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
    one.connect(("10.0.1.1", 8080))
    one.sendall(f"{sys.argv[2]} {sys.argv[3]}".encode())
    made.append(one)
print(flush=True)
while True:
    for one in select.select(made, [], [])[0]:
        one.recv(1 << 16)
"""
# What belongs to a host's configuration of the network.
SHOWN = ("mptcp endpoint", "mptcp limits", "rule", "-6 rule", "route show table all", "address")


class Guard:
    """The program, and what it says."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._lines: queue.Queue[str] = queue.Queue()
        self.decided: list[dict[str, Any]] = []
        # Its first line says what it watches.
        assert process.stderr is not None
        self.begins = process.stderr.readline()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def decides(self, signal: str, address: str) -> dict[str, Any]:
        """Wait until it decides this; gives the row."""
        while True:
            row: dict[str, Any] = json.loads(self._lines.get(timeout=PATIENCE_SECONDS))
            self.decided.append(row)
            if row["local_address"] == address and row["signal"] in (signal, f"guard-{signal}"):
                return row

    def says(self) -> str:
        """Wait for its next line of words."""
        assert self.process.stderr is not None
        return self.process.stderr.readline()

    def rest(self) -> list[dict[str, Any]]:
        """Give all that it decided so far."""
        with contextlib.suppress(queue.Empty):
            while True:
                self.decided.append(json.loads(self._lines.get_nowait()))
        return self.decided

    def resident_kb(self) -> int:
        """Give the most memory that it had so far."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(
            next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]
        )

    def end(self) -> str:
        """End it as Ctrl-C does; gives what it said last."""
        self.process.terminate()
        assert self.process.stderr is not None
        said = self.process.stderr.read()
        assert self.process.wait(PATIENCE_SECONDS) == 0, said
        return said

    def kill(self) -> None:
        """End it as nobody can help."""
        self.process.kill()
        self.process.wait(PATIENCE_SECONDS)


class Lab:
    """Both hosts."""

    def __init__(self, directory: pathlib.Path, stack: contextlib.ExitStack) -> None:
        self.state = directory / "guard.json"
        self._stack = stack
        self._pids = {name: self._namespace() for name in ("client", "server")}
        for host in self._pids:
            # Its addresses change by themselves while they are made sure of.
            words = ["sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1"]
            subprocess.run([*self.enter(host), *words], check=True)
        for name, (number, address) in PATHS.items():
            self.attach(name)
            self.ip("client", f"rule add from {address} lookup {number} priority {number}")
            self.ip("client", f"mptcp endpoint add {address} id {number} dev {name} subflow")
        for host in self._pids:
            self.ip(host, "link set lo up")
            self.ip(host, "mptcp limits set subflow 8 add_addr_accepted 8")

    def _namespace(self) -> int:
        process = self.start(
            ["unshare", "--net", sys.executable, "-c", "print(flush=True); input()"]
        )
        self._line(process)
        return process.pid

    def start(self, words: list[str]) -> subprocess.Popen[str]:
        """Start a program, which ends with the test."""
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._stack.callback(_end, process)
        return process

    def _line(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        assert process.stdout.readline(), process.communicate()[1]

    def enter(self, host: str) -> list[str]:
        """Give the words that run a program on a host."""
        return ["nsenter", "--target", str(self._pids[host]), "--net"]

    def ip(self, host: str, words: str) -> str:
        """Run ``ip`` on a host."""
        done = subprocess.run(
            [*self.enter(host), "ip", *words.split()], capture_output=True, text=True
        )
        assert done.returncode == 0, f"ip {words}: {done.stderr}"
        return done.stdout

    def attach(self, name: str) -> None:
        """Bring a path's interfaces, addresses and routes."""
        number, address = PATHS[name]
        peer = self._pids["server"]
        self.ip("client", f"link add name {name} type veth peer name {name} netns {peer}")
        for host, own in (("client", address), ("server", f"10.0.{number}.1")):
            self.ip(host, f"address add {own}/24 dev {name}")
            self.ip(host, f"link set dev {name} up")
        self.ip("client", f"route add default via 10.0.{number}.1 dev {name} table {number}")

    @staticmethod
    def waits(happens: Callable[[], bool]) -> None:
        """Wait until something is so."""
        until = time.monotonic() + PATIENCE_SECONDS
        while not happens():
            assert time.monotonic() < until
            time.sleep(0.1)

    def lose(self, address: str) -> None:
        """From now on nothing comes to an address."""
        self.ip("server", f"route add blackhole {address}/32")

    def find(self, address: str) -> None:
        """It comes again."""
        self.ip("server", f"route del blackhole {address}/32")

    def fetch(self, connections: int = 1, size: int = 5000, pause: float = 0.01) -> None:
        """Have data come."""
        server = self.start([*self.enter("server"), sys.executable, "-c", SERVE])
        self._line(server)
        words = [str(connections), str(size), str(pause)]
        client = self.start([*self.enter("client"), sys.executable, "-c", FETCH, *words])
        self._line(client)

    def guard(self, *more: str) -> Guard:
        """Start the guard."""
        return Guard(self.start(self.words(*more)))

    def words(self, *more: str) -> list[str]:
        """Give the words that start it."""
        return [
            *self.enter("client"),
            programs.guard(),
            "--json",
            "--state",
            str(self.state),
            *more,
        ]

    def endpoints(self) -> list[str]:
        """List the client's."""
        return sorted(self.ip("client", "mptcp endpoint").splitlines())

    def configuration(self) -> dict[str, list[str]]:
        """Give what a program that leaves the host as it was may not change."""
        return {shown: sorted(self.ip("client", shown).splitlines()) for shown in SHOWN}


def refuses(words: list[str], said: str) -> None:
    """Have the program refuse its words, in one line."""
    done = subprocess.run([programs.guard(), *words], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith(f"mptcplab-guard: {said}")
    assert done.stderr.count("\n") == 1


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


@contextlib.contextmanager
def lab(directory: pathlib.Path) -> Iterator[Lab]:
    """Make one."""
    with contextlib.ExitStack() as stack:
        yield Lab(directory, stack)
