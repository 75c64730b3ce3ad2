"""The tests in JSON of iperf3, whichever way it is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

#: How each line of ``--json-stream`` begins.
EVENT = '{"event":"'
#: What a test has whose last line is cut off.
CUT = "cut"


def tests(text: str) -> Iterator[Json]:
    """Give each test as ``-J`` writes it; a server writes one after the other.

    Raises:
        ValueError: It is not JSON of iperf3; its second argument is the number of the line.
    """
    if text.lstrip().startswith(EVENT):
        yield from _streamed(text)
        return
    decoder, at = json.JSONDecoder(), 0
    while (at := _blank(text, at)) < len(text):
        try:
            test, at = decoder.raw_decode(text, at)
        except ValueError as error:
            raise ValueError(
                "is not complete JSON: was iperf3 interrupted? Run it again: --json-stream survives"
                " that",
                getattr(error, "lineno", 1),
            ) from error
        yield test


def _blank(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _streamed(text: str) -> Iterator[Json]:
    """Put the events of each test together."""
    test: Json = {}
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        try:
            event = json.loads(line)
        except ValueError as error:
            if number < len(lines):
                raise ValueError("is no event of iperf3 --json-stream", number) from error
            test[CUT] = True
            break
        kind, data = event["event"], event["data"]
        if kind == "start":
            if test:
                yield test
            test = {"start": data, "intervals": []}
        elif kind == "interval":
            test["intervals"].append(data)
        else:
            test[kind] = data
    if test:
        yield test
