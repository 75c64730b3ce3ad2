"""How MPTCP serves an application that has to be in time, beside plain TCP over each path."""

from __future__ import annotations

from dataclasses import dataclass

from mptcplab.labels import quality

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.results.comparison import Comparison

    Row = dict[str, Any]


@dataclass(frozen=True)
class Served:
    """Rows of ``transfers``: MPTCP's, and that of the path alone that serves it best."""

    path: str
    alone: Row
    own: Row

    @property
    def is_worse(self) -> bool:
        """Whether the path alone serves it clearly better."""
        return quality.is_better(self.alone, self.own)

    @property
    def is_better(self) -> bool:
        """Whether MPTCP serves it clearly better."""
        return quality.is_better(self.own, self.alone)


def served(comparison: Comparison) -> Served | None:
    """Compare how the application was served; ``None`` where throughput is what counts."""
    own = comparison.mptcp.transfer
    alone = {
        path: run.transfer
        for path, run in comparison.baselines.items()
        if run.transfer is not None and quality.worth(run.transfer) is not None
    }
    if own is None or quality.worth(own) is None or not alone:
        return None
    path = max(alone, key=lambda one: quality.worth(alone[one]) or ())
    return Served(path, alone[path], own)
