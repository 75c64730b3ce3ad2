"""The links that experiments depend on, and the origin of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mptcplab.calibration.subject import profile_name
from mptcplab.scenario import library

#: Origins of links, from what was measured to what was not.
ORIGINS = ("calibrated", "transferred", "assumed")


def profile(name: str) -> str:
    """Name the link of a row of a single path, which was calibrated on it; or the link itself."""
    return profile_name(name) if is_row(name) else name


def is_row(name: str) -> bool:
    """Say whether a link is named by the row that it was calibrated on."""
    return "/" in name


def profiles(table: Any) -> Iterator[str]:
    """Name the links that a campaign or a scenario hangs on."""
    if isinstance(table, dict):
        for key, value in table.items():
            if key.rpartition(".")[2] == "profile" and isinstance(value, str):
                yield value
            else:
                yield from profiles(value)
    elif isinstance(table, list):
        for value in table:
            yield from profiles(value)


def origin(link: str) -> str:
    """Describe the origin of a link that ships."""
    origin_table = library.table("links", link).get("origin")
    kind = origin_table.get("kind") if isinstance(origin_table, dict) else None
    return kind if kind in ORIGINS else ORIGINS[-1]


def worst(links: Sequence[str]) -> str:
    """Give the origin of links that is the least sure."""
    found = [origin(link) for link in links]
    return max(found, key=ORIGINS.index, default=ORIGINS[0])
