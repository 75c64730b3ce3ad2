"""Elements of links, held to the descriptions that come from the code of the links."""

from __future__ import annotations

import math
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
_ARTICLES = {"element": "an", QUEUE: "a"}
TRACE = "trace"
# Traces whose rows hold until the next, and the columns of their files.
RATE_TRACE, DELAY_TRACE = "rate-trace", "delay-trace"
ROWS = {RATE_TRACE: ("ms", "mbps"), DELAY_TRACE: ("ms", "delay_ms", "loss_percent")}
# Elements whose rate is a recorded one.
RECORDED = (TRACE, RATE_TRACE)
# Under which name both directions of a link share an element.
SHARED = "shared"
RADIO = "promotion"
# Both ends of a carrier that has IPv6 only, as packets pass them on the way up. The second alone
# translates for hosts that have IPv6 only.
NAT64 = "nat64"
TRANSLATORS = ["clat", NAT64]


@cache
def known(what: str) -> dict[str, Description]:
    """Give the descriptions of all elements or queues by name."""
    descriptions = _core.queues() if what == QUEUE else _core.elements()
    return {description["name"]: description for description in descriptions}


def read(value: Any, key_path: KeyPath, source: Source, what: str = "element") -> Element:
    """Read an element or a queue; what is not given gets its default."""
    if not isinstance(value, dict):
        raise source.fault(key_path, f"{quoted(value)} is not {_ARTICLES[what]} {what}, a table")
    shared = {}
    if what != QUEUE and SHARED in value:
        shared = {SHARED: _name(value[SHARED], (*key_path, SHARED), source)}
        if value.keys() == shared.keys():
            return shared
        value = {key: one for key, one in value.items() if key != SHARED}
    if what not in value:
        example = f'{what} = "{next(iter(known(what)))}"'
        raise source.fault(
            key_path,
            f"does not say which {what} it is, such as {example}; known: {', '.join(known(what))}",
        )
    name = value[what]
    if not isinstance(name, str) or name not in known(what):
        raise source.fault((*key_path, what), _unknown(name, what))
    given = {key: one for key, one in value.items() if key != what}
    parameters = described.read(given, known(what)[name], what, key_path, source, READERS)
    return {what: name, **parameters} | shared


def _unknown(name: Any, what: str) -> str:
    hint = nearest(str(name), known(what))
    if isinstance(name, str) and not name[:1].isdigit():
        return f"there is no {what} {quoted(name)}; {hint}"
    size = "; what it holds is bytes, packets or delay beside it" if what == QUEUE else ""
    return f"{quoted(name)} is not the name of {_ARTICLES[what]} {what}; {hint}{size}"


def check_shared(directions: dict[str, list[Element]], key_path: KeyPath, source: Source) -> None:
    """Refuse an element that both directions share or are to share, but do not both name."""
    for direction, elements in directions.items():
        for number, one in enumerate(elements):
            alike = [
                [other for other in side if SHARED in one and other.get(SHARED) == one[SHARED]]
                for side in directions.values()
            ]
            wholes = sum("element" in other for side in alike for other in side)
            if SHARED in one and ([len(side) for side in alike] != [1, 1] or wholes != 1):
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


def check_translators(
    uplink: list[Element], downlink: list[Element], key_path: KeyPath, source: Source
) -> None:
    """Refuse a clat without nat64 behind it: what comes of it reaches nobody."""
    named = {one.get(SHARED): one["element"] for one in (*uplink, *downlink) if "element" in one}
    for elements in (uplink, downlink[::-1]):
        passed = [one.get("element") or named.get(one.get(SHARED)) for one in elements]
        if [name for name in passed if name in TRANSLATORS] not in ([], [NAT64], TRANSLATORS):
            raise source.fault(
                key_path,
                "clat and nat64 are the two ends of IPv6: it has one of each, clat nearer to the "
                "client, or nat64 alone",
            )


def show(element: Element, what: str = "element") -> Element:
    """Write an element as :func:`read` reads it."""
    if element.keys() == {SHARED}:
        return dict(element)
    shown = {}
    kinds = described.kinds(known(what)[element[what]])
    for key, value in element.items():
        if key in (what, SHARED) or kinds[key] in (TRACE, *ROWS):
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
        raise source.fault(key_path, f"{quoted(value)} is not a name that both directions share")
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
    times: list[int] = []
    for number, line in enumerate(_lines(path, key_path, source), 1):
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


def _lines(path: Path, key_path: KeyPath, source: Source) -> list[str]:
    try:
        return read_text(path, MOST_TRACE_BYTES).splitlines()
    except OSError as error:
        raise source.fault(key_path, f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise source.fault(key_path, f"{path}: is not text") from None


def _rows(kind: str) -> described.Reader:
    """Give the reader of a trace whose rows have these columns: a file, or a list of lists."""
    columns = ROWS[kind]

    def reader(value: Any, key_path: KeyPath, source: Source) -> list[list[float]]:
        if isinstance(value, str) and "\0" not in value:
            return _rows_file(source.directory / value, columns, key_path, source)
        if not isinstance(value, list) or not all(_is_row(row, len(columns)) for row in value):
            raise source.fault(
                key_path,
                f"{quoted(value)} is not a {kind}: a file, or a list of [{', '.join(columns)}]",
            )
        return value

    return reader


def _is_row(row: Any, width: int) -> bool:
    """Say whether it is a list of a given number of finite numbers."""
    if not isinstance(row, list) or len(row) != width:
        return False
    return all(type(one) in (int, float) and math.isfinite(one) for one in row)


def _rows_file(
    path: Path, columns: tuple[str, ...], key_path: KeyPath, source: Source
) -> list[list[float]]:
    head, *lines = _lines(path, key_path, source) or [""]
    if head.strip() != ",".join(columns):
        raise source.fault(
            key_path, f"{path}:1: {quoted(head.strip())} is not the line {','.join(columns)}"
        )
    rows = []
    for number, line in enumerate(lines, 2):
        if not line.strip():
            continue
        try:
            rows.append([float(cell) for cell in line.split(",")])
        except ValueError:
            rows.append([])
        if not _is_row(rows[-1], len(columns)):
            raise source.fault(
                key_path,
                f"{path}:{number}: {quoted(line.strip())} is not {len(columns)} "
                "numbers with commas",
            )
    return rows


READERS = {QUEUE: _queue, TRACE: _trace, **{kind: _rows(kind) for kind in ROWS}}
