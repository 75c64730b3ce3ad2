"""Several paths, standing still: a row of multipath over the links of its paths' own rows."""

from __future__ import annotations

from dataclasses import dataclass, field

from mptcplab import measurements
from mptcplab.study import comparing, judging, scenes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Comparison, Extent
    from mptcplab.study.judging import Verdict
    from mptcplab.study.measured import Measured


@dataclass(frozen=True)
class Place:
    """A row, and what it is run over."""

    #: Of its campaign.
    name: str
    row: str
    #: Rows of the paths alone, by path; which opened the connection is not told.
    alone: dict[str, str]
    size: str = "100 MB"
    #: What is set of both stacks besides.
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def links(self) -> dict[str, str]:
        """The link of each path."""
        return {path: scenes.profile(row) for path, row in self.alone.items()}

    def campaign(
        self,
        extent: Extent,
        repetitions: int,
        *,
        axes: dict[str, Any] | None = None,
        controlled: bool = False,
        baselines: bool = True,
    ) -> dict[str, Any]:
        """Transfer over all paths, with two server addresses."""
        row = measurements.load().multipath[self.row]
        size = extent.size(self.size)
        return scenes.campaign(
            scenes.scenario(self.links, row.direction, size=size, addresses=2),
            extent,
            repetitions,
            title=f"{2 * len(self.alone)} subflows, {row.direction}s: {self.name}",
            both={**scenes.THRESHOLD, **self.settings},
            baselines=baselines,
            axes=axes,
            controlled=controlled,
        )

    def compare(self, measured: Measured) -> Iterator[Comparison]:
        """Aggregates, carriers, and each subflow."""
        data = measurements.load()
        alone = {path: data.single_path[one] for path, one in self.alone.items()}
        return comparing.multipath(
            data.multipath[self.row],
            measured,
            alone,
            campaign=self.name,
            profiles=tuple(self.links.values()),
        )

    def gains(self, measured: Measured) -> Verdict:
        """Ask whether they carry more than the best single path, and how near the gain is."""
        sample = measured.sample(self.name)
        ours, best = sample.figure("throughput_mbps"), sample.best_alone()
        row = measurements.load().multipath[self.row]
        assert row.gain_percent is not None  # noqa: S101 - the row prints it
        return judging.sized(
            judging.more(ours, best, "MPTCP, best alone", "Mbit/s"),
            judging.Ratio(ours, best),
            1 + row.gain_percent / 100,
            "the ratio",
        )
