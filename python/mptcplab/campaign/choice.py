"""``[[only]]`` and ``[[exclude]]``: which combinations of the axes' values are run."""

from __future__ import annotations

from typing import Any

from mptcplab.campaign.axis import Axis, Label
from mptcplab.messages import nearest, said
from mptcplab.scenario.source import Source

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
            place = (what, number, name)
            if name not in labels:
                raise source.fault(place, f"there is no such axis; {nearest(name, labels)}")
            choice[name] = given if isinstance(given, list) else [given]
            for label in choice[name]:
                if label not in labels[name]:
                    hint = nearest(str(label), map(str, labels[name]))
                    raise source.fault(place, f"{said(label)} is none of its values; {hint}")
        choices.append(choice)
    return choices


def holds(choice: Choice, labels: dict[str, Label]) -> bool:
    """Say whether a choice is about these values of the axes."""
    return all(labels[name] in known for name, known in choice.items())
