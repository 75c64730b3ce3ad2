"""A client and a server in namespaces, and the traffic between them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from _typeshed import HasFileno

TRAFFIC = str(Path(__file__).parent / "traffic.py")
CLIENT, SERVER = "10.0.1.2", "10.9.0.1"
SECONDS = float(os.environ.get("MPTCPLAB_BENCH_SECONDS", "3"))


class Wire:
    """A client and a server in namespaces of their own, each given by what has a file number of it."""

    def __init__(self, client: HasFileno, server: HasFileno) -> None:
        self.client, self.server = client, server
        self.begun_ns = 0
        # What passed the ports of the emulator, once it has ended.
        self.passed: dict[str, dict[str, int]] = {}

    def set_up(self, memory: int = 64 << 20) -> None:
        """Once there are devices."""
        for space, address in [(self.client, CLIENT), (self.server, SERVER)]:
            shell(
                space,
                f"""ip link set lo up; ip address add {address}/32 dev wifi; ip link set wifi txqueuelen 1000 up
                ip route add default dev wifi""",
            )
        self.set_buffers(memory)

    def set_buffers(self, memory: int) -> None:
        """What a socket may hold, in bytes."""
        for space in [self.client, self.server]:
            shell(
                space,
                f"""echo 4096 131072 {memory} > /proc/sys/net/ipv4/tcp_rmem
                echo 4096 65536 {memory} > /proc/sys/net/ipv4/tcp_wmem""",
            )

    def both_directions(self) -> tuple[float, float]:
        """Gbit/s that a stream has up and then one down."""
        return (self.stream(up=True), self.stream(up=False))

    def start(self, space: HasFileno, *arguments: str) -> subprocess.Popen[str]:
        command = [*enter(space), sys.executable, TRAFFIC, *arguments]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def run(self, space: HasFileno, *arguments: str) -> Any:
        with self.start(space, *arguments) as process:
            return result(process)

    def stream(self, *, up: bool) -> float:
        """Gbit/s that a stream has in the middle of its time."""
        ends = [(self.client, CLIENT), (self.server, SERVER)]
        (sender, local), (receiver, remote) = ends if up else ends[::-1]
        with self.start(receiver, "sink", remote, "1", str(1 + SECONDS)) as sink:
            ready(sink)
            with self.start(sender, "source", local, remote, str(1.5 + SECONDS)) as source:
                found = result(sink)
                result(source)
        return float(found["bytes"] * 8e-9 / found["seconds"])

    def datagrams(self, number: int, per_second: int, size: int) -> list[int]:
        """When those arrived that the client sent."""
        with self.start(self.server, "count", SERVER) as counter:
            ready(counter)
            self.run(self.client, "blast", CLIENT, SERVER, str(number), str(per_second), str(size))
            times: list[int] = result(counter)["times"]
            return times


def shell(space: HasFileno, script: str) -> None:
    subprocess.run([*enter(space), "sh", "-ec", script], check=True)


def enter(space: HasFileno, *options: str) -> list[str]:
    return ["nsenter", f"--net={path(space)}", *options, "--"]


def path(space: HasFileno) -> str:
    return f"/proc/{os.getpid()}/fd/{space.fileno()}"


def ready(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"


def result(process: subprocess.Popen[str]) -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())
