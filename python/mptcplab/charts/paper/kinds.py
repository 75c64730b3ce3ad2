"""The kinds of figures: a line each in ``kinds``."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import combinations, product
from typing import Any

from mptcplab._core import Error
from mptcplab.charts.paper import CAMPAIGN, RUN, campaign, distributions, estimates, run, track
from mptcplab.charts.paper.choice import Choice, Draw, Kind
from mptcplab.charts.paper.groups import MPTCP, TooManyError
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
        except TooManyError as error:
            raise Error(f"{error}: {_fewer(kind, source, choice)}") from None
        except UserWarning:
            width, height = paper.get_size_inches()
            raise Error(f"{width:.3g} by {height:.3g} inches are too small for it") from None
    return paper


def _fewer(kind: Kind, campaign: Any, choice: Choice) -> str:
    """Say which options leave few enough series."""
    for options, narrower in _narrower(kind, campaign, choice):
        try:
            kind.draw(Paper(COLUMN_INCHES), campaign, narrower)
        except Error:
            continue
        return f"add {options}"
    return f"choose fewer ({', '.join(sorted(kind.options))})"


def _narrower(kind: Kind, campaign: Any, choice: Choice) -> Iterator[tuple[str, Choice]]:
    """Give narrower choices, each after the options that it adds: few of them first."""
    own: list[tuple[tuple[str, ...], Choice]] = [((), choice)]
    if "paths" in kind.options and not choice.paths:
        option = f"--paths {MPTCP}"
        alone = replace(choice, paths=(MPTCP,))
        own.append(((option,), alone))
        yield option, alone
    free = [axis for axis in campaign.axes if axis not in choice.where]
    for count in range(1, len(free) + 1):
        for (options, wider), axes in product(own, combinations(free, count)):
            where = {axis: str(campaign.axes[axis][0]) for axis in axes}
            values = [f"--where {shlex.quote(f'{axis}={one}')}" for axis, one in where.items()]
            added = " ".join([*options, *values])
            yield added, replace(wider, where={**choice.where, **where})


def _kind(name: str, of: str, draw: Draw, *options: str, about: str | None = None) -> Kind:
    """Describe a kind; users see the first line about it, or of its documentation."""
    first = capital((about or str(draw.__doc__)).partition("\n")[0].rstrip("."))
    return Kind(name, of, first, frozenset(options), draw)
