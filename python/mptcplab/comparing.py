"""Two measurements in, what differs out."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mptcplab.results.differences.differences import Differences
    from mptcplab.results.differences.side import Comparable


def compare(
    a: Comparable,
    b: Comparable,
    *,
    level: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> Differences:
    """Compare two runs, two scenarios run under several seeds, campaigns, or captures.

    Args:
        a: A run directory; a directory that ``mptcplab run`` made, also with ``--repeat``; a
            campaign's directory; a capture, or a directory whose captures are taken as one. Or
            what ``mptcplab.run``, ``sweep`` or ``analyze`` gave, or a list of the first.
        b: What it is compared with, of the same kind; runs and captures may be mixed.
        level: Of the confidence intervals.
        progress: Told how many figures over several seeds are compared, and of how many.

    Raises:
        Error: There is no such thing, it cannot be read, or the two cannot be compared.
    """
    from mptcplab.results.differences.differences import Differences
    from mptcplab.results.differences.side import Side

    return Differences(Side.of(a), Side.of(b), level=level, progress=progress)
