"""Parameters of elements and policies, held to the descriptions that come from their code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mptcplab import quantity
from mptcplab.messages import nearest
from mptcplab.quantity import Kind
from mptcplab.scenario.fault import KeyPath
from mptcplab.scenario.source import Source

# Reads a parameter of a kind that is no quantity.
Reader = Callable[[Any, KeyPath, Source], Any]

# Name, summary and parameters of an element or a policy; and one of its parameters.
Description = dict[str, Any]

KINDS: dict[str, Kind] = {
    "rate": quantity.RATE,
    "duration": quantity.DURATION,
    "bytes": quantity.BYTES,
    "packets": quantity.PACKETS,
    "ratio": quantity.RATIO,
    "number": quantity.FLOAT,
    "integer": quantity.INTEGER,
    "text": quantity.TEXT,
    "flag": quantity.FLAG,
}


def read(
    table: Mapping[str, Any],
    description: Description,
    what: str,
    key_path: KeyPath,
    source: Source,
    others: Mapping[str, Reader] | None = None,
) -> dict[str, Any]:
    """Read a table of parameters into base units; what is not given gets its default.

    ``others`` read kinds that are none of :data:`KINDS`.
    """
    parameters = {one["name"]: one for one in description["parameters"]}
    whose = f"{what} {description['name']}"
    for key in table:
        if key not in parameters:
            raise source.unknown(
                (*key_path, key), f"{whose} has no such parameter; {nearest(key, parameters)}"
            )
    values = {}
    for key, parameter in parameters.items():
        if key in table:
            reader = (others or {}).get(parameter["kind"], _quantity(parameter["kind"]))
            values[key] = reader(table[key], (*key_path, key), source)
        elif parameter["required"]:
            raise source.fault(key_path, f"{whose} needs {key}: {parameter['doc']}")
        elif parameter["default"] is not None:
            values[key] = parameter["default"]
    return values


def _quantity(kind: str) -> Reader:
    def reader(value: Any, key_path: KeyPath, source: Source) -> Any:
        try:
            return KINDS[kind].parse(value)
        except ValueError as error:
            raise source.fault(key_path, str(error)) from None

    return reader


def kinds(description: Description) -> dict[str, str]:
    """Give the kind of each parameter."""
    return {one["name"]: one["kind"] for one in description["parameters"]}
