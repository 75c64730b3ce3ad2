"""Files of results that others can repeat."""

from __future__ import annotations

from os import PathLike

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mptcplab.artifact.artifact import Artifact
    from mptcplab.artifact.verify import Verdict
    from mptcplab.results.campaign import Campaign
    from mptcplab.results.comparison import Comparison
    from mptcplab.results.run import Run


def package(
    source: str | PathLike[str] | Run | Comparison | Campaign,
    out: str | PathLike[str],
    *,
    tolerance_percent: float | None = None,
) -> Artifact:
    """Make one file of runs: scenarios, random seeds, and the metrics that came of them.

    Args:
        source: A run directory, what ``mptcplab run`` left (also with ``--repeat``), or a
            campaign's directory; or what ``mptcplab.run`` or ``sweep`` gave.
        out: The zip file; an earlier one is replaced.
        tolerance_percent: How far metrics may be from what they were, of their value; if left out
            0 for simulated runs, which are the same each time, and 15 for those in real time.

    Raises:
        Error: There are no such runs, they cannot be run again, or the file cannot be written.
    """
    from mptcplab.artifact.package import package as made

    return made(source, out, tolerance_percent=tolerance_percent)


def verify(
    file: str | PathLike[str],
    *,
    jobs: int | None = None,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Verdict:
    """Run again what :func:`package` put into a file, and compare the metrics.

    In real time only the throughput is compared: other metrics depend on single events.

    Args:
        file: What ``mptcplab package`` made.
        jobs: How many runs at once; if left out one per core, or in real time one.
        progress: Told how many runs are done, and of how many.

    Raises:
        Error: It is no artifact, its engine cannot run it here, or a scenario in it cannot be.
        KeyboardInterrupt: Ctrl-C; nothing is kept.
    """
    from mptcplab.artifact.verify import verify as verified

    return verified(file, jobs=jobs, progress=progress)
