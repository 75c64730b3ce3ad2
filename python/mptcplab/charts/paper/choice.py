"""What is asked of a figure besides its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from mptcplab._core import Error
from mptcplab.charts.paper.kinds import Kind
from mptcplab.metrics import OF_RUNS


@dataclass(frozen=True)
class Choice:
    """Choices; one that is empty is left to the kind."""

    #: Axes to split by.
    by: Sequence[str] = ()
    #: Values of axes; runs with others are left out.
    where: Mapping[str, str] = field(default_factory=dict)
    #: A figure of runs: a column of ``Campaign.runs``.
    value: str | None = None
    #: What is set against each other: names of paths, or ``mptcp``.
    paths: Sequence[str] = ()
    #: Number of the connection in captures.
    connection: int | None = None

    def metric(self, usual: str, *more: str) -> str:
        """Give the name of the metric that was chosen, or the kind's own."""
        value = self.value or usual
        known = (*OF_RUNS, *more)
        if value not in known:
            raise Error(f"runs have no figure {value!r}; they have {', '.join(known)}")
        return value

    def check(self, kind: Kind) -> None:
        """Refuse what a kind does not heed."""
        for one in fields(self):
            if getattr(self, one.name) not in ((), {}, None) and one.name not in kind.options:
                heeded = ", ".join(sorted(kind.options)) or "nothing"
                raise Error(f"{kind.name} of a {kind.of} heeds no {one.name}, only {heeded}")
