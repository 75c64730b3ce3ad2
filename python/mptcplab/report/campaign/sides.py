"""How often one group had more throughput than another under the same conditions."""

from __future__ import annotations

from itertools import combinations

from mptcplab.report.campaign.shape import Sides
from mptcplab.report.campaign.subject import Subject
from mptcplab.results.statistics.estimate import known_pairs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def sides(subject: Subject) -> list[Sides]:
    """Count for plain TCP over each two paths, and for MPTCP and plain TCP over each path."""
    together = {
        *((number, one) for number, beside in subject.beside.items() for one in beside),
        *(two for beside in subject.beside.values() for two in combinations(beside, 2)),
    }
    return list(_counted(subject, sorted(together)))


def _counted(subject: Subject, together: list[tuple[int, int]]) -> Iterator[Sides]:
    for one, other in together:
        first, second = (subject.values(number, "throughput_mbps") for number in (one, other))
        pairs = first.keys() & second.keys()
        a, b, _ = known_pairs([first[pair] for pair in pairs], [second[pair] for pair in pairs])
        more = sum(x > y for x, y in zip(a, b, strict=True))
        less = sum(x < y for x, y in zip(a, b, strict=True))
        yield Sides(one, other, more, less, len(a) - more - less)
