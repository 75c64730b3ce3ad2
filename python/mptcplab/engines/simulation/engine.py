"""The simulation: a scenario in virtual time."""

from __future__ import annotations

import json

from mptcplab.engines.engine import Engine, Measured

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab import _core
    from mptcplab.engines.engine import Progress, Target, Trial


class Simulation(Engine):
    """Virtual time: the same seed gives the same packets."""

    name = "simulation"
    made = "simulated"
    means = "endpoints of mptcplab in virtual time, over simulated links"
    in_memory = True
    converters = True
    counts = "packets"
    samples = ("state", "queues", "drops")

    def run(self, trial: Trial, target: Target) -> Measured:
        """Run it; what the plan alone can tell of the tables is added to their diagnostics."""
        from mptcplab import _core
        from mptcplab.engines.remarks import remarks
        from mptcplab.scenario.plan import plan

        client, server = (
            None if target.captures == "none" else target.directory / f"{end}.pcapng"
            for end in ("client", "server")
        )
        planned = plan(trial.scenario, trial.seed, trial.baseline)
        tables = _core.simulate(
            planned,
            client_capture=client,
            server_capture=server,
            full_payload=target.captures == "full",
            progress=target.progress,
        )
        run_tables = {each: tables.table(each) for each in tables.NAMES}
        if notes := remarks(planned, tables):
            rows = [*tables.rows("diagnostics"), *notes]
            run_tables["diagnostics"] = _core.rows("diagnostics", json.dumps(rows))
        outcome = tables.outcome() or {}
        if trial.mptcp and trial.scenario.mptcp.receive_buffer == "per-subflow":
            outcome = _explained(outcome)
        return Measured(run_tables, outcome)

    def tables(self, trial: Trial, *, samples: bool, progress: Progress | None) -> _core.Tables:
        """Run it in memory."""
        from mptcplab import _core
        from mptcplab.scenario.plan import plan

        planned = plan(trial.scenario, trial.seed, trial.baseline)
        return _core.simulate(planned, samples=samples, progress=progress)


def _explained(outcome: dict[str, Any]) -> dict[str, Any]:
    """Say of what did not finish that buffers of subflows may be why."""
    if outcome.get("finished", True):
        return outcome
    reason = 'with receive_buffer = "per-subflow" a transfer may stand still for good'
    return outcome | {"reason": f"{outcome['reason']}; {reason}"}
