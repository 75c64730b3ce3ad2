"""Draws a kind of figure, or says which choice it would take."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from typing import Any

from mptcplab._core import Error
from mptcplab.charts.paper.choice import Choice
from mptcplab.charts.paper.groups import MPTCP, TooManyError
from mptcplab.charts.paper.kinds import Kind
from mptcplab.charts.paper.paper import COLUMN_INCHES, Paper, styled


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
