"""The page of a study: scores and findings first, then every printed number beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mptcplab.charts.shape import Badge, Fact, Provenance, StudyPage, Table
from mptcplab.labels.text import plural
from mptcplab.study import formatting, outcome

NAME = "study.html"
SKILL = "1 − mean |ln(ours/theirs)| / mean |ln(naive/theirs)|: 1 is perfect, 0 as good as naive"
ORIGINS = {
    "calibrated": "fitted to measured single paths",
    "transferred": "made of a calibrated one",
    "assumed": "measured nowhere: shown, never scored",
}


def write(results: dict[str, Any], out: Path) -> Path:
    """Write the page beside the results."""
    from mptcplab.charts.html import write as write_page

    target = out / NAME
    write_page(describe(results), target)
    return target


def describe(results: dict[str, Any]) -> StudyPage:
    """Describe the page."""
    extent = results["extent"]
    experiments = results["experiments"]
    today = len(extent["stacks"]) > 1
    return StudyPage(
        title="The papers' experiments beside ours",
        subtitle=f"{plural(len(experiments), 'experiment')}, "
        f"{plural(sum(one['runs'] for one in experiments), 'run')}",
        badges=[
            Badge(extent["engine"], "the engine that ran it"),
            *(
                [Badge("quick", "fewer repetitions than a complete study")]
                if extent["quick"]
                else []
            ),
        ],
        verdict=formatting.verdict(results),
        tables=[
            _scores(results),
            *(table for one in experiments for table in _experiment(one, today)),
            _links(experiments),
        ],
        provenance=Provenance(
            facts=[Fact("mptcplab", results["mptcplab"]), Fact("build", results["build"])],
            remarks=[
                f"{title}: {one}"
                for title, list_ in results["inconsistent"].items()
                for one in list_
            ],
        ),
    )


def _scores(results: dict[str, Any]) -> Table:
    heads = [*formatting.SCORED, *(f"skill over {name}" for name in outcome.NAIVE)]
    rows = [
        [*formatting.scored(one), *formatting.skills(one, outcome.NAIVE)]
        for one in results["scores"]
    ]
    meanings = [None] * len(formatting.SCORED) + [SKILL] * len(outcome.NAIVE)
    return _table("scores", "How near ours are", heads, 2, rows, meanings)


def _experiment(one: dict[str, Any], today: bool) -> list[Table]:
    heads = formatting.COMPARED_TODAY if today else formatting.COMPARED
    compared = [formatting.compared(row, today=today) for row in one["comparisons"]]
    title = f"{one['name']}: {one['title']}"
    tables = [_table(one["name"], f"{title} ({one['reproduces']})", heads, 2, compared)]
    if one["findings"]:
        rows = [formatting.found(finding) for finding in one["findings"]]
        found = _table(
            f"{one['name']}-findings", f"{one['name']}: findings", formatting.FOUND, 4, rows
        )
        tables.append(found)
    return tables


def _links(experiments: list[dict[str, Any]]) -> Table:
    links = {link: kind for one in experiments for link, kind in one["links"].items()}
    rows = [[link, kind, ORIGINS[kind]] for link, kind in sorted(links.items())]
    return _table("links", "Links", ("link", "origin", "means"), 3, rows)


def _table(
    name: str,
    title: str,
    heads: Any,
    texts: int,
    rows: list[list[str]],
    meanings: list[str | None] | None = None,
) -> Table:
    numeric = [number >= texts for number in range(len(heads))]
    return Table(name, title, list(heads), numeric, rows, meanings or [None] * len(heads))
