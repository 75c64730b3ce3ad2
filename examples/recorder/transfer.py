"""The application: a client asks for sizes, a server sends as many bytes and closes.

    transfer.py server ADDRESS COUNT
    transfer.py client ADDRESS START SIZE…      START is a monotonic time
"""

from __future__ import annotations

import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

PORT = 8080
REQUEST_BYTES = 64
AT_A_TIME = 16


def serve(address: str, count: int) -> None:
    with _socket() as listener:
        listener.bind((address, PORT))
        listener.listen(512)
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
        list(pool.map(lambda size: _ask(address, size), sizes))


def _ask(address: str, size: int) -> None:
    with _socket() as peer:
        peer.connect((address, PORT))
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
    role, address, *rest = sys.argv[1:]
    if role == "server":
        serve(address, int(rest[0]))
    else:
        fetch(address, float(rest[0]), [int(size) for size in rest[1:]])
