"""Runs a matrix as a campaign: what is done already is kept, the rest is run."""

from __future__ import annotations

import os
from pathlib import Path

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mptcplab.campaign.executor import Executor
    from mptcplab.campaign.matrix import Matrix
    from mptcplab.campaign.sweep import Progress
    from mptcplab.engines.engine import Engine
    from mptcplab.results.campaign import Campaign


def perform(
    matrix: Matrix,
    out: Path,
    *,
    jobs: int | None = None,
    dask: str | None = None,
    begin: Callable[[int], None] = lambda _: None,
    progress: Callable[[Progress], None] | None = None,
) -> Campaign:
    """Run a matrix into ``out``; ``begin`` is called with how many runs are done already."""
    from mptcplab.campaign import record, store
    from mptcplab.campaign.matrix import need
    from mptcplab.campaign.sweep import run
    from mptcplab.results.campaign import Campaign

    campaign = matrix.definition.campaign
    if dask is not None and campaign.keep != "tables":
        raise Error(
            f"{matrix.definition.name}: keep is {campaign.keep!r}, but workers of Dask keep runs "
            "on disks of their own: leave it out, or --dask"
        )
    need(matrix.definition)
    tasks = matrix.shuffled()
    about = record.about(matrix)
    with store.opened(out, matrix.definition.name) as campaign_store:
        scenarios = {one.number: one.text for one in matrix.configurations}
        campaign_store.begin(about, record.plan(matrix), scenarios)
        remaining = sum(task.run not in campaign_store.done for task in tasks)
        begin(len(tasks) - remaining)
        if remaining:
            run(
                tasks,
                campaign_store,
                _executor(campaign.engine, remaining, jobs, dask),
                keep=campaign.keep != "tables",
                progress=progress or (lambda _: None),
            )
        campaign_store.describe(record.ended(about))
    return Campaign(out)


def workers(engine: Engine, left: int, jobs: int | None) -> int:
    """Return how many processes run so many runs."""
    if jobs is not None and jobs < 1:
        raise Error(f"jobs is {jobs}; it must be above 0")
    usual = 1 if engine.real_time else len(os.sched_getaffinity(0))
    return min(left, jobs or usual)


def _executor(engine: Engine, left: int, jobs: int | None, dask: str | None) -> Executor:
    if dask is not None:
        from mptcplab.campaign.executor.dask import Dask

        return Dask(dask)
    from mptcplab.campaign.executor.local import Local

    return Local(workers(engine, left, jobs))
