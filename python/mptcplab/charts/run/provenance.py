"""Where the numbers come from, and how to get them again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from mptcplab import _core
from mptcplab.charts.run.subject import Subject
from mptcplab.charts.shape import Document, Fact, Provenance
from mptcplab.labels import text
from mptcplab.labels.commands import typed_command
from mptcplab.results.labels import engine


def provenance(subject: Subject) -> Provenance:
    """Give what is known of it."""
    said = remarks(subject)
    if subject.run is None:
        return Provenance(_of_captures(subject), said)
    about = subject.run.about
    documents = [*_documents(subject.scenario_text, about)]
    return Provenance(_of_run(about), said, _again(about), documents)


def remarks(subject: Subject) -> list[str]:
    """Give what limits trust in the numbers of its connection."""
    own = subject.connection["connection"]
    rows = subject.analysis.diagnostics.iter_rows(named=True)
    said = (text.clean(row["message"]) for row in rows if row["connection"] in (None, own))
    return list(dict.fromkeys(said))


def _of_captures(subject: Subject) -> list[Fact]:
    connections = subject.analysis.connections.height
    return [
        Fact("captures", text.clean(", ".join(subject.captures))),
        Fact("connection", f"{subject.connection['connection']} of {text.count(connections)}"),
        Fact("captured at", subject.connection["vantage"] or "unknown"),
        Fact("mptcplab", _core.VERSION),
    ]


def _of_run(about: dict[str, Any]) -> list[Fact]:
    facts = [
        Fact("engine", engine(about)),
        Fact("seed", str(about["seed"])),
        Fact("mptcplab", f"{about['mptcplab']}, build {about['identity']['build']}"),
        Fact("platform", f"{about['platform']}, Python {about['python']}"),
        Fact("started", about["started"]),
        Fact("ended", about["ended"]),
        Fact("outcome", str(about["outcome"]["reason"])),
        Fact("command", typed_command(about["command_line"])),
        *(Fact(f"sha256 of {name}", digest) for name, digest in about["sha256"].items()),
    ]
    facts += [Fact(*one) for one in _surroundings(about)]
    if "kernel" in about:
        kernel = about["kernel"]
        facts.insert(1, Fact("kernel", f"{kernel['release']} {kernel['version']}"))
    return [Fact(fact.name, text.clean(fact.value)) for fact in facts]


def _surroundings(about: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Describe the sources of radio and positions, their longest gaps, and why there are gaps."""
    for table, sources in about.get("surroundings", {}).items():
        for one in sources:
            name = " of ".join(filter(None, (table, one.get("path"))))
            description = f"{text.plural(one['rows'], 'row')} from {one['source']}"
            if one["rows"]:
                description += f", none for up to {text.seconds(one['longest_gap_s'])}"
            yield name, "; ".join(filter(None, (description, one["why"])))


def _again(about: dict[str, Any]) -> str:
    if "programs" in about:
        return typed_command(about["command_line"])
    return f"mptcplab run scenario.toml --seed {about['seed']} --engine {about['engine']}"


def _documents(scenario: str, about: dict[str, Any]) -> Iterator[Document]:
    yield Document("The scenario in full", "scenario.toml", scenario)
    if "kernel" in about:
        settings = json.dumps(about["kernel"], indent=2)
        yield Document("Configuration and settings of the kernels", "kernel.json", settings)
