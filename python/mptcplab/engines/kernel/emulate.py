"""A scenario with Linux's own MPTCP, in real time, into a run directory."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

from mptcplab.engines.engine import Measured, Trial
from mptcplab.engines.kernel import measured, outcomes
from mptcplab.engines.kernel.job import Wanted
from mptcplab.engines.kernel.machine import Machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.engines.engine import Progress
    from mptcplab.engines.kernel.sandbox import Sandbox

# Beside the captures, until the tables are made.
RAW = "raw"


def emulate(
    trial: Trial, directory: Path, lab: Sandbox, captures: str, progress: Progress | None
) -> Measured:
    """Run it in the sandbox, and measure what it left."""
    wanted = Wanted(trial.scenario, trial.seed, trial.baseline, Machine.here())
    raw = directory / RAW
    raw.mkdir()
    job = wanted.job(directory, raw, captures=captures)
    ended = _run(lab, job.as_json(), progress)
    tables = measured.tables(job, ended)
    shutil.rmtree(raw)
    return Measured(tables, outcomes.outcome(wanted, ended), outcomes.circumstances(job, ended))


def _run(lab: Sandbox, job: dict[str, Any], progress: Progress | None) -> dict[str, Any]:
    """Have the lab run it; gives what it says at the end."""
    with closing(lab.run(job)) as told:
        for line in told:
            if "ended" in line:
                ended: dict[str, Any] = line["ended"]
            elif progress is not None:
                progress(line["progress"]["ns"], line["progress"]["bytes"])
    return ended
