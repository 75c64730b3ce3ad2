"""The charts of a campaign, for the page and as figures for papers."""

from __future__ import annotations

from dataclasses import replace

from mptcplab.charts.campaign.shape import Chart
from mptcplab.charts.columns import definitions
from mptcplab.metrics import capital
from mptcplab.results.statistics.distributions import METHOD as BAND
from mptcplab.results.statistics.intervals import FIELLER, ORDER, STUDENT

INTERVAL = "95 % confidence interval"
BEST = (
    "The best path is the one over which plain TCP finished most often under the same conditions; "
    "among several, the one with the highest mean throughput. Nothing is compared unless all runs "
    "over it and all runs with MPTCP finished."
)
THROUGHPUT = definitions("transfers", "throughput_mbps")
# What is left out for size concerns these.
OF_POINTS, OF_SAMPLES = {"boxes", "scatter"}, {"rtt", "out_of_order_delay"}

CHARTS = [
    Chart(
        "boxes",
        "",
        "",
        "",
        "A box per group: from the first to the third quartile (linear between values), with "
        "a line at the median. Whiskers end at the last run within 1.5 quartile distances of "
        "the box. A point is a run that finished; n is how many of them there are.",
        [],
    ),
    Chart(
        "gain",
        "Gain over the best single path",
        "gain over the best single path",
        "%",
        "Mean throughput of MPTCP / mean throughput of plain TCP over the best single path "
        f"− 1, over runs with the same seed. {BEST} Lines are its {INTERVAL} ({FIELLER}); p "
        "of Wilcoxon's signed-rank test is corrected over the configurations (Benjamini and "
        "Hochberg); in the table of all numbers, over all figures, too.",
        THROUGHPUT,
    ),
    Chart(
        "share",
        "Traffic shares",
        "share of the delivered bytes",
        "%",
        "Part of the delivered bytes that first arrived over each path: mean over runs with "
        f"its {INTERVAL} ({STUDENT}). The bars of a group add up to 100 %.",
        definitions("flows", "share"),
    ),
    Chart(
        "rtt",
        "Round-trip times",
        "round-trip time",
        "ms",
        "Part of all samples of the finished runs of a group that are at or above a value, "
        f"from the bins that quantiles come from. Bands are 95 % ({BAND}).",
        definitions("distributions", "quantity", "from_ms", "count"),
    ),
    Chart(
        "out_of_order_delay",
        "Out-of-order delays",
        "out-of-order delay",
        "ms",
        "Part of all segments of the finished runs of a group that waited that long or longer "
        "for earlier data; those that did not wait are below the smallest value that is shown, "
        f"as a logarithm has no 0. Bands are 95 % ({BAND}).",
        definitions("distributions", "quantity", "from_ms", "count"),
    ),
    Chart(
        "variation",
        "Coefficient of variation of the throughput",
        "σ / mean",
        "",
        f"Mean over runs, with its {INTERVAL} ({STUDENT}).",
        definitions("transfers", "coefficient_of_variation"),
    ),
    Chart(
        "scatter",
        "Throughput against throughput",
        "throughput",
        "Mbit/s",
        "A point per two runs under the same conditions with the same seed. On the line both "
        "have the same throughput; the counts on its sides are of all such runs.",
        THROUGHPUT,
    ),
    Chart(
        "heat",
        "Heat map",
        "",
        "",
        f"Median over the runs of a group; for the gain, what the chart of gains shows. {BEST}",
        [],
    ),
    Chart(
        "numbers",
        "All numbers",
        "",
        "",
        f"Mean ± standard deviation (n − 1); median with its {INTERVAL} ({ORDER}). Against the "
        f"best single path: mean difference of runs with the same seed ({STUDENT}), matched-"
        "pairs rank-biserial correlation (1: above in every pair, −1: below in every pair), "
        "p of Wilcoxon's signed-rank test, corrected over all groups and figures of this "
        f"page (Benjamini and Hochberg). {BEST}",
        [],
    ),
]
_BY_NAME = {one.id: one for one in CHARTS}


def charts(points: str | None, band: str | None) -> list[Chart]:
    """Describe all charts; those without data are left out by what draws them."""
    thinned = dict.fromkeys(OF_POINTS, points) | dict.fromkeys(OF_SAMPLES, band)
    return [replace(one, thinned=thinned.get(one.id)) for one in CHARTS]


def axis(name: str) -> str:
    """Name the axis of a chart's values: Round-trip time (ms)."""
    chart = _BY_NAME[name]
    return capital(f"{chart.value} ({chart.unit})" if chart.unit else chart.value)
