"""The kinds of figures: a line each in ``kinds``."""

from __future__ import annotations

import warnings
from functools import cache, partial
from typing import Any

from mptcplab._core import Error
from mptcplab.charts.paper import CAMPAIGN, RUN, campaign, distributions, estimates, run, track
from mptcplab.charts.paper.choice import Choice, Draw, Kind
from mptcplab.charts.paper.paper import COLUMN_INCHES, Paper, styled
from mptcplab.charts.run.charts import CHARTS
from mptcplab.charts.run.track import TRACKS
from mptcplab.messages import nearest
from mptcplab.metrics import capital

# Lanes alone are no figure.
PAGE_ONLY = {"events"}


@cache
def kinds() -> list[Kind]:
    """Give all kinds: those of runs, then those of campaigns, by name."""
    found = [
        _kind("path-scatter", RUN, run.path_scatter, "connection"),
        _kind("bars", CAMPAIGN, estimates.bars, "by", "where", "paths", "value"),
        _kind("share", CAMPAIGN, estimates.share, "by", "where", "paths"),
        _kind("gain", CAMPAIGN, estimates.gain, "by", "where"),
        _kind("boxes", CAMPAIGN, campaign.boxes, "by", "where", "paths", "value"),
        _kind("heat-map", CAMPAIGN, campaign.heat_map, "by", "where", "paths", "value"),
        _kind("scatter", CAMPAIGN, campaign.scatter, "by", "where", "paths", "value"),
    ]
    for name, chart in CHARTS.items():
        if name not in PAGE_ONLY:
            draw = partial(run.chart, name)
            found.append(_kind(name, RUN, draw, "connection", about=chart.__doc__))
    for name, described in TRACKS.items():
        draw = partial(track.track, name)
        found.append(_kind(name, RUN, draw, "connection", about=described.__doc__))
    for name, (quantity, samples, of_run) in distributions.QUANTITIES.items():
        for ending, above in (("cdf", False), ("ccdf", True)):
            about = f"{'complementary ' if above else ''}distribution of {samples}"
            found += [
                _kind(
                    f"{name}-{ending}",
                    RUN,
                    partial(distributions.of_run, quantity, above),
                    "connection",
                    about=f"{about} of {of_run}",
                ),
                _kind(
                    f"{name}-{ending}",
                    CAMPAIGN,
                    partial(distributions.of_campaign, quantity, above),
                    *("by", "where", "paths"),
                    about=f"{about} over runs, with bands",
                ),
            ]
    return sorted(found, key=lambda kind: (kind.of != RUN, kind.name))


def find(name: str, of: str) -> Kind:
    """Give a kind.

    Raises:
        Error: There is none of that name, or not of such a source.
    """
    named = [kind for kind in kinds() if kind.name == name]
    if not named:
        hint = nearest(name, [kind.name for kind in kinds() if kind.of == of])
        raise Error(f"there is no figure {name!r} of a {of}; {hint}")
    for kind in named:
        if kind.of == of:
            return kind
    raise Error(f"{name} is a figure of a {named[0].of}, and this is a {of}")


def drawn(
    kind: Kind,
    source: Any,
    choice: Choice,
    *,
    size: tuple[float, float] | None = None,
    title: str | None = None,
) -> Paper:
    """Draw it."""
    choice.check(kind)
    paper = Paper(size or COLUMN_INCHES)
    with styled(), warnings.catch_warnings():
        warnings.filterwarnings("error", "constrained_layout not applied")
        try:
            paper.caption = kind.draw(paper, source, choice)
            if title is not None:
                paper.suptitle(title)
            paper.draw_without_rendering()
        except UserWarning:
            width, height = paper.get_size_inches()
            raise Error(f"{width:.3g} by {height:.3g} inches are too small for it") from None
    return paper


def _kind(name: str, of: str, draw: Draw, *options: str, about: str | None = None) -> Kind:
    """Describe a kind; users see the first line about it, or of its documentation."""
    first = capital((about or str(draw.__doc__)).partition("\n")[0].rstrip("."))
    return Kind(name, of, first, frozenset(options), draw)
