"""What is written of a run, whichever engine ran it: run.json, the scenario in full, the tables."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
import tomllib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from mptcplab import _core
from mptcplab.results import place, policies
from mptcplab.results.parquet import write_parquet
from mptcplab.results.run import ABOUT, ABOUT_SCHEMA
from mptcplab.scenario import long
from mptcplab.scenario.plan import WAYS
from mptcplab.scenario.scenario import Scenario

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass
class Record:
    """One run: a scenario, or plain TCP over its path ``baseline``, by an engine."""

    scenario: Scenario
    engine: str
    name: str
    seed: int
    baseline: str | None
    captures: str
    #: What else must be the same for a run to be the same.
    conditions: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._text = long.write(self.scenario)
        self._started = datetime.now(UTC)

    @property
    def mptcp(self) -> bool:
        """Whether MPTCP is used."""
        return self.baseline is None and self.scenario.mptcp.enabled

    def is_there(self, target: Path, *, force: bool) -> bool:
        """Say whether this very run is there; refuse to touch what is not ours to replace."""
        return place.found(target, self._identity, force=force)

    def begin(self, directory: Path) -> None:
        """Write what is run."""
        self._started = datetime.now(UTC)
        (directory / "scenario.toml").write_text(self._text, "utf-8")

    def complete(
        self,
        directory: Path,
        tables: Mapping[str, Any],
        outcome: Mapping[str, Any],
        more: Mapping[str, Any] | None = None,
    ) -> None:
        """Write the tables and what came of the run; ``more`` is what only this engine tells."""
        kept = directory / "tables"
        kept.mkdir()
        for name, table in tables.items():
            write_parquet(table, kept / f"{name}.parquet")
        about = {
            "schema": ABOUT_SCHEMA,
            "mptcplab": _core.VERSION,
            "engine": self.engine,
            "run": "mptcp" if self.baseline is None else f"tcp-{self.baseline}",
            "scenario": self.name,
            "seed": self.seed,
            "path": self.baseline,
            "mptcp": self.mptcp,
            "direction": WAYS[self.scenario.transfer.direction],
            "identity": self._identity,
            "command_line": sys.orig_argv,
            "platform": platform.platform(),
            "python": platform.python_version(),
            "started": self._started.isoformat(),
            "ended": datetime.now(UTC).isoformat(),
            "outcome": outcome,
            **(more or {}),
            "sizes": place.sizes(directory),
            "sha256": {path.name: _digest(path) for path in sorted(directory.glob("*.pcapng"))},
        }
        about["policies"] = policies.described(about, tomllib.loads(self._text))
        (directory / ABOUT).write_text(json.dumps(about, indent=2) + "\n", "utf-8")

    @property
    def _identity(self) -> dict[str, Any]:
        return {
            "scenario": hashlib.sha256(self._text.encode()).hexdigest(),
            "seed": self.seed,
            "path": self.baseline,
            "engine": self.engine,
            "version": _core.VERSION,
            "build": build(),
            "captures": self.captures,
            **self.conditions,
        }


@cache
def build() -> str:
    """Name the build: another one may give other results under the same version."""
    return _digest(Path(_core.__file__))[:16]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
