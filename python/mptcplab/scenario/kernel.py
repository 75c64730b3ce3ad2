"""``[kernel]``: what Linux does where it is the engine, in place of policies that it lacks."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from mptcplab.messages import quoted
from mptcplab.quantity import Kind
from mptcplab.scenario import policy
from mptcplab.scenario.section import Flag, Section, Text, read
from mptcplab.scenario.source import Source

# What Linux may have, too.
SHARED = ("reno", "reno-linux", "cubic", "cubic-linux", "bbr")
# Linux's own.
CONGESTION_CONTROL = "cubic"
SCHEDULER = "default"
# What Linux calls what [mptcp] and [tcp] name.
SCHEDULERS = {"linux": SCHEDULER}
CONGESTION_CONTROLS = {"reno-linux": "reno", "cubic-linux": CONGESTION_CONTROL}
NAME = re.compile(r"[A-Za-z0-9_-]{1,31}")
SYSCTL = re.compile(r"net(\.[a-z0-9_-]+){2,}")


class Sysctls(Kind):
    """Names of sysctls and what they are set to; tables within tables are names in parts."""

    def parse(self, value: Any) -> dict[str, int | str]:
        """Give them by their whole names."""
        if not isinstance(value, dict):
            raise self.refuse(value)
        flat = dict(self._flat(value, ()))
        for name in flat:
            if not SYSCTL.fullmatch(name):
                raise ValueError(
                    f'{quoted(name)} is not a sysctl of the network: they begin with "net."'
                )
        return flat

    def _flat(self, value: Any, above: tuple[str, ...]) -> list[tuple[str, int | str]]:
        if isinstance(value, dict):
            return [pair for key in value for pair in self._flat(value[key], (*above, key))]
        if not isinstance(value, int | str):
            raise ValueError(
                f"{'.'.join(above)}: {quoted(value)} is neither a whole number nor text"
            )
        return [(".".join(above), int(value) if isinstance(value, bool) else value)]


_SYSCTLS = Sysctls("sysctls", 'a table such as { "net.mptcp.stale_loss_cnt" = 2 }')


class Kernel(Section):
    """Settings of Linux, for runs with the kernel engine (``--engine kernel``)."""

    congestion_control: Text = ""
    """Congestion control of the subflows. If left out, the one of ``[mptcp]``: ``cubic`` for
    ``cubic-linux``. If the other end has the ``stack`` of mptcplab, a congestion control that Linux
    lacks is used at that end only."""
    scheduler: Text = ""
    """Packet scheduler. If left out, the one of ``[mptcp]``: ``default`` for ``linux``."""
    tcp_congestion_control: Text = ""
    """Congestion control of the plain-TCP baselines. If left out, the one of ``[tcp]`` (``reno`` if
    that is coupled), or else ``congestion_control``."""
    sysctl: Annotated[dict[str, int | str], BeforeValidator(_SYSCTLS.parse), _SYSCTLS] = Field(
        default_factory=dict
    )
    """Other sysctls to set at both ends. They override everything else."""
    link_log: Flag = False
    """Whether the run directory gets ``links.csv``, with a row for each packet that entered a link,
    left it or was dropped, and the length of the queue at that time."""
    state_per_ack: Flag = False
    """Whether ``state`` also gets a row for each ACK: the congestion window, the slow-start
    threshold, the round-trip time and the packets in flight as the ACK found them. Only root may
    record ACKs."""


def read_kernel(data: dict[str, Any], mptcp: Section, source: Source) -> Kernel:
    """Read the section from all of the scenario, with everything that is left out."""
    given = read(Kernel, data.get("kernel", {}), ("kernel",), source)
    scheduler, ours = mptcp.scheduler, mptcp.congestion_control
    if any(data.get(end, {}).get("stack") == "mptcplab" for end in ("client", "server")):
        # There is another end to have them.
        scheduler = SCHEDULER if scheduler in policy.known("scheduler") else scheduler
        ours = CONGESTION_CONTROL if ours in _lacking() else ours
    ours = given.congestion_control or ours
    plain = data.get("tcp", {}).get("congestion_control", ours)
    filled = given.model_copy(
        update={
            "congestion_control": CONGESTION_CONTROLS.get(ours, ours),
            "scheduler": given.scheduler or SCHEDULERS.get(scheduler, scheduler),
            "tcp_congestion_control": given.tcp_congestion_control or over_one_path(plain),
        }
    )
    for key in ("congestion_control", "scheduler", "tcp_congestion_control"):
        if not NAME.fullmatch(getattr(filled, key)):
            raise source.fault(("kernel", key), f"{quoted(getattr(filled, key))} is not a name")
    return filled


def over_one_path(congestion_control: str) -> str:
    """Name what Linux has for plain TCP where a scenario names this congestion control."""
    name = CONGESTION_CONTROLS.get(congestion_control, congestion_control)
    return policy.over_one_path(name)


def _lacking() -> set[str]:
    return set(policy.known("congestion_control")).difference(SHARED)
