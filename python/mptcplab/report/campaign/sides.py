"""How often one group had more throughput than another under the same conditions."""

from __future__ import annotations

from itertools import combinations

import polars as pl

from mptcplab.report.campaign.shape import Sides
from mptcplab.report.campaign.subject import Subject
from mptcplab.results.groups import versus as beside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def sides(subject: Subject) -> list[Sides]:
    """Count for plain TCP over each two paths, and for MPTCP and plain TCP over each path."""
    together = {
        *((number, one) for number, plain in subject.beside.items() for one in plain),
        *(two for plain in subject.beside.values() for two in combinations(plain, 2)),
    }
    return list(_counted(subject, sorted(together)))


def _counted(subject: Subject, together: list[tuple[int, int]]) -> Iterator[Sides]:
    for one, other in together:
        first, second = subject.groups[one], subject.groups[other]
        both = pl.concat([first.runs, second.runs])
        found = beside(both, first.path, second.path, "throughput_mbps")
        same = len(found.one) - found.more - found.less
        yield Sides(one, other, found.more, found.less, same)
