"""The shape of a campaign's page, in TypeScript, too: see ``mptcplab.charts.shape``.

Everything is given by group: runs with MPTCP of one configuration, or of plain TCP over one path.
A group is named by its number.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Literal

from mptcplab.charts.shape import SCHEMA, Badge, Definition, Provenance, Table

#: What has a sample per packet.
Quantity = Literal["rtt", "out_of_order_delay"]


@dataclass
class Axis:
    """What varies, with its values in their order."""

    name: str
    keys: list[str]
    values: list[str]


@dataclass
class Group:
    """Runs that one box, bar or curve stands for."""

    #: What ran: an index in ``CampaignPage.candidates``.
    candidate: int
    #: Places in the values of each axis; none where plain TCP is the same for all.
    values: list[int | None]
    planned: int
    done: int
    finished: int
    failed: int
    #: Command that repeats a run, with ``{seed}`` in place of its seed.
    command: str
    #: The group of plain TCP over the best single path under the same conditions.
    against: int | None = None


@dataclass
class Expected:
    """A group of which no run is done yet, by indices as in ``Group``."""

    candidate: int
    values: list[int | None]


@dataclass
class Summary:
    """A figure over the runs that finished: each column has an item per group, NaN if unknown."""

    n: array[float]
    mean: array[float]
    sigma: array[float]
    median: array[float]
    #: The median's confidence interval.
    median_low: array[float]
    median_high: array[float]
    minimum: array[float]
    whisker_low: array[float]
    quartile_low: array[float]
    quartile_high: array[float]
    whisker_high: array[float]
    maximum: array[float]
    #: Mean difference from plain TCP over the best single path, pair by pair.
    difference: array[float]
    difference_low: array[float]
    difference_high: array[float]
    #: Matched-pairs rank-biserial correlation.
    effect: array[float]
    #: Corrected over all groups and figures.
    p_value: array[float]


@dataclass
class Figure:
    """A figure of runs: summaries of it, and the values of runs that are drawn as points."""

    id: str
    name: str
    unit: str
    #: Whether its axis is logarithmic, where one can choose.
    log: bool
    definition: Definition
    summary: Summary
    #: Places in ``Runs``, and their values.
    run: array[int]
    value: array[float]


@dataclass
class Runs:
    """The runs, of a group each: what their keys are made of, and how they can be repeated."""

    #: The key's first and last 32 bits.
    key_high: array[int]
    key_low: array[int]
    group: array[int]
    seed: array[float]
    #: Runs under the same conditions have the same.
    pair: array[int]
    #: 0 for those of which the transfer did not finish.
    finished: array[int]
    #: Places of runs that have a page of their own.
    pages: list[int]
    #: Whether the directory of each was kept.
    kept: bool
    #: Command that makes the page of a run, with ``{run}`` in place of its key.
    command: str


@dataclass
class Estimated:
    """A mean over a group's runs, or a ratio of means, with its interval where there is one."""

    group: int
    n: int
    estimate: float | None
    low: float | None
    high: float | None
    sigma: float | None = None
    #: What of the group it is of: the name of a path.
    part: str | None = None
    effect: float | None = None
    p_value: float | None = None


@dataclass
class Curve:
    """The part of all samples of a group's runs at or above each value."""

    group: int
    n: int
    samples: int
    value: array[float]
    probability: array[float]
    #: The band; empty where there is none.
    low: array[float]
    high: array[float]


@dataclass
class Sides:
    """How often one group had more throughput than another under the same conditions."""

    one: int
    other: int
    #: Pairs in which the first had more, less, and as much.
    more: int
    less: int
    same: int


@dataclass
class Chart:
    """What a chart says about itself."""

    id: str
    title: str
    #: What its values are, and in which unit, where that is always the same.
    value: str
    unit: str
    note: str
    definitions: list[Definition]
    thinned: str | None = None


@dataclass
class CampaignPage:
    """The page of a campaign."""

    title: str
    subtitle: str
    badges: list[Badge]
    verdict: list[str]
    axes: list[Axis]
    candidates: list[str]
    paths: list[str]
    groups: list[Group]
    expected: list[Expected]
    figures: list[Figure]
    runs: Runs
    shares: list[Estimated]
    gains: list[Estimated]
    variation: list[Estimated]
    curves: dict[Quantity, list[Curve]]
    sides: list[Sides]
    charts: list[Chart]
    tables: list[Table]
    provenance: Provenance
    level: float
    schema: int = SCHEMA
    kind: Literal["campaign"] = "campaign"
