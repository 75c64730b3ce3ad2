"""What runs in ``mptcplab shell`` at both hosts: ``python -m experiments.guard.traffic serve|cost``."""

from __future__ import annotations

import json
import os
import selectors
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

PORT, MPTCP = 8080, 262
MESSAGE_BYTES = 1000
MANY = 50
LEARNS_S, MEASURED_S, WINDOWS = 3, 20, 3


def main() -> None:
    """Do what the first word says."""
    match sys.argv[1:]:
        case ["serve", interval_s]:
            serve(float(interval_s))
        case ["cost"]:
            print(json.dumps(cost()))
        case _:
            sys.exit("usage: python -m experiments.guard.traffic serve SECONDS|cost")


def serve(interval_s: float) -> None:
    """Send a message to everybody who connects, each time that so long has passed."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("", PORT))
    listener.listen(MANY)
    while True:
        client, _ = listener.accept()
        threading.Thread(target=_send, args=(client, interval_s), daemon=True).start()


def _send(client: socket.socket, interval_s: float) -> None:
    due_s = time.monotonic()
    try:
        while True:
            client.sendall(bytes(MESSAGE_BYTES))
            due_s += interval_s
            time.sleep(max(0, due_s - time.monotonic()))
    except OSError:
        return


def connected() -> socket.socket:
    """Connect to the server."""
    client = socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP)
    client.connect((os.environ["MPTCPLAB_SERVER"], PORT))
    return client


def cost() -> dict[str, Any]:
    """Say what the guard takes while many connections carry data: of a core in some windows, and of memory; and the load of the host."""
    guard = _guard()
    selector = selectors.DefaultSelector()
    for _ in range(MANY):
        selector.register(connected(), selectors.EVENT_READ)
    _read(selector, LEARNS_S)
    windows = [_core_percent(guard, selector) for _ in range(WINDOWS)]
    status = (guard / "status").read_text().splitlines()
    peak = next(line for line in status if line.startswith("VmHWM"))
    return {
        "connections": MANY,
        "core_percents": windows,
        "load": round(os.getloadavg()[0], 1),
        "memory_mb": round(int(peak.split()[1]) * 1024 / 1e6, 1),
    }


def _core_percent(guard: Path, selector: selectors.BaseSelector) -> float:
    began_s, before_s = time.monotonic(), _cpu_s(guard)
    _read(selector, MEASURED_S)
    took_s, passed_s = _cpu_s(guard) - before_s, time.monotonic() - began_s
    return round(100 * took_s / passed_s, 2)


def _read(selector: selectors.BaseSelector, seconds: float) -> None:
    until_s = time.monotonic() + seconds
    while time.monotonic() < until_s:
        for key, _ in selector.select(0.1):
            client = key.fileobj
            assert isinstance(client, socket.socket)
            client.recv(1 << 16)
        time.sleep(0.02)


def _guard() -> Path:
    """Find the guard of this network namespace."""
    own = Path("/proc/self/ns/net").readlink()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            is_guard = (process / "comm").read_text().startswith("mptcplab-guard")
            if is_guard and (process / "ns/net").readlink() == own:
                return process
        except OSError:
            continue
    sys.exit("no guard is at work here")


def _cpu_s(process: Path) -> float:
    """Give what a process has taken of the processor, to 1 µs (/proc/PID/schedstat)."""
    return int((process / "schedstat").read_text().split()[0]) / 1e9


if __name__ == "__main__":
    main()
