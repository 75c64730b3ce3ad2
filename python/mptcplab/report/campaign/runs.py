"""The runs behind the figures: their keys, and how each is repeated."""

from __future__ import annotations

import shlex
from array import array
from itertools import count

import polars as pl

from mptcplab.report.campaign.shape import Group, Runs
from mptcplab.report.campaign.subject import Subject
from mptcplab.results.campaign import RUNS

# Where pages of single runs lie, in the directory of the campaign.
PAGES = "reports"
# Digits of a key that one column holds.
HALF = 8


def runs(subject: Subject) -> tuple[Runs, dict[str, int]]:
    """Give the runs of all groups, one after the other, and their places by their keys."""
    campaign = subject.campaign
    keys = [key for group in subject.groups for key in group.runs["run"]]
    places = dict(zip(keys, count()))
    numbers = [number for number, group in enumerate(subject.groups) for _ in group.runs["run"]]
    own = {page.stem for page in (campaign.directory / PAGES).glob("*.html")}

    def column(code: str, name: str) -> array[int]:
        return array(code, [value for group in subject.groups for value in group.runs[name]])

    command = f"mptcplab report {shlex.quote(str(campaign.directory))} --run {{run}}"
    made = Runs(
        key_high=array("I", [int(key[:HALF], 16) for key in keys]),
        key_low=array("I", [int(key[HALF:], 16) for key in keys]),
        group=array("I", numbers),
        seed=array("d", map(float, column("Q", "seed"))),
        pair=column("I", "pair"),
        finished=array("H", map(int, column("H", "finished"))),
        pages=sorted(places[key] for key in own & places.keys()),
        kept=(campaign.directory / RUNS).is_dir(),
        command=command,
    )
    return made, places


def described(subject: Subject) -> list[Group]:
    """Describe the groups themselves."""
    campaign = subject.campaign
    names = contenders(subject)
    axes = campaign.axes
    made = []
    for number, group in enumerate(subject.groups):
        values = [
            axes[axis].index(group.axes[axis]) if axis in group.axes else None for axis in axes
        ]
        planned = _same(subject, number, campaign.plan)
        first = group.runs.row(0, named=True)
        command = campaign.command(first["run"])
        made.append(
            Group(
                contender=names.index(group.name),
                values=values,
                planned=planned,
                done=len(group.runs),
                finished=int(group.runs["finished"].sum()),
                failed=_same(subject, number, campaign.failures),
                command=command.replace(f"--seed {first['seed']}", "--seed {seed}"),
                against=subject.against.get(number),
            )
        )
    return made


def contenders(subject: Subject) -> list[str]:
    """Name what ran: MPTCP, and plain TCP over each path."""
    return list(dict.fromkeys(group.name for group in subject.groups))


def _same(subject: Subject, number: int, rows: pl.DataFrame) -> int:
    """Count the rows that are of a group."""
    group = subject.groups[number]
    keys = {axis: group.axes.get(axis) for axis in subject.campaign.axes} | {"path": group.path}
    return rows.filter(
        *(pl.col(name).eq_missing(pl.lit(value)) for name, value in keys.items())
    ).height
