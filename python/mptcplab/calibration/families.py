"""Families of links that are fitted, by name, from ``families.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from mptcplab.reading import read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.calibration.subject import Subject

HERE = Path(__file__).parent / "families.toml"


@dataclass(frozen=True)
class Family:
    """What a link is made of."""

    name: str
    title: str
    #: ``single`` or ``bursts``.
    losses: str
    #: ``steady``, ``wandering``, ``on-off``, ``unfilled`` or ``interfered``.
    capacity: str
    #: Technologies that it is admissible for; "" are captures.
    of: tuple[str, ...]
    #: Where in literature it stands.
    source: str
    #: ``fitted``, ``deep`` or ``drains``.
    queue: str = "fitted"
    retries: bool = False
    #: How long a radio that slept takes to wake, by technology.
    waking_ms: dict[str, float] = field(default_factory=dict, hash=False)


@cache
def families() -> dict[str, Family]:
    """Give all of them."""
    read = tomllib.loads(read_text(HERE))
    return {name: Family(name, **{**one, "of": tuple(one["of"])}) for name, one in read.items()}


def admissible(subject: Subject) -> list[Family]:
    """Give those that a subject may have."""
    return [
        one
        for one in families().values()
        if subject.technology in one.of
        and (one.queue != "drains" or subject.drains)
        and (one.capacity != "interfered" or subject.interfered)
        and (not one.waking_ms or 0 < subject.late_ms < one.waking_ms[subject.technology])
    ]


def steady(family: Family) -> Family:
    """Give the family in which a capacity does not wander; itself, where there is none."""
    return families().get(family.name.replace("wandering", "steady"), family)
