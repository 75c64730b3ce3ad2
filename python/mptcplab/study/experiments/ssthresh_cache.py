"""What Linux's cached slow-start threshold does to four subflows."""

from __future__ import annotations

from mptcplab.study import judging, scenes
from mptcplab.study.experiment import Drawing, Experiment, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Comparison, Extent
    from mptcplab.study.judging import Verdict
    from mptcplab.study.measured import Measured

LINKS = {
    "verizon": scenes.profile("umass-tr/II/boston-verizon-lte"),
    "att": scenes.profile("umass-tr/II/boston-att-lte-adjusted"),
}
#: Figure 3: how long the download took.
CACHED_S = 80
#: Figure 4: what AT&T's subflows had together.
NOT_CACHED_MBPS = 10
#: AT&T's subflows left slow start at 1.5 Mbit/s (figure 3): 13 packets of 1400 bytes at 100 ms.
CACHED = {"tcp.ssthresh_cache": True, "tcp.initial_ssthresh": 13}


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """Downloads with a threshold that an earlier connection left, and without."""
    points = {"cached": CACHED, "not-cached": scenes.THRESHOLD}
    return {
        "main": scenes.campaign(
            scenes.scenario(LINKS, "download", size="100 MB", addresses=2),
            extent,
            extent.repetitions(30, 6),
            title="four subflows with and without a cached slow-start threshold",
            baselines=False,
            axes={"threshold": {"points": points}},
            tables=["throughput"],
        )
    }


def compare(_: Measured) -> Iterator[Comparison]:
    """The figures print curves alone."""
    return iter(())


def _early(measured: Measured) -> Verdict:
    first, second = (
        measured.sample(threshold=name).between(0, 20, "att") for name in ("not-cached", "cached")
    )
    more = judging.more(first, second, "AT&T's first 20 s without, with the cache", "Mbit/s")
    return judging.sized(more, first, NOT_CACHED_MBPS, "without", "Mbit/s")


def _longer(measured: Measured) -> Verdict:
    cached, fresh = (
        measured.sample(threshold=name).figure("elapsed_s") for name in ("cached", "not-cached")
    )
    longer = judging.more(cached, fresh, "download time with, without the cache", "s")
    return judging.sized(longer, cached, CACHED_S, "with it", "s")


EXPERIMENT = Experiment(
    name="ssthresh-cache",
    title="four subflows over Verizon and AT&T, with a slow-start threshold cached and without",
    reproduces="UM-CS-2012-022, figures 3 and 4",
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            "umass-tr",
            "figure 3",
            "With the cached threshold AT&T's subflows leave slow start early and stay slow; "
            "without it they have 10 Mbit/s together.",
            "in the first 20 s they carry more without it",
            _early,
        ),
        Finding(
            "umass-tr",
            "§IV-A",
            "The cache makes the whole download slower.",
            "it takes longer with it",
            _longer,
        ),
    ),
    drawings=(
        Drawing("time", "boxes", "main", by=("threshold",)),
        Drawing("figure-3", "throughput", "main", where={"threshold": "cached"}, of_run=True),
        Drawing("figure-4", "throughput", "main", where={"threshold": "not-cached"}, of_run=True),
    ),
    remarks=("One cached value is set for all paths; the report's kernel had one for each.",),
)
