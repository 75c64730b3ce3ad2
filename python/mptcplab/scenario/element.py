"""Elements of links, held to the descriptions that come from the code of the links."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from mptcplab import _core
from mptcplab.messages import nearest, quoted
from mptcplab.reading import MOST_TRACE_BYTES, read_text
from mptcplab.scenario import described
from mptcplab.scenario.described import Description
from mptcplab.scenario.fault import KeyPath
from mptcplab.scenario.source import Source

# An element's name and its parameters in base units.
Element = dict[str, Any]

QUEUE = "queue"
TRACE = "trace"
# Under which name both directions of a link share an element.
SHARED = "shared"
RADIO = "promotion"


@cache
def known(what: str) -> dict[str, Description]:
    """Give the descriptions of all elements or queues by name."""
    there = _core.queues() if what == QUEUE else _core.elements()
    return {description["name"]: description for description in there}


def read(value: Any, key_path: KeyPath, source: Source, what: str = "element") -> Element:
    """Read an element or a queue; what is not given gets its default."""
    article = "an" if what == "element" else "a"
    if not isinstance(value, dict):
        raise source.fault(key_path, f"{quoted(value)} is not {article} {what}, a table")
    shared = {}
    if what != QUEUE and SHARED in value:
        shared = {SHARED: _name(value[SHARED], (*key_path, SHARED), source)}
        if value.keys() == shared.keys():
            return shared
        value = {key: one for key, one in value.items() if key != SHARED}
    if what not in value:
        raise source.fault(
            key_path, f"does not say which {what} it is; known: {', '.join(known(what))}"
        )
    name = value[what]
    if not isinstance(name, str) or name not in known(what):
        hint = nearest(str(name), known(what))
        raise source.fault((*key_path, what), f"there is no {what} {quoted(name)}; {hint}")
    given = {key: one for key, one in value.items() if key != what}
    parameters = described.read(given, known(what)[name], what, key_path, source, READERS)
    return {what: name, **parameters} | shared


def check_shared(directions: dict[str, list[Element]], key_path: KeyPath, source: Source) -> None:
    """Refuse an element that both directions share or are to share, but do not both name."""
    for direction, elements in directions.items():
        for number, one in enumerate(elements):
            alike = [
                [other for other in there if SHARED in one and other.get(SHARED) == one[SHARED]]
                for there in directions.values()
            ]
            wholes = sum("element" in other for there in alike for other in there)
            if SHARED in one and ([len(there) for there in alike] != [1, 1] or wholes != 1):
                raise source.fault(
                    (*key_path, direction, number),
                    f"what is shared as {quoted(one[SHARED])} stands once in each direction: "
                    f'described in one, {{ shared = "{one[SHARED]}" }} in the other',
                )
            if one.get("element") == RADIO and SHARED not in one:
                raise source.fault(
                    (*key_path, direction, number),
                    f'{RADIO} is one radio for both directions: with shared = "radio" here, and '
                    '{ shared = "radio" } in the other',
                )


def show(element: Element, what: str = "element") -> Element:
    """Write an element as :func:`read` reads it."""
    if element.keys() == {SHARED}:
        return dict(element)
    shown = {}
    kinds = described.kinds(known(what)[element[what]])
    for key, value in element.items():
        if key in (what, SHARED) or kinds[key] == TRACE:
            shown[key] = value
        elif kinds[key] == QUEUE:
            shown[key] = show(value, QUEUE)
        else:
            shown[key] = described.KINDS[kinds[key]].show(value)
    return shown


def _queue(value: Any, key_path: KeyPath, source: Source) -> Element:
    return read(value, key_path, source, QUEUE)


def _name(value: Any, key_path: KeyPath, source: Source) -> str:
    if not isinstance(value, str) or not value:
        raise source.fault(key_path, f"{quoted(value)} is no name that both directions share")
    return value


def _trace(value: Any, key_path: KeyPath, source: Source) -> list[int]:
    """Read a trace in Mahimahi's format: a line per packet, the millisecond when it may leave."""
    if isinstance(value, str) and "\0" not in value:
        return _trace_file(source.directory / value, key_path, source)
    if not (isinstance(value, list) and all(type(one) is int for one in value)):
        raise source.fault(
            key_path, f"{quoted(value)} is not a trace: a file, or a list of whole milliseconds"
        )
    return value


def _trace_file(path: Path, key_path: KeyPath, source: Source) -> list[int]:
    try:
        lines = read_text(path, MOST_TRACE_BYTES).splitlines()
    except OSError as error:
        raise source.fault(key_path, f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise source.fault(key_path, f"{path}: is no text") from None
    times: list[int] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}:{number}: {quoted(line.strip())}"
        if not (line.strip().isascii() and line.strip().isdigit()):
            raise source.fault(key_path, f"{where} is not a whole number of milliseconds")
        times.append(int(line))
        if times[-1] < max(times[-2:]):
            raise source.fault(key_path, f"{where} is before the line above it")
    if not times:
        raise source.fault(key_path, f"{path}: is empty")
    return times


READERS = {QUEUE: _queue, TRACE: _trace}
