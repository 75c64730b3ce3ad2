"""``[axis.NAME]``: what varies. ``[[only]]`` and ``[[exclude]]``: which combinations are run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from mptcplab.messages import nearest, quoted
from mptcplab.results.campaign import is_column
from mptcplab.scenario.fault import Faults, KeyPath
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
    axes: list[Axis] = []
    taken: dict[str, str] = {}
    faults = Faults()
    for name, one in value.items():
        with faults.collected():
            axis = _axis(name, one, source)
            axes.append(axis)
            for key in {setting.key for point in axis.points for setting in point.settings}:
                if key in taken:
                    raise source.fault(("axis", name), f"{key} varies with {taken[key]} already")
                taken[key] = name
    faults.raise_found()
    return axes


def read_settings(value: Any, key_path: KeyPath, source: Source) -> list[Setting]:
    """Read a table of keys of the scenario and what they are set to."""
    if not isinstance(value, dict):
        raise source.fault(key_path, f"{quoted(value)} is not a table")
    settings = []
    faults = Faults()
    for key, one in value.items():
        at = (*key_path, key)
        with faults.collected():
            if isinstance(one, dict) and "." not in key:
                raise source.fault(
                    at,
                    "write the whole key in quotation marks, such as "
                    '"path.wifi.rate" = "10 Mbit/s"',
                )
            _check_key(key, at, source)
            settings.append(Setting(key, one, source.where(at), source.where(at)))
    faults.raise_found()
    return settings


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
        points = []
        faults = Faults()
        for label, one in section.points.items():
            with faults.collected():
                settings = read_settings(one, (*key_path, "points", label), source)
                points.append(Point(label, settings))
        faults.raise_found()
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
    _check_key(key, (*key_path, "key"), source)
    points: list[Point] = []
    faults = Faults()
    for number, value in enumerate(values):
        at = (*key_path, "values", number)
        with faults.collected():
            if not isinstance(value, Label):
                raise source.fault(at, f"{quoted(value)} needs a name: use points")
            if value in [point.label for point in points]:
                raise source.fault(at, f"{quoted(value)} is there twice")
            key_where = source.where((*key_path, "key"))
            points.append(Point(value, [Setting(key, value, source.where(at), key_where)]))
    faults.raise_found()
    return points


def _check_key(key: str, key_path: KeyPath, source: Source) -> None:
    if not is_key(key):
        raise source.fault(key_path, f"{quoted(key)} is not a key such as path.wifi.rate")


# By the axes that it names: which of their values it is about.
Choice = dict[str, list[Label]]


def read_choices(value: list[Any], what: str, axes: list[Axis], source: Source) -> list[Choice]:
    """Read all of one kind."""
    labels = {axis.name: axis.labels for axis in axes}
    choices = []
    faults = Faults()
    for number, one in enumerate(value):
        choice: Choice = {}
        with faults.collected():
            if not isinstance(one, dict) or not one:
                raise source.fault((what, number), "is a table of axes and their values")
            for name, given in one.items():
                with faults.collected():
                    choice[name] = _chosen(given, labels, (what, number, name), source)
        choices.append(choice)
    faults.raise_found()
    return choices


def _chosen(
    given: Any, labels: dict[str, list[Label]], key_path: KeyPath, source: Source
) -> list[Label]:
    """Read which values of an axis are meant."""
    name = str(key_path[-1])
    if name not in labels:
        raise source.fault(key_path, f"there is no such axis; {nearest(name, labels)}")
    chosen = given if isinstance(given, list) else [given]
    for label in chosen:
        if label not in labels[name]:
            hint = nearest(str(label), map(str, labels[name]))
            raise source.fault(key_path, f"{quoted(label)} is none of its values; {hint}")
    return chosen


def holds(choice: Choice, labels: dict[str, Label]) -> bool:
    """Say whether a choice is about these values of the axes."""
    return all(labels[name] in known for name, known in choice.items())
