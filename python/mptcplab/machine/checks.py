"""All that is looked at, in the order in which it is told."""

from __future__ import annotations

from mptcplab.machine import congestion, devices, kernel, limits, namespaces, preload, tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mptcplab.machine.check import Check
    from mptcplab.machine.machine import Machine

CHECKS: tuple[Callable[[Machine], Check], ...] = (
    *(kernel.linux, kernel.mptcp, kernel.subflow_state),
    *(kernel.schedulers, kernel.path_managers, congestion.controls, kernel.ipv6),
    *(namespaces.user, namespaces.network),
    *(devices.tun, devices.packet_sockets, devices.offloads),
    *(limits.clock, limits.buffers, limits.cores),
    *(tools.iproute, tools.util_linux, preload.check),
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
