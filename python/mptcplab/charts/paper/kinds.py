"""The kinds of figures: a line each in ``KINDS``, listed without loading what draws them.

The line of a chart of the page has the first line of its documentation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from mptcplab._core import Error
from mptcplab.charts.paper import CAMPAIGN, RUN
from mptcplab.messages import nearest


@dataclass(frozen=True)
class Kind:
    """A kind of figure, of runs or of campaigns; both may have one of the same name."""

    name: str
    of: str
    about: str
    #: Module and function that draw it.
    drawn_by: str
    #: What it heeds of a choice.
    options: frozenset[str]
    #: What the function takes first.
    first: tuple[Any, ...] = ()

    def draw(self, paper: Any, source: Any, choice: Any) -> str:
        """Draw into the figure what a source holds, and give the caption."""
        module, _, function = self.drawn_by.partition(".")
        draw: Callable[..., str] = getattr(import_module(f"{__package__}.{module}"), function)
        return draw(*self.first, paper, source, choice)


def _of_run(name: str, about: str, drawn_by: str, *first: Any) -> Kind:
    return Kind(name, RUN, about, drawn_by, frozenset({"connection"}), first)


def _chart(name: str, about: str) -> Kind:
    return _of_run(name, about, "run.chart", name)


def _track(name: str, about: str) -> Kind:
    return _of_run(name, about, "track.track", name)


def _of_campaign(name: str, about: str, drawn_by: str, *options: str, first: Any = ()) -> Kind:
    return Kind(name, CAMPAIGN, about, drawn_by, frozenset({"by", "where", *options}), first)


def _distributions(name: str, quantity: str, samples: str, of: str) -> list[Kind]:
    found = []
    for ending, begin, above in (
        ("cdf", "Distribution", False),
        ("ccdf", "Complementary distribution", True),
    ):
        full, about, first = f"{name}-{ending}", f"{begin} of {samples}", (quantity, above)
        found += [
            _of_run(full, f"{about} of {of}", "distributions.of_run", *first),
            _of_campaign(
                full,
                f"{about} over runs, with bands",
                "distributions.of_campaign",
                "paths",
                first=first,
            ),
        ]
    return found


KINDS = sorted(
    (
        _chart("beside", "Throughput of MPTCP over time beside that of plain TCP over each path"),
        _chart(
            "congestion-window",
            "Congestion window and slow-start threshold of each subflow over time",
        ),
        _chart(
            "data-sequence",
            "Position of each packet in the connection's stream over time, with what was sent "
            "again",
        ),
        _chart("in-flight", "Bytes in flight on each subflow over time"),
        _chart("out-of-order-delay", "Out-of-order delay of each segment that arrived over time"),
        _chart("queues", "Queueing delay of links over time; simulations know it"),
        _chart(
            "radio-rate", "Rate of the radio of each path over time, in the direction of the data"
        ),
        _chart("rtt", "Round-trip time samples of each subflow over time"),
        _chart("signal", "Signal of the radio of each path over time"),
        _chart(
            "signal-quality", "Signal to interference and noise of the radio of each path over time"
        ),
        _chart(
            "subflow-sequence",
            "Position of each packet in its subflow's stream over time, with what was sent again",
        ),
        _chart(
            "throughput",
            "Throughput of the connection and of each subflow over time, with packets sent again",
        ),
        _chart("window", "Receive window that each subflow announced over time"),
        _track("track", "Positions of the client by the path that carried most there"),
        _track("track-signal", "Positions of the client by the signal of a path's radio there"),
        _of_run(
            "path-scatter",
            "Throughput over two paths against each other, bin by bin",
            "run.path_scatter",
        ),
        _of_campaign(
            "bars",
            "Coefficients of variation (or another value) as bars of means with intervals",
            "estimates.bars",
            "paths",
            "value",
        ),
        _of_campaign(
            "boxes",
            "Transfer times (or another value) of runs as boxes, with plain TCP beside MPTCP",
            "campaign.boxes",
            "paths",
            "value",
        ),
        _of_campaign(
            "gain",
            "Throughput that MPTCP gains over the best single path, with intervals",
            "estimates.gain",
        ),
        _of_campaign(
            "heat-map",
            "Mean throughput (or another value, or gain) over two axes",
            "campaign.heat_map",
            "paths",
            "value",
        ),
        _of_campaign(
            "scatter",
            "Throughput (or another value) over two paths against each other, run by run",
            "campaign.scatter",
            "paths",
            "value",
        ),
        _of_campaign(
            "share",
            "Share of a path (the last, or --paths NAME) in what MPTCP delivered, with intervals",
            "estimates.share",
            "paths",
        ),
        *_distributions("rtt", "rtt", "round-trip times", "each subflow"),
        *_distributions(
            "out-of-order", "out_of_order_delay", "out-of-order delays", "the connection"
        ),
    ),
    key=lambda kind: (kind.of != RUN, kind.name),
)


def find(name: str, of: str) -> Kind:
    """Give a kind.

    Raises:
        Error: There is none of that name, or not of such a source.
    """
    named = [kind for kind in KINDS if kind.name == name]
    if not named:
        hint = nearest(name, [kind.name for kind in KINDS if kind.of == of])
        raise Error(f"there is no figure {name!r} of a {of}; {hint}")
    for kind in named:
        if kind.of == of:
            return kind
    raise Error(f"{name} is a figure of a {named[0].of}, and this is a {of}")
