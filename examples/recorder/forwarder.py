"""Moves frames between two interfaces with the rate, delay, queue and losses of a path.

The kernel's own emulator (netem) is often not built in, so this is done in user space.
"""

from __future__ import annotations

import os
import random
import select
import socket
import time
from collections import deque
from contextlib import suppress

from recorder.path import Path
from recorder.strip import strip_mptcp

SOL_PACKET = 263
PACKET_IGNORE_OUTGOING = 23
ETH_P_ALL = 3
FRAME_BYTES = 2048
LONG = 3600.0


class Direction:
    """One direction of a path: a drop-tail queue, then the loss of the radio, then the delay."""

    def __init__(self, path: Path, mbps: float, loss: float, seed: str, start: float) -> None:
        self.seconds_per_byte = 8 / (mbps * 1e6)
        self.delay = (path.rtt_ms or 0) / 2000
        self.queue_bytes = path.queue_bytes
        self.loss = loss
        self.strips = path.strips_mptcp
        self.blackout = tuple(start + t for t in path.blackout_s or (float("inf"), float("inf")))
        self.random = random.Random(seed)
        self.idle_at = 0.0
        self.in_flight: deque[tuple[float, bytes]] = deque()

    def push(self, now: float, frame: bytes) -> None:
        self.idle_at = max(self.idle_at, now)
        if (self.idle_at - now) / self.seconds_per_byte + len(frame) > self.queue_bytes:
            return
        self.idle_at += len(frame) * self.seconds_per_byte
        lost = self.random.random() < self.loss
        # Loss of radio takes what is on air then, however long it has queued.
        if lost or self.blackout[0] <= self.idle_at < self.blackout[1]:
            return
        frame = strip_mptcp(frame) if self.strips else frame
        self.in_flight.append((self.idle_at + self.delay, frame))

    def due(self, now: float) -> list[bytes]:
        frames = []
        while self.in_flight and self.in_flight[0][0] <= now:
            frames.append(self.in_flight.popleft()[1])
        return frames

    def deadline(self) -> float:
        return self.in_flight[0][0] if self.in_flight else float("inf")


def forward(path: Path, client_side: str, server_side: str, seed: int, start: float) -> None:
    """Serve one path for ever. `start` is the monotonic time that the path's times count from."""
    # A late forwarder is jitter that no path asked for. It sleeps most of the time.
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    client, server = _open(client_side), _open(server_side)
    up = Direction(path, path.up_mbps, 0, f"{seed}/{path.name}/up", start)
    down = Direction(
        path, path.down_mbps, path.loss_percent / 100, f"{seed}/{path.name}/down", start
    )
    routes = {client: (up, server), server: (down, client)}
    while True:
        now = time.monotonic()
        for direction, target in routes.values():
            for frame in direction.due(now):
                target.send(frame)
        wait = min(LONG, up.deadline() - now, down.deadline() - now)
        readable, _, _ = select.select(list(routes), [], [], max(0, wait))
        for source in readable:
            _drain(source, routes[source][0])


def _open(interface: str) -> socket.socket:
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    packets.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    packets.bind((interface, ETH_P_ALL))
    return packets


def _drain(source: socket.socket, direction: Direction) -> None:
    for _ in range(64):
        try:
            frame = source.recv(FRAME_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        direction.push(time.monotonic(), frame)
