"""Engines: what runs a scenario and leaves a run directory."""

from __future__ import annotations

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Protocol

    from mptcplab.results.run import Run
    from mptcplab.scenario.scenario import Scenario

    class Engine(Protocol):
        """Runs a scenario, or plain TCP over its path ``baseline``, into a directory.

        Gives the run, and whether it was there already. ``progress`` is told the time in
        nanoseconds, and the packets (simulation) or bytes (kernel) so far.
        """

        def __call__(
            self,
            scenario: Scenario,
            target: Path,
            *,
            name: str,
            seed: int = 1,
            baseline: str | None = None,
            captures: str = "headers",
            force: bool = False,
            progress: Callable[[int, int], None] | None = None,
        ) -> tuple[Run, bool]:
            """Run it."""


ENGINES = ("simulation", "kernel")


def named(engine: str) -> Engine:
    """Give the engine of a name."""
    if engine == "simulation":
        from mptcplab.engines.simulation.simulate import simulate

        return simulate
    if engine == "kernel":
        from mptcplab.engines.kernel.emulate import emulate

        return emulate
    raise Error(f"the engine is {engine!r}; it must be one of {', '.join(ENGINES)}")
