"""The application: a client asks for sizes, a server sends as many bytes and closes.

Called as `transfer.py server COUNT` and `transfer.py client ADDRESS START SIZE…`, where START is a
monotonic time. A server says when it listens; a client whose connection was reset ends with the
status RESET.
"""

from __future__ import annotations

import itertools
import os
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

PORT = 8080
REQUEST_BYTES = 64
AT_A_TIME = 16
PAUSE_SECONDS = 0.01
# Where packets are lost, Linux resets one connection of some thousands, after about a minute.
RESET = os.EX_TEMPFAIL


def serve(count: int) -> None:
    """On all addresses: an announced one must accept joins."""
    with _socket() as listener:
        listener.bind(("", PORT))
        listener.listen(512)
        print("listening", flush=True)
        threads = []
        for _ in range(count):
            threads.append(threading.Thread(target=_answer, args=(listener.accept()[0],)))
            threads[-1].start()
        for thread in threads:
            thread.join()


def _answer(peer: socket.socket) -> None:
    with peer:
        left = int(peer.recv(REQUEST_BYTES, socket.MSG_WAITALL))
        block = bytes(1 << 18)
        while left:
            left -= peer.send(block[: min(left, len(block))])


def fetch(address: str, start: float, sizes: list[int]) -> None:
    time.sleep(max(0, start - time.monotonic()))
    with ThreadPoolExecutor(min(AT_A_TIME, len(sizes))) as pool:
        # Every other client waits until the joins are made; the rest may be done before.
        pauses = itertools.cycle((0, PAUSE_SECONDS))
        list(pool.map(lambda size, pause: _ask(address, size, pause), sizes, pauses))


def _ask(address: str, size: int, pause: float) -> None:
    with _socket() as peer:
        peer.connect((address, PORT))
        time.sleep(pause)
        peer.sendall(str(size).encode().ljust(REQUEST_BYTES))
        left = size
        while block := peer.recv(1 << 18):
            left -= len(block)
        if left:
            sys.exit(f"{left} of {size} bytes did not arrive")


def _socket() -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return made


if __name__ == "__main__":
    role, *rest = sys.argv[1:]
    if role == "server":
        serve(int(rest[0]))
    else:
        try:
            fetch(rest[0], float(rest[1]), [int(size) for size in rest[2:]])
        except ConnectionResetError:
            print("the kernel reset a connection: record it again")
            sys.exit(RESET)
