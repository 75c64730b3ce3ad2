"""The kernel engine: a scenario with Linux's own MPTCP, in real time, into a run directory."""

from __future__ import annotations

import platform
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

from mptcplab.engines.kernel import measured, outcomes, sandbox
from mptcplab.engines.kernel.job import Wanted
from mptcplab.engines.kernel.machine import Machine
from mptcplab.results import place
from mptcplab.results.record import Record
from mptcplab.results.run import Run
from mptcplab.scenario.draw import drawn
from mptcplab.scenario.scenario import Scenario

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Progress = Callable[[int, int], None]

ENGINE = "kernel"
# Beside the captures, until the tables are made.
RAW = "raw"


def emulate(
    scenario: Scenario,
    target: Path,
    *,
    name: str,
    seed: int = 1,
    baseline: str | None = None,
    captures: str = "headers",
    force: bool = False,
    progress: Progress | None = None,
) -> tuple[Run, bool]:
    """Run a scenario, or plain TCP over its path ``baseline``, into the directory ``target``.

    Gives the run, and whether it was there already. ``captures`` is ``"none"``, ``"headers"`` or
    ``"full"``; ``progress`` is told the time in nanoseconds and the bytes so far.
    """
    scenario = drawn(scenario, seed)
    conditions = {"kernel": platform.release()}
    record = Record(scenario, ENGINE, name, seed, baseline, captures, conditions)
    if record.is_there(target, force=force):
        return Run(target), True
    wanted = Wanted(scenario, seed, baseline, Machine.here())
    with sandbox.opened(target.parent) as lab, place.written(target) as new:
        record.begin(new)
        raw = new / RAW
        raw.mkdir()
        job = wanted.job(new, raw, captures=captures)
        ended = _run(lab, job.as_json(), progress)
        tables = measured.tables(job, ended)
        shutil.rmtree(raw)
        record.complete(
            new, tables, outcomes.outcome(wanted, ended), outcomes.circumstances(job, ended)
        )
    return Run(target), False


def _run(lab: sandbox.Sandbox, job: dict[str, Any], progress: Progress | None) -> dict[str, Any]:
    """Have the lab run it; gives what it says at the end."""
    with closing(lab.run(job)) as told:
        for line in told:
            if "ended" in line:
                ended: dict[str, Any] = line["ended"]
            elif progress is not None:
                progress(line["progress"]["ns"], line["progress"]["bytes"])
    return ended
