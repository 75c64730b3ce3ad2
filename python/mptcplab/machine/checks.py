"""All that is examined, in the order of the report, and what keeps a scenario from this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mptcplab.machine import congestion, devices, kernel, limits, namespaces, preload, tools
from mptcplab.machine.check import Check
from mptcplab.machine.machine import Machine

CHECKS: tuple[Callable[[Machine], Check], ...] = (
    *(kernel.linux, kernel.mptcp, kernel.subflow_state),
    *(kernel.schedulers, kernel.path_managers, congestion.controls, congestion.programs),
    *(congestion.acks, kernel.ipv6),
    *(namespaces.user, namespaces.network),
    *(devices.tun, devices.packet_sockets, devices.offloads),
    *(limits.clock, limits.buffers, limits.cores),
    *(tools.iproute, tools.util_linux, preload.check, preload.check_all),
)


def examine(machine: Machine) -> list[Check]:
    """Look at everything; elsewhere than in Linux there is nothing to look at."""
    linux, *others = CHECKS
    found = [linux(machine)]
    if found[0].verdict == "fine":
        found += [check(machine) for check in others] + tools.optional(machine)
    return found


def able(checks: list[Check]) -> bool:
    """Whether the kernel engine can run."""
    return all(check.verdict in ("fine", "limited") for check in checks)


@dataclass(frozen=True)
class Needs:
    """What a scenario asks of a machine beside what all do."""

    mptcp: bool = True


def obstacles(needs: Needs, machine: Machine | None = None) -> list[str]:
    """List what prevents the engine from running, as the doctor does; empty if nothing does."""
    spared = () if needs.mptcp else (kernel.MPTCP,)
    checks = [check for check in examine(machine or Machine()) if check.name not in spared]
    return [check.line() for check in checks if check.verdict == "missing"]
