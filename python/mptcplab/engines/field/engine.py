"""What the field engine can."""

from __future__ import annotations

from mptcplab.engines.engine import Engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mptcplab.engines.engine import Carried, Measured, Target, Trial
    from mptcplab.scenario.scenario import Scenario

NEEDS = {"path_manager": ("full-mesh", "linux", "single")}


class Field(Engine):
    """Linux at both ends, and whatever lies between two hosts."""

    name = "field"
    made = "measured"
    means = "Linux's own MPTCP between this host and one with mptcplab serve, over real networks"
    real_time = True
    linux = True
    visits = True
    emulates = False
    samples = ("state", "counters", "radio", "positions")
    verbs = ()
    policies = NEEDS

    def ran(self, about: Mapping[str, Any]) -> str:
        """Name both kernels."""
        if "open" in about:
            return f"a client of its own and Linux {about['kernel']['release']} over real networks"
        if "field" not in about:
            return "real networks"
        client, server = about["kernel"]["release"], about["field"]["server_kernel"]["release"]
        kernels = f"Linux {client}" if client == server else f"Linux {client} and {server}"
        return f"{kernels} over real networks"

    def check(self, scenario: Scenario, baseline: str | None = None) -> None:
        """Refuse what has no real network, or what only emulated ones can have."""
        from mptcplab.scenario.fault import ScenarioError

        super().check(scenario, baseline)
        for name, path in scenario.paths.items():
            if path.interface is None:
                raise ScenarioError(
                    f'path {name}: the field engine needs its interface: interface = "wlan0"'
                )
        for key, is_given in (
            ("[[cross_traffic]]", scenario.cross_traffic),
            ("[client] stack", scenario.client.stack == "mptcplab"),
            ("[server] stack", scenario.server.stack == "mptcplab"),
            ("[server] version", scenario.server.version == 0),
            ("[kernel] sysctl", scenario.kernel.sysctl),
        ):
            if is_given:
                raise ScenarioError(f"{key}: the field engine takes networks and hosts as they are")

    def need(self, scenario: Scenario) -> None:
        """Refuse to begin without a server, its token and congestion controls that we may have."""
        from mptcplab.engines.field import interfaces, server_line
        from mptcplab.scenario.fault import ScenarioError
        from mptcplab.surroundings import gpsd

        if scenario.field is None or scenario.field.server is None:
            raise ScenarioError(
                "the field engine needs a server: run mptcplab serve there, and say --server with "
                'the line that it prints, or server = "…" in [field]'
            )
        server_line.read(scenario.field.server)
        server_line.token(scenario.field.token)
        if scenario.field.gpsd is not None:
            # Refuses what is no address.
            gpsd.address(scenario.field.gpsd)
        interfaces.may_choose(scenario)

    def greet(self, scenarios: list[Scenario]) -> None:
        """Show the server our token and what it is to choose, if it is reached."""
        from mptcplab.engines.field import interfaces

        interfaces.greet(scenarios)

    def away(self, scenario: Scenario) -> dict[str, str]:
        """Greet the server by each path, and say why that cannot be."""
        from mptcplab.engines.field import interfaces

        return interfaces.away(scenario)

    def lacks(self, scenario: Scenario) -> list[str]:
        """List what ``doctor --field`` finds missing."""
        from mptcplab.engines.field import interfaces

        return interfaces.lacks(scenario)

    def carried(self, scenario: Scenario) -> dict[str, Carried]:
        """Ask the kernel what the interfaces have carried."""
        from mptcplab.engines.field import interfaces

        return interfaces.carried(scenario)

    def run(self, trial: Trial, target: Target) -> Measured:
        """Run it between here and the server."""
        from mptcplab.engines.field.measure import measure

        return measure(trial, target)
