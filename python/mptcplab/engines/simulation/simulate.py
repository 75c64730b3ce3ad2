"""A scenario in virtual time, into a run directory."""

from __future__ import annotations

import json
from pathlib import Path

from mptcplab import _core
from mptcplab.engines.engine import Measured
from mptcplab.engines.remarks import remarks
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import Scenario

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.engines.engine import Progress


def simulate(
    scenario: Scenario,
    directory: Path,
    seed: int,
    baseline: str | None,
    captures: str,
    progress: Progress | None,
) -> Measured:
    """Run a scenario, or plain TCP over its path ``baseline``."""
    client, server = (
        None if captures == "none" else directory / f"{end}.pcapng" for end in ("client", "server")
    )
    planned = plan(scenario, seed, baseline)
    tables = _core.simulate(
        planned,
        client_capture=client,
        server_capture=server,
        full_payload=captures == "full",
        progress=progress,
    )
    made = {each: tables.table(each) for each in tables.NAMES}
    if found := remarks(planned, tables):
        rows = [*tables.rows("diagnostics"), *found]
        made["diagnostics"] = _core.rows("diagnostics", json.dumps(rows))
    outcome = tables.outcome() or {}
    mptcp = baseline is None and scenario.mptcp.enabled
    if mptcp and scenario.mptcp.receive_buffer == "per-subflow":
        outcome = _explained(outcome)
    return Measured(made, outcome)


def _explained(outcome: dict[str, Any]) -> dict[str, Any]:
    """Say of what did not finish that buffers of subflows may be why."""
    if outcome.get("finished", True):
        return outcome
    why = 'with receive_buffer = "per-subflow" a transfer may stand still for good'
    return outcome | {"reason": f"{outcome['reason']}; {why}"}
