"""What the simulation can."""

from __future__ import annotations

from mptcplab.engines.engine import Engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from mptcplab import _core
    from mptcplab.engines.engine import Measured, Progress
    from mptcplab.scenario.scenario import Scenario


class Simulation(Engine):
    """Virtual time: the same seed gives the same packets."""

    name = "simulation"
    made = "simulated"
    means = "endpoints of mptcplab in virtual time, over simulated links"
    in_memory = True
    counts = "packets"
    samples = ("state", "queues", "drops")

    def run(
        self,
        scenario: Scenario,
        directory: Path,
        *,
        seed: int,
        baseline: str | None,
        captures: str,
        progress: Progress | None,
    ) -> Measured:
        """Run it."""
        from mptcplab.engines.simulation.simulate import simulate

        return simulate(scenario, directory, seed, baseline, captures, progress)

    def tables(
        self,
        scenario: Scenario,
        *,
        seed: int,
        baseline: str | None,
        samples: bool,
        progress: Progress | None,
    ) -> _core.Tables:
        """Run it in memory."""
        from mptcplab import _core
        from mptcplab.scenario.plan import plan

        return _core.simulate(plan(scenario, seed, baseline), samples=samples, progress=progress)
