"""The confusion matrix, as a table of docs/probe.md."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from experiments.probe.cases import CASES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PAGE = Path(__file__).parents[2] / "docs/probe.md"
BEGIN, END = "<!-- matrix: experiments/probe/run.py -->\n", "<!-- end of matrix -->\n"
NAMES = {"clear": "·", "unknown": "?", "altered": "altered", "blocked": "blocked"}
FOUND = ("altered", "blocked")


def write(kept: Mapping[str, list[list[dict[str, Any]]]]) -> None:
    """Put the table into the page."""
    head, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    PAGE.write_text(f"{head}{BEGIN}{table(kept)}{END}{tail}", "utf-8")


def table(kept: Mapping[str, list[list[dict[str, Any]]]]) -> str:
    """Draw a row for each case and a column for each probe; where runs differ, how often each was."""
    cases = [case for case in CASES if case.name in kept]
    rows = {case.name: [row for run in kept[case.name] for row in run] for case in cases}
    probes = list(dict.fromkeys(row["probe"] for case in cases for row in rows[case.name]))
    lines = [f"| in the path | {' | '.join(probes)} |", f"|---|{'---|' * len(probes)}"]
    for case in cases:
        cells = []
        for probe in probes:
            verdicts = Counter(row["verdict"] for row in rows[case.name] if row["probe"] == probe)
            cells.append(_cell(verdicts, there=probe in case.found_by))
        lines.append(f"| {case.name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def wrong(kept: Mapping[str, list[list[dict[str, Any]]]]) -> list[str]:
    """Give what was told of something that was not there, and what was there and declared clear."""
    return [
        f"{case.name}: {row['probe']}: {row['verdict']}"
        for case in CASES
        for run in kept.get(case.name, [])
        for row in run
        if _is_wrong(row["verdict"], there=row["probe"] in case.found_by)
    ]


def _cell(verdicts: Counter[str], *, there: bool) -> str:
    if len(verdicts) == 1:
        return _said(next(iter(verdicts)), there=there)
    often = verdicts.most_common()
    return ", ".join(f"{_said(verdict, there=there)} {count}" for verdict, count in often)


def _said(verdict: str, *, there: bool) -> str:
    return f"**{NAMES[verdict]}**" if _is_wrong(verdict, there=there) else NAMES[verdict]


def _is_wrong(verdict: str, *, there: bool) -> bool:
    return verdict == "clear" if there else verdict in FOUND
