"""The runs behind the figures: their keys, and how each is repeated."""

from __future__ import annotations

import shlex
from array import array
from itertools import count

import polars as pl

from mptcplab.report.campaign.shape import Awaited, Group, Runs
from mptcplab.report.campaign.subject import Subject
from mptcplab.results.campaign import RUNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
    made = []
    for number, group in enumerate(subject.groups):
        planned = _same(subject, number, campaign.plan)
        first = group.runs.row(0, named=True)
        command = campaign.command(first["run"])
        made.append(
            Group(
                contender=names.index(group.name),
                values=_places(subject, group.axes),
                planned=planned,
                done=len(group.runs),
                finished=int(group.runs["finished"].sum()),
                failed=_same(subject, number, campaign.failures),
                command=command.replace(f"--seed {first['seed']}", "--seed {seed}"),
                against=subject.against.get(number),
            )
        )
    return made


def awaited(subject: Subject) -> list[Awaited]:
    """Give the groups that are planned and of which no run is done, of what ran elsewhere."""
    names = contenders(subject)
    ran = {group.path: names.index(group.name) for group in subject.groups}
    done = [(group.path, _places(subject, group.axes)) for group in subject.groups]
    planned = subject.campaign.plan.select("path", *subject.campaign.axes)
    made = []
    for row in planned.unique(maintain_order=True).iter_rows(named=True):
        path = row.pop("path")
        values = _places(subject, row)
        if path in ran and (path, values) not in done:
            made.append(Awaited(ran[path], values))
    return made


def contenders(subject: Subject) -> list[str]:
    """Name what ran: MPTCP, and plain TCP over each path."""
    return list(dict.fromkeys(group.name for group in subject.groups))


def _places(subject: Subject, values: dict[str, Any]) -> list[int | None]:
    """Give the places of a group's values in those of each axis."""
    return [
        None if values.get(axis) is None else known.index(values[axis])
        for axis, known in subject.campaign.axes.items()
    ]


def _same(subject: Subject, number: int, rows: pl.DataFrame) -> int:
    """Count the rows that are of a group."""
    group = subject.groups[number]
    keys = {axis: group.axes.get(axis) for axis in subject.campaign.axes} | {"path": group.path}
    return rows.filter(
        *(pl.col(name).eq_missing(pl.lit(value)) for name, value in keys.items())
    ).height
