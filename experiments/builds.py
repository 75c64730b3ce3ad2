"""What results were made with that are not all of one build."""

from __future__ import annotations


def both(before: str | None, now: str) -> str:
    """Name what runs were made with, also if that is not the same for all."""
    names = before.split(", ") if before else []
    return ", ".join([*names, *({now} - {*names})])
