"""Writes a page for each paper: what its findings are worth today, from ``results.json``, ``today.json`` and ``linux.json``."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments.markdown import table
from mptcplab import measurements
from mptcplab.study import judging, outcome

HERE = Path(__file__).parent
PARTS: list[dict[str, Any]] = tomllib.loads((HERE / "today.toml").read_text())["part"]
PAPERS = tuple(dict.fromkeys(part["paper"] for part in PARTS))
HEADS = ("finding", "then", "today")
KNOWN = (("then", outcome.NAME), ("today", "today.json"), ("linux", "linux.json"))
INTRODUCTION = """\
What the findings of *{title}* ({source}) are worth today. *Then* is [the study](../study.md) with the TCP and MPTCP of 2012. *Today* is the same experiments over the
same links with the stack of today's Linux as it comes: CUBIC with HyStart, no cached threshold, Linux's scheduler, every pair of addresses joined. Both are simulated.
"""
ON_LINUX = """\
*On Linux* is Linux itself over the same links, with the controllers that the experiment names. There is one run of each, which decides nothing, and downloads of 100 MB carry 10 MB.
"""
NOT_RUN = "not run"


def page(paper: str) -> str:
    """Give the page of a paper."""
    results = _results()
    about = measurements.load().papers[paper]
    introduction = INTRODUCTION.format(title=about.title, source=about.source)
    if any(_same(results["linux"].get(name, []), one) for name, one in _named(results, paper)):
        introduction += ON_LINUX
    lines = [f"# Today: {about.title}", "", introduction]
    lines += [_counted(results, paper)]
    for part in PARTS:
        if part["paper"] == paper:
            lines += ["", f"## {part['title']}", "", part["about"], ""]
            lines += [f"- *Linux since:* {part['since']}", f"- *What remains:* {part['remains']}"]
            lines += ["", *_findings(results, paper, part["experiments"])]
    return "\n".join(lines) + "\n"


def counts() -> Iterator[str]:
    """Count for all papers which findings hold then and today."""
    results = _results()
    rows = []
    for paper in PAPERS:
        both = [pair for pair in _pairs(results, paper) if pair[1] is not None]
        kept = sum(_holds(then) and _holds(today) for then, today in both)
        lost = sum(_holds(then) and _fails(today) for then, today in both)
        new = sum(_fails(then) and _holds(today) for then, today in both)
        every = len(list(_pairs(results, paper)))
        cells = (every, len(both), kept, lost, new, len(both) - kept - lost - new)
        rows.append([f"[{paper}](papers/{paper}.md)", *map(str, cells)])
    heads = ("paper", "findings", "asked of today", "hold in both", "then only", "today only")
    yield from table((*heads, "undecided in one or both, or in neither"), rows)


def _counted(results: dict[str, Any], paper: str) -> str:
    every = list(_pairs(results, paper))
    both = [(then, today) for then, today in every if today is not None]
    if not both:
        return f"None of {len(every)} findings was asked of today's stack."
    kept = sum(_holds(then) and _holds(today) for then, today in both)
    were, hold = ("was" if len(both) == 1 else "were"), ("holds" if kept == 1 else "hold")
    return f"Of {len(every)} findings {len(both)} {were} asked of today's stack; {kept} {hold} with both, in direction at least."


def _findings(results: dict[str, Any], paper: str, names: list[str]) -> Iterator[str]:
    rows = []
    for name in names:
        for finding in results["then"].get(name, []):
            if finding["paper"] == paper:
                same = [_same(results[which].get(name, []), finding) for which in ("then", "today")]
                linux = _same(results["linux"].get(name, []), finding)
                rows.append(
                    [finding["says"], *map(_cell, same), linux["because"] if linux else NOT_RUN]
                )
    heads: tuple[str, ...] = (*HEADS, "on Linux")
    if all(row[-1] == NOT_RUN for row in rows):
        heads, rows = HEADS, [row[:-1] for row in rows]
    yield from table(heads, [[one.replace("|", r"\|") for one in row] for row in rows])


def _cell(finding: dict[str, Any] | None) -> str:
    """Give the verdict, and what it rests on."""
    if finding is None:
        return NOT_RUN
    assumed = ", on an assumed link" if finding["assumed"] else ""
    return f"*{finding['shown']}*{assumed}: {finding['because']}"


def _pairs(
    results: dict[str, Any], paper: str
) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None]]:
    """Give each finding of a paper, then and today."""
    for name, finding in _named(results, paper):
        yield finding, _same(results["today"].get(name, []), finding)


def _named(results: dict[str, Any], paper: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give each finding of a paper with the name of its experiment."""
    for name, findings in results["then"].items():
        yield from ((name, finding) for finding in findings if finding["paper"] == paper)


def _same(findings: list[dict[str, Any]], other: dict[str, Any]) -> dict[str, Any] | None:
    keys = ("paper", "where", "says")
    return next((one for one in findings if all(one[key] == other[key] for key in keys)), None)


def _holds(finding: dict[str, Any] | None) -> bool:
    return finding is not None and finding["shown"] in (judging.HOLDS, judging.DIRECTION)


def _fails(finding: dict[str, Any] | None) -> bool:
    return finding is not None and finding["shown"] == judging.FAILS


def _results() -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Read the findings of each experiment, by which stack it had."""
    return {
        which: {
            one["name"]: one["findings"]
            for one in json.loads((HERE / name).read_text())["experiments"]
        }
        for which, name in KNOWN
    }
