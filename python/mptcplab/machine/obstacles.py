"""What keeps a scenario from this machine, before it starts."""

from __future__ import annotations

from dataclasses import dataclass

from mptcplab.machine import congestion, kernel
from mptcplab.machine.checks import examine
from mptcplab.machine.machine import Machine

# What plain TCP can do without.
OF_MPTCP = {kernel.MPTCP}


@dataclass(frozen=True)
class Needs:
    """What a scenario asks of a machine beside what all do."""

    mptcp: bool = True
    ipv6: bool = False
    congestion_controls: tuple[str, ...] = ()
    schedulers: tuple[str, ...] = ()


def obstacles(needs: Needs, machine: Machine | None = None) -> list[str]:
    """Say what is in the way, in the doctor's words: a line each, none if it can run."""
    machine = machine or Machine()
    spared = set() if needs.mptcp else OF_MPTCP
    wrong = [
        found
        for found in examine(machine)
        if found.verdict == "missing" and found.name not in spared
    ]
    if machine.tried.outcome:
        if needs.ipv6:
            wrong += [found for found in [kernel.ipv6(machine)] if found.verdict != "fine"]
        there = machine.tried.outcome
        wrong += [
            congestion.absent(machine, name)
            for name in needs.congestion_controls
            if name not in there["congestion_controls"]
        ]
        wrong += [
            kernel.no_scheduler(machine, name)
            for name in needs.schedulers
            if name not in there["schedulers"]
        ]
    return [found.line() for found in wrong]
