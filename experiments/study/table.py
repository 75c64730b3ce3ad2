"""Draws the tables of the documentation from ``results.json``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mptcplab.study import judging, outcome, told

RESULTS = Path(__file__).parent / outcome.NAME
ORDER = (judging.FAILS, judging.OPEN, judging.DIRECTION, judging.HOLDS, judging.UNJUDGED)


def markdown(part: str) -> str:
    """Give one part: ``scores``, ``findings``, ``numbers``, ``links`` or ``inconsistent``."""
    results = json.loads(RESULTS.read_text())
    return "\n".join(PARTS[part](results)) + "\n"


def _scores(results: dict[str, Any]) -> Iterator[str]:
    heads = [*told.SCORED, *(f"skill: {name}" for name in outcome.NAIVE)]
    rows = ([*told.scored(one), *told.skills(one, outcome.NAIVE)] for one in results["scores"])
    yield from _table(heads, rows)


def _findings(results: dict[str, Any]) -> Iterator[str]:
    every = [
        (one["name"], finding) for one in results["experiments"] for finding in one["findings"]
    ]
    every.sort(key=lambda one: ORDER.index(one[1]["status"]))
    counts = {status: sum(one["status"] == status for _, one in every) for status in ORDER}
    yield (
        f"{len(every)} findings: "
        + ", ".join(f"{status} {n}" for status, n in counts.items() if n)
        + "."
    )
    yield ""
    rows = (
        [_bold(status), says, paper, because, f"`{name}`"]
        for name, (paper, says, status, because) in ((name, told.found(one)) for name, one in every)
    )
    yield from _table(("verdict", "finding", "paper", "because", "experiment"), rows)


def _numbers(results: dict[str, Any]) -> Iterator[str]:
    for one in results["experiments"]:
        yield f"### {one['name']}"
        yield ""
        yield f"{one['title']}: {one['reproduces']}; {one['runs']} runs."
        yield ""
        for remark in one["remarks"]:
            yield f"- {remark}"
        if one["remarks"]:
            yield ""
        if one["comparisons"]:
            yield from _table(told.COMPARED, map(told.compared, one["comparisons"]))
            yield ""


def _links(results: dict[str, Any]) -> Iterator[str]:
    links = {link: kind for one in results["experiments"] for link, kind in one["links"].items()}
    for kind in dict.fromkeys(sorted(links.values())):
        names = ", ".join(f"`{link}`" for link, one in sorted(links.items()) if one == kind)
        yield f"- {kind}: {names}"


def _inconsistent(results: dict[str, Any]) -> Iterator[str]:
    for title, remarks in results["inconsistent"].items():
        for remark in remarks:
            yield f"- *{title}*: {remark}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield _line(heads)
    yield "|---" * len(heads) + "|"
    yield from map(_line, rows)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _bold(status: str) -> str:
    return f"**{status}**" if status == judging.FAILS else status


PARTS = {
    "scores": _scores,
    "findings": _findings,
    "numbers": _numbers,
    "links": _links,
    "inconsistent": _inconsistent,
}
