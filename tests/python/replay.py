"""An engine that gives back what was recorded: whatever is asked, one and the same transfer."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab import _core
from mptcplab.engines import ENGINES
from mptcplab.engines.engine import Engine, Measured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mptcplab.engines.engine import Target, Trial

RECORDED = Path(__file__).parents[2] / "examples" / "download"
NAMES = ("client.pcapng", "server.pcapng")


class Replay(Engine):
    """Captures of Linux, without a Linux that runs."""

    name = "replay"
    made = "replayed"
    means = "one recorded transfer, whatever is asked"
    real_time = True
    captures = ("none", "headers")
    verbs = ()
    policies = {"scheduler": ("linux",)}  # noqa: RUF012 - as a Mapping

    def conditions(self) -> dict[str, Any]:
        """Name the recording: another one is another run."""
        return {"recorded": RECORDED.name}

    def ran(self, about: Mapping[str, Any]) -> str:
        """Say what ran it."""
        return f"replayed from {about['recorded']}"

    def run(self, trial: Trial, target: Target) -> Measured:
        """Measure the captures, and keep them if that is asked for."""
        del trial
        tables = _core.analyze([f"{name}.gz" for name in NAMES], directory=RECORDED)
        received = max(row["bytes"] for row in tables.rows("transfers"))
        if target.captures != "none":
            for name in NAMES:
                content = gzip.decompress((RECORDED / f"{name}.gz").read_bytes())
                (target.directory / name).write_bytes(content)
        if target.progress is not None:
            target.progress(0, received)
        return Measured(
            {name: tables.table(name) for name in tables.NAMES},
            {"finished": True, "reason": "complete", "bytes_received": {"up": 0, "down": received}},
            self.conditions(),
        )


# In the package itself this is a line of ENGINES.
ENGINES[Replay.name] = Replay()
