"""Boxes that stand in a path, and what must be found of each."""

from __future__ import annotations

from dataclasses import dataclass

CLEAN = 'rate = "20 Mbit/s"\ndelay = "15 ms"\n'


@dataclass(frozen=True)
class Case:
    """A path, and the probes that ought to tell of what is in it; no other may."""

    name: str
    found_by: tuple[str, ...] = ()
    box: str = ""
    path: str = CLEAN
    more: str = ""
    # A second path, over which connections begin that this one is to join.
    beside: bool = False

    def toml(self) -> str:
        """Write the scenario."""
        boxes = f"middleboxes = [{{ {self.box} }}]\n" if self.box else ""
        head = 'schema = 1\n\n[transfer]\ndirection = "download"\nsize = "1 MB"\n'
        lte = f"\n[path.lte]\n{CLEAN}" if self.beside else ""
        return f"{head}\n[path.wifi]\n{self.path}{boxes}{lte}\n{self.more}"


def _strip(segments: str) -> str:
    return f'element = "strip-options", segments = "{segments}"'


def _garble(how: str) -> str:
    return f'element = "garble-options", how = "{how}"'


# A neighbour's download keeps half a second of queue filled.
BLOATED = """\
[link.home]
uplink = [{ element = "rate", rate = "20 Mbit/s" }, { element = "delay", delay = "15 ms" }]
downlink = [
  { element = "rate", rate = "8 Mbit/s", queue = { queue = "drop-tail", bytes = "500 kB" } },
  { element = "delay", delay = "15 ms" },
]

[[cross_traffic]]
name = "neighbour"
link = "home"
direction = "download"
kind = "tcp"
congestion_control = "cubic-linux"
"""
IDLE = ("idle, server speaks", "idle, client speaks")
JOIN = ("MP_JOIN",)
STRIP_JOINS = 'element = "strip-options", option = "mp-join"'
# The server announces its second address.
ANNOUNCED = "[server]\naddresses = 2\n"
STRIP_ADDRESSES = 'element = "strip-options", option = "add-addr"'
HANDSHAKE = ("MP_CAPABLE",)

CASES = (
    Case("clean"),
    Case("clean, two paths", beside=True),
    Case("clean, announced", more=ANNOUNCED),
    Case("loss of 2 %", path=CLEAN + 'loss = "2 %"\n'),
    Case("loss of 2 %, two paths", path=CLEAN + 'loss = "2 %"\n', beside=True),
    Case("jitter of 10 ms", path=CLEAN + 'jitter = "10 ms"\n'),
    Case("jitter of 10 ms, two paths", path=CLEAN + 'jitter = "10 ms"\n', beside=True),
    Case("bloated", path='link = "home"\n', more=BLOATED),
    Case("strip-options, SYN", HANDSHAKE, _strip("syn")),
    Case("strip-options, SYN/ACK", ("MP_CAPABLE answer",), _strip("syn-ack")),
    Case("strip-options, data", ("DSS",), _strip("data")),
    Case("strip-options, all", HANDSHAKE, _strip("all")),
    Case("strip-options, MP_JOIN", JOIN, STRIP_JOINS, beside=True),
    Case("strip-options, ADD_ADDR", ("ADD_ADDR down", "DSS"), STRIP_ADDRESSES, more=ANNOUNCED),
    Case("garble-options, replace", HANDSHAKE, _garble("replace")),
    Case("garble-options, length", HANDSHAKE, _garble("length")),
    Case("alter-payload", ("payload",), 'element = "alter-payload", every = 60'),
    Case("clamp-mss", ("MSS",), 'element = "clamp-mss", bytes = "1300 B"'),
    Case("clamp-window", ("window",), 'element = "clamp-window", bytes = "20 kB"'),
    Case("mtu, ICMP", (), 'element = "mtu", bytes = "1300 B"'),
    *(
        Case(
            f"mtu of {size}, silent",
            ("large packets up", "large packets down"),
            f'element = "mtu", bytes = "{size} B", answer = "silent"',
        )
        # With headers of 40 bytes, what the papers' carriers let through (section 3.2).
        for size in (1300, 1397, 1412, 1468)
    ),
    Case("firewall, idle 6 s", IDLE, 'element = "firewall", idle = "6 s"'),
    Case("firewall, reset", IDLE, 'element = "firewall", idle = "6 s", reset = true'),
    Case("firewall, no joins", JOIN, 'element = "firewall", joins = false', beside=True),
    Case("nat", ("NAT",), 'element = "nat"'),
    Case("nat, idle 6 s", ("NAT", *IDLE), 'element = "nat", idle = "6 s"'),
    Case("rewrite-sequence", (), 'element = "rewrite-sequence"'),
    Case("split-segments", (), 'element = "split-segments"'),
    Case("coalesce-segments", (), 'element = "coalesce-segments"'),
    Case("ack-delay", (), 'element = "ack-delay", delay = "100 ms"'),
)
