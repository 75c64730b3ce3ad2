"""Proxies as carriers have them: one that ends TCP, and one of HTTP that keeps answers.

    python -m experiments.probe.proxy SERVER PORT ... [--caches PORT ...] -- COMMAND ...

Runs COMMAND, which is a server at the address SERVER, in a network namespace behind this one, which
forwards to it. Connections to these ports end here, in the server's name; others pass.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from argparse import ArgumentParser
from contextlib import suppress
from pathlib import Path

BUFFER_BYTES = 1 << 16
HERE = "10.8.0.1"
# By which clients come: not what the proxies themselves open.
INTERFACE = "wifi"
TABLE = "80"
# Of <linux/in.h>: answers may leave with an address that is not this host's.
IP_TRANSPARENT = 19
INSIDE = (
    "read -r _ && ip link set lo up && ip addr add {server}/32 dev inner && ip link set inner up "
    f"&& ip route add {HERE} dev inner && ip route add default via {HERE} && exec "
)


class Proxy:
    """Ends each connection that a listener accepts, and opens one of its own."""

    def __init__(self, *, caches: bool = False, header: str = "") -> None:
        self._caches = caches
        self._header = header
        self._kept: dict[bytes, bytes] = {}

    def serve(self, listener: socket.socket, target: tuple[str, int]) -> None:
        """Serve each connection, until the listener is closed."""
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                threading.Thread(target=self._serve, args=(near, target), daemon=True).start()

    def _serve(self, near: socket.socket, target: tuple[str, int]) -> None:
        with suppress(OSError), near, socket.create_connection(target) as far:
            head = near.recv(BUFFER_BYTES)
            if not head.startswith(b"GET "):
                far.sendall(head)
                _relay(near, far)
                return
            line, _, rest = head.partition(b"\r\n")
            if not (self._caches and line in self._kept):
                far.sendall(line + b"\r\n" + self._header.encode() + rest)
                self._kept[line] = _all(far)
            near.sendall(self._kept[line])


def _all(sock: socket.socket) -> bytes:
    came = b""
    while piece := sock.recv(BUFFER_BYTES):
        came += piece
    return came


def _relay(near: socket.socket, far: socket.socket) -> None:
    def copy(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while piece := source.recv(BUFFER_BYTES):
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)

    back = threading.Thread(target=copy, args=(far, near))
    back.start()
    copy(near, far)
    back.join()


def main() -> int:
    """Put the proxies between, and run the server behind them."""
    parser = ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("ports", nargs="+", type=int)
    parser.add_argument("--caches", action="append", default=[], type=int)
    at = sys.argv.index("--")
    options, command = parser.parse_args(sys.argv[1:at]), sys.argv[at + 1 :]
    inside = INSIDE.format(server=options.server) + '"$@"'
    behind = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", inside, "sh", *command], stdin=subprocess.PIPE
    )
    assert behind.stdin is not None
    _join(behind.pid, options.server)
    for port in options.ports:
        _ip(f"rule add iif {INTERFACE} ipproto tcp dport {port} lookup {TABLE}")
        listener = socket.socket()
        listener.setsockopt(socket.SOL_IP, IP_TRANSPARENT, 1)
        listener.bind(("", port))
        listener.listen()
        proxy = Proxy(caches=port in options.caches)
        target = (options.server, port)
        threading.Thread(target=proxy.serve, args=(listener, target), daemon=True).start()
    behind.stdin.write(b"\n")
    behind.stdin.close()
    return behind.wait()


def _join(pid: int, server: str) -> None:
    """Lead to the namespace of a process, in which the server's address is to be."""
    mine = Path("/proc/self/ns/net").readlink()
    while Path(f"/proc/{pid}/ns/net").readlink() == mine:
        time.sleep(0.01)
    _ip(f"addr del {server}/32 dev lo")
    _ip(f"link add outer type veth peer name inner netns {pid}")
    _ip(f"addr add {HERE}/32 dev outer")
    _ip("link set outer up")
    _ip(f"route add {server} dev outer")
    _ip(f"route add local 0.0.0.0/0 dev lo table {TABLE}")
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")


def _ip(arguments: str) -> None:
    subprocess.run(["ip", *arguments.split()], check=True)


if __name__ == "__main__":
    sys.exit(main())
