"""Twin paths: fully coupled windows flap between them, linked ones do not (Raiciu, Wischik, Handley, 2009; RFC 6356 §4).

What matters to fully coupled increase and decrease is the sum of windows; how it is split wanders, and at times one path has
nearly all. Measured is the greater path's part of each ten seconds, on average.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from statistics import fmean

from experiments.laws import runs
from experiments.laws.law import Case, Law, Reading

SECONDS, SPAN_S, RTT_MS, LOSS = 400, 10, 20, 1e-3
EVEN = 0.5


def read(controller: str) -> Reading:
    """Compare with an even split."""
    link = runs.path(RTT_MS, runs.loss(LOSS))
    run = runs.download(
        {"left": link, "right": link}, SECONDS, mptcp={"congestion_control": controller}
    )
    spans: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    bins = run.throughput.filter(connection=0, direction="down").drop_nulls("subflow")
    for at_s, subflow, carried in bins.select("at_s", "subflow", "bytes").iter_rows():
        spans[int(at_s / SPAN_S)][subflow] += carried
    return Reading(EVEN, fmean(max(one.values()) / sum(one.values()) for one in spans.values()))


LAW = Law(
    "flapping",
    ("controller",),
    "greater path's part",
    (
        Case(("reno",), partial(read, "reno"), 1.0, 1.2),
        Case(("lia",), partial(read, "lia"), 1.0, 1.2),
        Case(("fully-coupled",), partial(read, "fully-coupled"), 1.25),
    ),
)
