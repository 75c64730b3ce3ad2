"""What this machine can do for the kernel engine: ``mptcplab doctor``."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.machine.check import Check


def doctor() -> list[Check]:
    """Look what this machine can do for the kernel engine, and what would mend the rest.

    Changes nothing: what cannot be read is tried in namespaces that are gone at once. The engine
    can run if no ``verdict`` is ``missing`` or ``unknown``.
    """
    from mptcplab.machine.checks import examine
    from mptcplab.machine.machine import Machine

    return examine(Machine())
