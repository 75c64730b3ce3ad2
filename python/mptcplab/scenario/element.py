"""Elements of links, held to the descriptions that come from the code of the links."""

from __future__ import annotations

from functools import cache
from typing import Any

from mptcplab import _core
from mptcplab.scenario import quantity
from mptcplab.scenario.fault import nearest
from mptcplab.scenario.quantity import Kind, said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from mptcplab.scenario.locate import Place
    from mptcplab.scenario.source import Source

# An element's name and its parameters in base units.
Element = dict[str, Any]
Description = dict[str, Any]

QUEUE = "queue"
TRACE = "trace"
# Under which name both directions of a link share an element.
SHARED = "shared"
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


@cache
def known(what: str) -> dict[str, Description]:
    """Give the descriptions of all elements or queues by name."""
    there = _core.queues() if what == QUEUE else _core.elements()
    return {description["name"]: description for description in there}


def read(value: Any, place: Place, source: Source, what: str = "element") -> Element:
    """Read an element or a queue; what is not given gets its default."""
    article = "an" if what == "element" else "a"
    if not isinstance(value, dict):
        raise source.fault(place, f"{said(value)} is not {article} {what}, a table")
    shared = {}
    if what != QUEUE and SHARED in value:
        shared = {SHARED: _name(value[SHARED], (*place, SHARED), source)}
        if value.keys() == shared.keys():
            return shared
        value = {key: one for key, one in value.items() if key != SHARED}
    if what not in value:
        raise source.fault(
            place, f"does not say which {what} it is; known: {', '.join(known(what))}"
        )
    name = value[what]
    if not isinstance(name, str) or name not in known(what):
        hint = nearest(str(name), known(what))
        raise source.fault((*place, what), f"there is no {what} {said(name)}; {hint}")
    parameters = {one["name"]: one for one in known(what)[name]["parameters"]}
    for key in value:
        if key != what and key not in parameters:
            raise source.fault(
                (*place, key), f"{what} {name} has no such parameter; {nearest(key, parameters)}"
            )
    element = {what: name}
    for key, parameter in parameters.items():
        if key in value:
            element[key] = _parameter(value[key], parameter, (*place, key), source)
        elif parameter["required"]:
            raise source.fault(place, f"{what} {name} needs {key}: {parameter['doc']}")
        elif parameter["default"] is not None:
            element[key] = parameter["default"]
    return element | shared


def check_shared(ways: dict[str, list[Element]], place: Place, source: Source) -> None:
    """Refuse an element that both directions share, but do not both name."""
    for way, elements in ways.items():
        for number, one in enumerate(elements):
            alike = [
                [other for other in there if SHARED in one and other.get(SHARED) == one[SHARED]]
                for there in ways.values()
            ]
            described = sum("element" in other for there in alike for other in there)
            if SHARED in one and ([len(there) for there in alike] != [1, 1] or described != 1):
                raise source.fault(
                    (*place, way, number),
                    f"what is shared as {said(one[SHARED])} stands once in each direction: "
                    f'described in one, {{ shared = "{one[SHARED]}" }} in the other',
                )


def show(element: Element, what: str = "element") -> Element:
    """Write an element as :func:`read` reads it."""
    if element.keys() == {SHARED}:
        return dict(element)
    shown = {}
    kinds = {one["name"]: one["kind"] for one in known(what)[element[what]]["parameters"]}
    for key, value in element.items():
        if key in (what, SHARED) or kinds[key] == TRACE:
            shown[key] = value
        elif kinds[key] == QUEUE:
            shown[key] = show(value, QUEUE)
        else:
            shown[key] = KINDS[kinds[key]].show(value)
    return shown


def _parameter(value: Any, parameter: Description, place: Place, source: Source) -> Any:
    kind = parameter["kind"]
    if kind == QUEUE:
        return read(value, place, source, QUEUE)
    if kind == TRACE:
        return _trace(value, place, source)
    try:
        return KINDS[kind].parse(value)
    except ValueError as error:
        raise source.fault(place, str(error)) from None


def _name(value: Any, place: Place, source: Source) -> str:
    if not isinstance(value, str) or not value:
        raise source.fault(place, f"{said(value)} is no name that both directions share")
    return value


def _trace(value: Any, place: Place, source: Source) -> list[int]:
    """Read a trace in Mahimahi's format: a line per packet, the millisecond when it may leave."""
    if isinstance(value, str):
        return _trace_file(source.directory / value, place, source)
    if not (isinstance(value, list) and all(type(one) is int for one in value)):
        raise source.fault(
            place, f"{said(value)} is not a trace: a file, or a list of whole milliseconds"
        )
    return value


def _trace_file(path: Path, place: Place, source: Source) -> list[int]:
    try:
        lines = path.read_text().splitlines()
    except OSError as error:
        raise source.fault(place, f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise source.fault(place, f"{path}: is no text") from None
    times: list[int] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}:{number}: {said(line.strip())}"
        if not (line.strip().isascii() and line.strip().isdigit()):
            raise source.fault(place, f"{where} is not a whole number of milliseconds")
        times.append(int(line))
        if times[-1] < max(times[-2:]):
            raise source.fault(place, f"{where} is before the line above it")
    if not times:
        raise source.fault(place, f"{path}: is empty")
    return times
