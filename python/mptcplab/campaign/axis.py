"""``[axis.NAME]``: what varies. ``[[only]]`` and ``[[exclude]]``: which combinations are run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from mptcplab.messages import nearest, quoted
from mptcplab.results.campaign import is_column
from mptcplab.scenario.fault import KeyPath
from mptcplab.scenario.section import Section, Text, read
from mptcplab.scenario.settings import is_key
from mptcplab.scenario.source import Source

NAME = re.compile(r"[a-z][a-z0-9_-]{0,30}")

Label = str | int | float | bool


class AxisSection(Section):
    """An axis: one key with several values, or named points that set several keys together."""

    key: Text | None = None
    """The key of the scenario that varies, written as with ``--set``."""
    values: list[Any] | None = None
    """Its values."""
    points: dict[str, Any] | None = None
    """Named points, each with the values that it sets: ``"path.wifi.rate" = "10 Mbit/s"``."""


@dataclass(frozen=True)
class Setting:
    """A key of the scenario, what it is set to, and where both are written."""

    key: str
    value: Any
    where: str
    key_where: str


@dataclass(frozen=True)
class Point:
    """A value of an axis."""

    label: Label
    settings: list[Setting]


@dataclass(frozen=True)
class Axis:
    """The axes: what varies."""

    name: str
    points: list[Point]

    @property
    def labels(self) -> list[Label]:
        """Its values, in order."""
        return [point.label for point in self.points]


def read_axes(value: dict[str, Any], source: Source) -> list[Axis]:
    """Read all axes."""
    axes = [_axis(name, one, source) for name, one in value.items()]
    taken: dict[str, str] = {}
    for axis in axes:
        for key in {setting.key for point in axis.points for setting in point.settings}:
            if key in taken:
                raise source.fault(("axis", axis.name), f"{key} varies with {taken[key]} already")
            taken[key] = axis.name
    return axes


def read_settings(value: Any, key_path: KeyPath, source: Source) -> list[Setting]:
    """Read a table of keys of the scenario and what they are set to."""
    if not isinstance(value, dict):
        raise source.fault(key_path, f"{quoted(value)} is not a table")
    for key, one in value.items():
        if isinstance(one, dict) and "." not in key:
            raise source.fault(
                (*key_path, key),
                'write the whole key in quotation marks, such as "path.wifi.rate" = "10 Mbit/s"',
            )
    return [
        _setting(key, one, (*key_path, key), (*key_path, key), source) for key, one in value.items()
    ]


def _axis(name: str, value: Any, source: Source) -> Axis:
    key_path = ("axis", name)
    if not NAME.fullmatch(name):
        raise source.fault(
            key_path,
            f"{quoted(name)} cannot name an axis: a name is a lower-case letter, then at most 30 "
            'lower-case letters, digits, "_" and "-"',
        )
    if is_column(name):
        raise source.fault(key_path, f"{quoted(name)} cannot name an axis: a column of runs has it")
    section = read(AxisSection, value, key_path, source)
    if section.points is not None:
        if section.key is not None or section.values is not None:
            raise source.fault(key_path, "key with values and points exclude each other")
        points = [
            Point(label, read_settings(one, (*key_path, "points", label), source))
            for label, one in section.points.items()
        ]
    elif section.key is None or section.values is None:
        raise source.fault(key_path, "needs key and values, or points: what varies")
    else:
        points = _points(section.key, section.values, key_path, source)
    if not points:
        raise source.fault(key_path, "has no values")
    return Axis(name, points)


def _points(key: str, values: list[Any], key_path: KeyPath, source: Source) -> list[Point]:
    if len({isinstance(value, str) for value in values}) > 1:
        mixed = 'mixes text with numbers: quote all values ("1 %") or none, or use points'
        raise source.fault((*key_path, "values"), mixed)
    points: list[Point] = []
    for number, value in enumerate(values):
        at = (*key_path, "values", number)
        if not isinstance(value, Label):
            raise source.fault(at, f"{quoted(value)} needs a name: use points")
        if value in [point.label for point in points]:
            raise source.fault(at, f"{quoted(value)} is there twice")
        setting = _setting(key, value, (*key_path, "key"), at, source)
        points.append(Point(value, [setting]))
    return points


def _setting(
    key: str, value: Any, name_path: KeyPath, key_path: KeyPath, source: Source
) -> Setting:
    if not is_key(key):
        raise source.fault(name_path, f"{quoted(key)} is not a key such as path.wifi.rate")
    return Setting(key, value, source.where(key_path), source.where(name_path))


# By the axes that it names: which of their values it is about.
Choice = dict[str, list[Label]]


def read_choices(value: list[Any], what: str, axes: list[Axis], source: Source) -> list[Choice]:
    """Read all of one kind."""
    labels = {axis.name: axis.labels for axis in axes}
    choices = []
    for number, one in enumerate(value):
        if not isinstance(one, dict) or not one:
            raise source.fault((what, number), "is a table of axes and their values")
        choice: Choice = {}
        for name, given in one.items():
            key_path = (what, number, name)
            if name not in labels:
                raise source.fault(key_path, f"there is no such axis; {nearest(name, labels)}")
            choice[name] = given if isinstance(given, list) else [given]
            for label in choice[name]:
                if label not in labels[name]:
                    hint = nearest(str(label), map(str, labels[name]))
                    raise source.fault(key_path, f"{quoted(label)} is none of its values; {hint}")
        choices.append(choice)
    return choices


def holds(choice: Choice, labels: dict[str, Label]) -> bool:
    """Say whether a choice is about these values of the axes."""
    return all(labels[name] in known for name, known in choice.items())
