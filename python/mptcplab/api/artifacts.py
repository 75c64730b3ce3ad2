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
    out: str | PathLike[str] | None = None,
    *,
    tolerance_percent: float | None = None,
) -> Artifact:
    """Pack runs into one file: scenarios, random seeds, and their metrics.

    Args:
        source: A run directory, the directory of ``mptcplab run`` (also with ``--repeat``) or of a
            campaign; or the result of ``mptcplab.run`` or ``sweep``.
        out: The zip file; an earlier one is replaced. If left out, ``NAME-package.zip`` beside the
            directory.
        tolerance_percent: How far metrics may deviate when they are verified. If left out, 0 for
            simulated runs, which are exactly repeatable, and 15 for runs in real time.

    Raises:
        Error: There are no such runs, they cannot be run again, or the file cannot be written.
    """
    from mptcplab.artifact.package import package as package_runs

    return package_runs(source, out, tolerance_percent=tolerance_percent)


def verify(
    file: str | PathLike[str],
    *,
    jobs: int | None = None,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Verdict:
    """Run again what :func:`package` put into a file, and compare the metrics.

    In real time only the throughput is compared: other metrics depend on single events.

    Args:
        file: A file made by ``mptcplab package``.
        jobs: Number of parallel runs. If left out, one per core, or one in real time.
        progress: Called with the number of finished runs and of all runs.

    Raises:
        Error: The file is not an artifact, its engine cannot run here, or a scenario in it is
            invalid.
        KeyboardInterrupt: Ctrl-C; nothing is kept.
    """
    from mptcplab.artifact.verify import verify as verified

    return verified(file, jobs=jobs, progress=progress)
