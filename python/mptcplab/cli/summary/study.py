"""A study: its scores, then its findings."""

from __future__ import annotations

from typing import Any

from mptcplab.cli.summary.page import Page
from mptcplab.labels import text
from mptcplab.study import formatting


def print_study(results: dict[str, Any], out: str) -> None:
    """Print the results, and where they are."""
    page = Page()
    for line in formatting.verdict(results):
        page.paragraph(line, indent="")
    page.line()
    for one in results["experiments"]:
        page.facts([page.style(one["name"], "strong"), one["title"], one["reproduces"]], indent="")
        if one["failed"]:
            page.paragraph(
                f"{text.plural(one['failed'], 'run')} failed: the same command tries again"
            )
        rows = [formatting.found(finding) for finding in one["findings"]]
        for paper, says, status, because in rows:
            page.paragraph(f"{status}: {says} ({paper})")
            page.paragraph(because, style="faint")
        for name, reason in one["drawings"].items():
            if reason is not None:
                page.paragraph(f"{name} is missing: {reason}", style="faint")
        page.line()
    page.paragraph(f"{out}/study.html shows every number, {out}/results.json holds it", indent="")
