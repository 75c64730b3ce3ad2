"""What a scenario is to plain TCP."""

from __future__ import annotations

from dataclasses import replace

from mptcplab.scenario import endpoint, kernel, policy
from mptcplab.scenario.scenario import Scenario
from mptcplab.scenario.source import Source


def plain(scenario: Scenario, *, linux: bool) -> Scenario:
    """Give the scenario with all as usual that only MPTCP looks at, and ``[kernel]`` without Linux.

    Scenarios of which this gives the same have the same baselines.
    """
    # Simulated endpoints hand data to their only subflow as their scheduler does, too.
    scheduler = {key: getattr(scenario.mptcp, key) for key in ("scheduler", "scheduler_parameters")}
    nothing = Source("scenario", {})
    mptcp = endpoint.read_mptcp({}, nothing)
    usual = kernel.read_kernel({}, mptcp, nothing)
    if linux:
        # What plain TCP takes may follow what MPTCP takes.
        alone = {"congestion_control": usual.congestion_control}
        usual = scenario.kernel.model_copy(update=alone)
    over_one_path = policy.over_one_path(scenario.tcp.congestion_control)
    return replace(
        scenario,
        mptcp=mptcp.model_copy(update=scheduler),
        tcp=scenario.tcp.model_copy(update={"congestion_control": over_one_path}),
        kernel=usual,
    )
