"""What keeps a scenario from this machine."""

from __future__ import annotations

from dataclasses import dataclass

from mptcplab.machine import kernel
from mptcplab.machine.checks import examine
from mptcplab.machine.machine import Machine


@dataclass(frozen=True)
class Needs:
    """What a scenario asks of a machine beside what all do."""

    mptcp: bool = True


def obstacles(needs: Needs, machine: Machine | None = None) -> list[str]:
    """Say what is in the way, in the doctor's words: a line each, none if it can run."""
    spared = () if needs.mptcp else (kernel.MPTCP,)
    checks = [check for check in examine(machine or Machine()) if check.name not in spared]
    return [check.line() for check in checks if check.verdict == "missing"]
