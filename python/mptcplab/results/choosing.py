"""Connections that are chosen by what they are: ``port=443,host=192.0.2.1``."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mptcplab._core import Error
from mptcplab.messages import nearest

Row = dict[str, Any]
Test = Callable[[Row], bool]

ENDS = ("client", "server")
# Words that are of either end.
EITHER = ("host", "port", "path")


def choose(
    expression: str, connections: Iterable[Row], subflows: Iterable[Mapping[str, Any]]
) -> list[int]:
    """Give the numbers of the connections that meet all parts of an expression.

    A part is ``KEY=VALUE`` or ``KEY!=VALUE``; several are parted by commas. Keys are the columns of
    ``connections``, and ``host`` (an address or a network, of either end), ``port`` (of either end)
    and ``path`` (of a subflow).

    Raises:
        Error: The expression cannot be read, or nothing meets it.
    """
    rows = list(connections)
    paths: dict[int, set[str]] = {}
    for subflow in subflows:
        paths.setdefault(subflow["connection"], set()).add(str(subflow["path"]))
    tests = [_test(part.strip(), rows, paths) for part in expression.split(",")]
    found = [row["connection"] for row in rows if all(test(row) for test in tests)]
    if not found:
        raise Error(f"no connection of {len(rows)} meets {expression!r}")
    return found


def _test(part: str, rows: list[Row], paths: dict[int, set[str]]) -> Test:
    key, equals, value = part.partition("=")
    without = key.endswith("!")
    key = key.removesuffix("!").strip()
    value = value.strip()
    if not equals or not value:
        raise Error(f"{part!r} is not KEY=VALUE to choose connections by, such as port=443")
    test = _meets(key, value, rows, paths)
    return (lambda row: not test(row)) if without else test


def _meets(key: str, value: str, rows: list[Row], paths: dict[int, set[str]]) -> Test:
    if key == "path":
        return lambda row: value in paths.get(row["connection"], ())
    if key == "port":
        return lambda row: value in {str(row[f"{end}_port"]) for end in ENDS}
    if key == "host":
        try:
            network = ipaddress.ip_network(value, strict=False)
        except ValueError:
            raise Error(f"host={value}: that is neither an address nor a network") from None
        return lambda row: any(_within(row[f"{end}_address"], network) for end in ENDS)
    known = list(rows[0]) if rows else []
    if known and key not in known:
        raise Error(f"connections have no {key}; {nearest(key, [*EITHER, *known])}")
    return lambda row: _text(row[key]) == value


def _within(address: str, network: ipaddress.IPv4Network | ipaddress.IPv6Network) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]) in network


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)
