"""A case: one scenario that both engines run, and how it is judged."""

from __future__ import annotations

from dataclasses import dataclass

from mptcplab.engines.engine import Engine

THROUGHPUT = "throughput_mbps"
RESPONSE = "response_time_ms_mean"
MESSAGE = "message_delay_ms_mean"
# Shown in captures of both ends and in the slow-start thresholds of `state`.
HYSTART = (
    "HyStart: if the emulator woke up late, ACKs that were sent a millisecond apart arrived more than 2 ms apart. This breaks the ACK "
    "train, so slow start ended later in some runs of the kernel"
)
# Behind 10 Mbit/s and 40 ms, jitter of 0.25 ms takes the simulation from 52 to 72 ms, and with a queue of one BDP from 49 to 65; over a lossy path and
# one with a deep queue it takes it to 88 ms, and 0.5 ms to 90.
RATES = (
    "BBR: the emulated link releases ACKs every half millisecond. BBR sends at the highest delivery rate that these ACKs show, which is "
    "above the rate of the link. The simulation does the same with jitter of a quarter of a millisecond"
)


@dataclass(frozen=True)
class Path:
    """A path: rate downwards, round-trip time without queues, queue in each direction; loss and jitter likewise."""

    rate_mbps: float
    rtt_ms: float
    queue_kb: float
    loss_percent: float = 0.0
    uplink_mbps: float | None = None
    jitter_ms: float = 0.0
    # Further keys, as lines of TOML.
    more: str = ""

    def toml(self, name: str) -> str:
        """Write it down."""
        uplink = self.rate_mbps if self.uplink_mbps is None else self.uplink_mbps
        return f"""
[path.{name}]
downlink_rate = "{self.rate_mbps:g} Mbit/s"
uplink_rate = "{uplink:g} Mbit/s"
delay = "{self.rtt_ms / 2:g} ms"
jitter = "{self.jitter_ms:g} ms"
loss = "{self.loss_percent:g} %"
queue = "{self.queue_kb:g} kB"
{self.more}
"""


@dataclass(frozen=True)
class Case:
    """One scenario."""

    name: str
    family: str
    # The whole file.
    text: str
    # Whether several paths carry it: engines may be farther apart then.
    is_multipath: bool = False
    # Whether losses, rates or delays are drawn: such runs differ more.
    is_drawn: bool = False
    # What says how fast it was.
    measure: str = THROUGHPUT
    # The path whose share is compared.
    first: str = "one"
    # Why engines are farther apart than the bands, where they are.
    cause: str = ""

    @property
    def band(self) -> float:
        """How far the engines' speed may be apart before it is to be explained."""
        return 0.15 if self.is_multipath else 0.10

    def runs(self, engine: Engine) -> int:
        """How many runs an engine makes: in real time they take as long as they take."""
        if not engine.real_time:
            return 20
        return 8 if self.is_drawn else 5


def bulk(size: str, direction: str = "download") -> str:
    """Write a transfer of so much."""
    return f'direction = "{direction}"\nsize = "{size}"'


def lasting(duration: str, direction: str = "download") -> str:
    """Write a transfer that goes on for so long."""
    return f'direction = "{direction}"\nduration = "{duration}"'


def responses(response: str, requests: int, think: str) -> str:
    """Write requests with pauses between them."""
    return "\n".join(
        [
            'application = "request-response"',
            'direction = "download"',
            'request = "300 B"',
            f'response = "{response}"',
            f"requests = {requests}",
            f'think = "{think}"',
        ]
    )


def tcp(controller: str, transfer: str, link: Path | str, tcp: str = "", more: str = "") -> str:
    """Write plain TCP over one path; a link of its own kind is text."""
    path = link.toml("one") if isinstance(link, Path) else link
    return f"""schema = 1
[transfer]
{transfer}
{path}
[mptcp]
era = "current"
enabled = false
[tcp]
congestion_control = "{controller}"
{tcp}
{more}
"""


def mptcp(
    controller: str,
    transfer: str,
    links: tuple[Path, ...] | str,
    *,
    mptcp: str = "",
    tcp: str = "",
    more: str = "",
) -> str:
    """Write MPTCP as Linux has it."""
    paths = links
    if not isinstance(paths, str):
        paths = "".join(
            path.toml(name) for path, name in zip(paths, ("one", "two", "three"), strict=False)
        )
    return f"""schema = 1
[transfer]
{transfer}
{paths}
[mptcp]
era = "current"
congestion_control = "{controller}"
{mptcp}
[tcp]
{tcp}
{more}
"""
