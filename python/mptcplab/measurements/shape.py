"""Tables of TOML as rows: strict, errors name the row and the key."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from mptcplab._core import Error
from mptcplab.messages import nearest

Some = TypeVar("Some")


class ShapeError(ValueError):
    """A table lacks a key, or has an unknown one."""


def rows(given: list[dict[str, Any]], read: Callable[[dict[str, Any]], Any], where: str) -> Any:
    """Read rows by their ids."""
    found: dict[str, Any] = {}
    for number, row in enumerate(given, 1):
        name = row.get("id", f"row {number}")
        if name in found:
            raise Error(f"{where}: {name} is there twice")
        try:
            found[name] = read(dict(row))
        except (ShapeError, TypeError, ValueError, KeyError, AttributeError) as error:
            reason = error if isinstance(error, ShapeError) else f"{error!r}"
            raise Error(f"{where}: {name}: {reason}") from error
    return found


def build(kind: type[Some], given: dict[str, Any]) -> Some:
    """Make a dataclass of a table; lists become tuples."""
    known = {one.name: one for one in fields(kind)}  # type: ignore[arg-type]
    refuse_unknown(given, known)
    for name, one in known.items():
        if name not in given and one.default is MISSING and one.default_factory is MISSING:
            raise ShapeError(f"needs {name}")
    return kind(**{key: _frozen(value) for key, value in given.items()})


def refuse_unknown(given: dict[str, Any], known: Iterable[str]) -> None:
    """Refuse a key that is not known."""
    for key in given:
        if key not in known:
            raise ShapeError(f"there is no key {key}; {nearest(key, known)}")


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
