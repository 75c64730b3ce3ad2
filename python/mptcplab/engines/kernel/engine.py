"""What the kernel engine can."""

from __future__ import annotations

import platform

from mptcplab.engines.engine import Engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import Any

    from mptcplab.engines.engine import Measured, Programs, Target, Trial
    from mptcplab.engines.kernel import sandbox
    from mptcplab.scenario.scenario import Scenario


class Kernel(Engine):
    """Linux's own MPTCP, in namespaces that end with the run."""

    name = "kernel"
    made = "emulated"
    means = "Linux's own MPTCP over emulated links, in real time"
    real_time = True
    linux = True
    converters = True
    programs = True
    protocols = ("tcp", "quic")
    samples = ("state", "signals", "counters")

    def conditions(self) -> dict[str, Any]:
        """Another kernel is another run."""
        return {"kernel": platform.release()}

    def unloaded(self) -> list[str]:
        """Root loads those of ours, once for everybody."""
        from mptcplab.controllers import catalogue

        return [name for name in catalogue.NAMES if name not in catalogue.loaded()]

    def ran(self, about: Mapping[str, Any]) -> str:
        """Name the kernel, and the end that is not its."""
        kernel = about["kernel"]
        linux = f"Linux {kernel if isinstance(kernel, str) else kernel['release']}"
        for end, stack in about.get("stacks", {}).items():
            if stack == "mptcplab":
                linux += f" and a {end} of mptcplab"
        return f"{linux} over emulated links"

    def check(self, scenario: Scenario, baseline: str | None = None) -> None:
        """Refuse what this kernel lacks, with the settings that make it run."""
        from mptcplab.engines.kernel.features import Features
        from mptcplab.engines.kernel.job import Wanted

        super().check(scenario, baseline)
        Wanted(scenario, 0, baseline, Features.here())

    def session(
        self, directory: Path, *, programs: bool = False
    ) -> AbstractContextManager[sandbox.Sandbox]:
        """Open a sandbox; programs are not to be this machine's root."""
        from mptcplab.engines.kernel import sandbox

        return sandbox.opened(directory, user=programs and sandbox.has_user())

    def run(self, trial: Trial, target: Target) -> Measured:
        """Run it in namespaces."""
        from mptcplab.engines.kernel.emulate import emulate

        return emulate(trial, target)

    def run_programs(
        self,
        trial: Trial,
        target: Target,
        programs: Programs,
        *,
        name: str,
        begin: Callable[[list[str]], None],
    ) -> tuple[Measured, int]:
        """Run programs in the namespaces of the hosts."""
        from mptcplab.engines.kernel.programs import run_programs

        return run_programs(trial, target, programs, name=name, begin=begin)
