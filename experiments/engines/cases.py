"""The scenarios that both engines run. Each lasts 200 round trips (without queues) or 100 losses at least."""

from __future__ import annotations

from dataclasses import dataclass

PATH = """
[path.{name}]
rate = "{rate} Mbit/s"
delay = "{delay:g} ms"
loss = "{loss:g} %"
queue = "{queue} kB"
"""


@dataclass(frozen=True)
class Path:
    """A path: rate each way, round-trip time without queues, loss downwards and upwards, queue."""

    rate_mbps: float
    rtt_ms: float
    queue_kb: int
    loss_percent: float = 0.0

    def toml(self, name: str) -> str:
        """Write it down."""
        return PATH.format(
            name=name,
            rate=self.rate_mbps,
            delay=self.rtt_ms / 2,
            loss=self.loss_percent,
            queue=self.queue_kb,
        )


@dataclass(frozen=True)
class Case:
    """One scenario."""

    name: str
    controller: str
    paths: tuple[Path, ...]
    size_mb: float
    # What else the file says, and how much engines may differ, in percent.
    more: str = ""
    server_addresses: int = 1

    @property
    def is_multipath(self) -> bool:
        """Whether it is MPTCP; else plain TCP."""
        return len(self.paths) > 1

    @property
    def band_percent(self) -> int:
        """How far the engines may be apart before it is to be explained."""
        return 15 if self.is_multipath else 10

    def toml(self) -> str:
        """Write the scenario."""
        names = ("one", "two")
        kind = "mptcp" if self.is_multipath else "tcp"
        policies = [f"[{kind}]", f'congestion_control = "{self.controller}-linux"']
        if self.is_multipath:
            policies.append('scheduler = "linux"')
        else:
            policies += ["[mptcp]", "enabled = false"]
        return "\n".join(
            [
                "schema = 1",
                f'title = "{self.name}"',
                "[transfer]",
                'direction = "download"',
                f'size = "{self.size_mb:g} MB"',
                *(path.toml(name) for path, name in zip(self.paths, names, strict=False)),
                "[server]",
                f"addresses = {self.server_addresses}",
                *policies,
                self.more,
                "",
            ]
        )


def single(name: str, controller: str, path: Path, size_mb: float) -> Case:
    """Plain TCP over one path."""
    return Case(f"{controller}, {name}", controller, (path,), size_mb)


LOST_AND_BACK = """
[[timeline]]
at = "8 s"
path = "one"
verb = "blackout"

[[timeline]]
at = "13 s"
path = "one"
verb = "restore"
"""

# Rates in Mbit/s, round trips in ms, queues in kB: name, path, size in MB.
SINGLE = (
    ("1 Mbit/s, 40 ms, small queue", Path(1, 40, 10), 3.5),
    ("10 Mbit/s, 10 ms, small queue", Path(10, 10, 15), 25),
    ("10 Mbit/s, 40 ms, one BDP", Path(10, 40, 50), 25),
    ("10 Mbit/s, 100 ms, bloated queue", Path(10, 100, 1000), 40),
    ("100 Mbit/s, 20 ms, one BDP", Path(100, 20, 250), 250),
    ("10 Mbit/s, 400 ms, half a BDP", Path(10, 400, 250), 100),
    ("50 Mbit/s, 40 ms, 2 % loss", Path(50, 40, 250, 2), 12),
    ("50 Mbit/s, 10 ms, 0.5 % loss", Path(50, 10, 250, 0.5), 40),
    ("20 Mbit/s, 200 ms, 0.1 % loss", Path(20, 200, 500, 0.1), 80),
)
EQUAL = (Path(10, 40, 50), Path(10, 40, 50))
UNEQUAL = (Path(20, 25, 100), Path(8, 60, 150))
LOSSY = (Path(20, 30, 150, 0.5), Path(10, 60, 150, 0.5))
CASES = (
    *(single(name, "reno", path, size) for name, path, size in SINGLE),
    *(single(name, "cubic", path, size) for name, path, size in SINGLE),
    Case("reno, two equal subflows", "reno", EQUAL, 40),
    Case("cubic, two equal subflows", "cubic", EQUAL, 40),
    Case("reno, two unequal subflows", "reno", UNEQUAL, 50),
    Case("cubic, two unequal subflows", "cubic", UNEQUAL, 50),
    Case("reno, two lossy subflows", "reno", LOSSY, 30),
    Case("reno, four subflows over two paths", "reno", UNEQUAL, 50, server_addresses=2),
    Case("cubic, four subflows over two paths", "cubic", UNEQUAL, 50, server_addresses=2),
    Case("cubic, one path lost and back", "cubic", UNEQUAL, 60, more=LOST_AND_BACK),
)
