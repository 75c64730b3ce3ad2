"""What messages about bad input have in common."""

from __future__ import annotations

import json
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


def quoted(value: Any) -> str:
    """Format a value as a scenario has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "a table"
    return "a list" if isinstance(value, list) else str(value)


def close(word: str, known: Iterable[str]) -> str | None:
    """Give the known word that was probably meant, if any is near."""
    return next(iter(get_close_matches(word, list(known), n=1, cutoff=0.6)), None)


def nearest(word: str, known: Iterable[str]) -> str:
    """Name the known word that was probably meant, or else all."""
    words = list(known)
    if meant := close(word, words):
        return f"did you mean {meant}?"
    return f"known: {', '.join(words)}" if words else "there is none"
