"""The simulator: a scenario in virtual time, into a run directory."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from mptcplab import _core
from mptcplab.engine import place
from mptcplab.results.parquet import write_parquet
from mptcplab.results.run import ABOUT, Run
from mptcplab.scenario import long
from mptcplab.scenario.plan import WAYS, plan
from mptcplab.scenario.scenario import Scenario

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

ENGINE = "simulation"
# Version of what run.json holds.
SCHEMA = 1


def simulate(
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
    """Run a scenario, or plain TCP over its path ``baseline``, into the directory ``target``.

    Gives the run, and whether it was there already. ``captures`` is ``"none"``, ``"headers"`` or
    ``"full"``; ``progress`` is told the virtual time in nanoseconds and the packets so far.
    """
    text = long.write(scenario)
    identity = {
        "scenario": hashlib.sha256(text.encode()).hexdigest(),
        "seed": seed,
        "path": baseline,
        "engine": ENGINE,
        "version": _core.VERSION,
        "build": build(),
        "captures": captures,
    }
    if place.found(target, identity, force=force):
        return Run(target), True
    with place.written(target) as new:
        (new / "scenario.toml").write_text(text, "utf-8")
        started = datetime.now(UTC)
        outcome = _simulate(plan(scenario, seed, baseline), new, captures, progress)
        about = {
            "schema": SCHEMA,
            "mptcplab": _core.VERSION,
            "engine": ENGINE,
            "run": "mptcp" if baseline is None else f"tcp-{baseline}",
            "scenario": name,
            "seed": seed,
            "path": baseline,
            "mptcp": baseline is None and scenario.mptcp.enabled,
            "direction": WAYS[scenario.transfer.direction],
            "identity": identity,
            "command_line": sys.orig_argv,
            "platform": platform.platform(),
            "python": platform.python_version(),
            "started": started.isoformat(),
            "ended": datetime.now(UTC).isoformat(),
            "outcome": outcome,
            "sizes": place.sizes(new),
            "sha256": {path.name: _digest(path) for path in sorted(new.glob("*.pcapng"))},
        }
        (new / ABOUT).write_text(json.dumps(about, indent=2) + "\n", "utf-8")
    return Run(target), False


def _simulate(
    planned: str, directory: Path, captures: str, progress: Callable[[int, int], None] | None
) -> dict[str, Any]:
    client, server = (
        None if captures == "none" else directory / f"{end}.pcapng" for end in ("client", "server")
    )
    tables = _core.simulate(
        planned,
        client_capture=client,
        server_capture=server,
        full_payload=captures == "full",
        progress=progress,
    )
    kept = directory / "tables"
    kept.mkdir()
    for name in tables.NAMES:
        write_parquet(tables.table(name), kept / f"{name}.parquet")
    return tables.outcome() or {}


@cache
def build() -> str:
    """Name the build: another one may give other results under the same version."""
    return _digest(Path(_core.__file__))[:16]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
