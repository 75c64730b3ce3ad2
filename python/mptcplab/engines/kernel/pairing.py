"""Which subflow of the server is which of the client, where a translator gave them other names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, TypeVar

# Identifiers of a subflow's addresses: one's own, the peer's.
Ids: TypeAlias = tuple[int, int] | list[int] | None

Name = TypeVar("Name")


def paired(client: Mapping[Name, Ids], server: Mapping[Name, Ids]) -> dict[Name, Name]:
    """Give the client's name of each subflow of a connection by the server's name.

    Both name their subflows in the order of their beginning. One that both name alike is the same.
    Of the others those are that have the same identifiers, in their order; the first of both; and
    the last one that is left at either end.
    """
    found = {name: name for name in server if name in client}

    def left() -> tuple[list[Name], list[Name]]:
        known = set(found.values())
        return (
            [name for name in client if name not in known],
            [name for name in server if name not in found],
        )

    ours, theirs = left()
    for ids in dict.fromkeys(tuple(one) for name in theirs if (one := server[name]) is not None):
        here = [name for name in ours if tuple(client[name] or ()) == ids[::-1]]
        there = [name for name in theirs if tuple(server[name] or ()) == ids]
        if len(here) == len(there):
            found |= dict(zip(there, here, strict=True))
    ours, theirs = left()
    if ours and theirs and (ours[0], theirs[0]) == (next(iter(client)), next(iter(server))):
        found[theirs[0]] = ours[0]
        ours, theirs = left()
    if len(ours) == len(theirs) == 1:
        found[theirs[0]] = ours[0]
    return found
