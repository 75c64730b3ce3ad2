"""The confusion matrix, as a table of docs/probe.md."""

from __future__ import annotations

from pathlib import Path

from experiments.probe.cases import CASES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PAGE = Path(__file__).parents[2] / "docs/probe.md"
BEGIN, END = "<!-- matrix: experiments/probe/run.py -->\n", "<!-- end of matrix -->\n"
NAMES = {"clear": "·", "unknown": "?", "altered": "altered", "blocked": "blocked"}
FOUND = ("altered", "blocked")


def write(kept: Mapping[str, list[dict[str, str]]]) -> None:
    """Put the table into the page."""
    head, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    PAGE.write_text(f"{head}{BEGIN}{table(kept)}{END}{tail}", "utf-8")


def table(kept: Mapping[str, list[dict[str, str]]]) -> str:
    """Draw a row for each case and a column for each probe that ever told of something."""
    cases = [case for case in CASES if case.name in kept]
    probes = list(dict.fromkeys(row["probe"] for case in cases for row in kept[case.name]))
    lines = [f"| in the path | {' | '.join(probes)} |", f"|---|{'---|' * len(probes)}"]
    for case in cases:
        verdicts = {row["probe"]: row["verdict"] for row in kept[case.name]}
        cells = []
        for probe in probes:
            verdict = verdicts.get(probe)
            wrong = (verdict in FOUND) and probe not in case.found_by
            cell = NAMES[verdict] if verdict else ""
            cells.append(f"**{cell}**" if wrong else cell)
        lines.append(f"| {case.name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def wrong(kept: Mapping[str, list[dict[str, str]]]) -> list[str]:
    """Give what was told of something that was not there, and what was there and declared clear."""
    faults = []
    for case in CASES:
        for row in kept.get(case.name, []):
            told, there = row["verdict"], row["probe"] in case.found_by
            if (told in FOUND and not there) or (told == "clear" and there):
                faults.append(f"{case.name}: {row['probe']}: {told}")
    return faults
