"""Draws the tables of the documentation from ``results.json``."""

from __future__ import annotations

import json
import math
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from experiments.markdown import table
from experiments.study import changes, today
from mptcplab.labels.text import figure
from mptcplab.study import formatting, judging, outcome

HERE = Path(__file__).parent
# Scores and verdicts of the study before its questions, its statistics and the era's losses were put right.
BEFORE = HERE / "before.json"
# What the papers did, and what becomes of each item here.
ITEMS = HERE / "items.toml"
THRESHOLDS = HERE / "thresholds.json"
OVERSHOOT = HERE / "overshoot.json"
RESULTS, LINUX = HERE / outcome.NAME, HERE / "linux.json"
ORDER = (
    judging.FAILS,
    judging.OPEN,
    judging.DIRECTION,
    judging.HOLDS,
    judging.FITTED,
    judging.CONTRADICTED,
    judging.UNJUDGED,
)
# What predictions over calibrated links, and findings, were to reach, before links were of families: factors that figures are off by at
# most, figures that are nearer than every naive predictor, the part of printed numbers within intervals, and findings at most.
OFF = {"RTT": 1.25, "loss": 1.8}
NEARER = ("throughput", "handshake RTT")
INSIDE = 0.8
FOUND = {judging.FAILS: 3, judging.UNJUDGED: 8}


def markdown(part: str) -> str:
    """Give one part, by a name of ``PARTS``."""
    results = json.loads(RESULTS.read_text())
    return "\n".join(PARTS[part](results)) + "\n"


def _scores(results: dict[str, Any]) -> Iterator[str]:
    heads = [*formatting.SCORED, *(f"skill: {name}" for name in outcome.NAIVE)]
    rows = (
        [*formatting.scored(one), *formatting.skills(one, outcome.NAIVE)]
        for one in results["scores"]
    )
    yield from _table(heads, rows)


def _worth(results: dict[str, Any]) -> Iterator[str]:
    for score in results["scores"]:
        if score["use"] == "predicted":
            yield f"- {formatting.worth(score)}."


def _goals(results: dict[str, Any]) -> Iterator[str]:
    """Set what came out beside what was aimed at."""
    scores = {
        one["kind"]: one
        for one in results["scores"]
        if (one["use"], one["origin"]) == (outcome.PREDICTED, "calibrated")
    }
    rows = []
    for kind in NEARER:
        skills = scores[kind]["skills"]
        least = min(skills, key=lambda name: skills[name]["skill"])
        skill = skills[least]["skill"]
        said = f"skill {formatting.signed(skill)} against *{least}*, the least"
        rows.append((f"{kind} nearer than every naive predictor", said, skill > 0))
    for kind, most in OFF.items():
        off = math.exp(scores[kind]["mean_absolute_log_error"])
        rows.append((f"{kind} off by ×{most:g} at most, on average", f"×{off:.2f}", off <= most))
    inside, known = (sum(one[key] for one in scores.values()) for key in ("inside", "intervals"))
    rows.append(
        (
            f"{INSIDE:.0%} of printed numbers inside the 90 % prediction intervals",
            f"{inside} of {known}, {inside / known:.0%}",
            inside >= INSIDE * known,
        )
    )
    every = [found["status"] for one in results["experiments"] for found in one["findings"]]
    for status, most in FOUND.items():
        count = every.count(status)
        rows.append((f"at most {most} findings: *{status}*", str(count), count <= most))
    yield from _table(
        ("aimed at", "came out", "reached"),
        [
            (aim.replace("0%", "0 %"), said.replace("%", " %"), "yes" if reached else "no")
            for aim, said, reached in rows
        ],
    )


def _findings(results: dict[str, Any]) -> Iterator[str]:
    yield from _found(results, ORDER)


def _failures(results: dict[str, Any]) -> Iterator[str]:
    yield from _found(results, (judging.FAILS, judging.OPEN))


def _found(results: dict[str, Any], verdicts: Sequence[str]) -> Iterator[str]:
    """Give the findings with these verdicts, in their order."""
    every = [(one["name"], found) for one in results["experiments"] for found in one["findings"]]
    every = [one for one in every if one[1]["status"] in verdicts]
    every.sort(key=lambda one: verdicts.index(one[1]["status"]))
    rows = (
        [_bold(status), says, paper, because, f"`{name}`"]
        for name, (paper, says, status, because) in (
            (name, formatting.found(one)) for name, one in every
        )
    )
    yield from _table(("verdict", "finding", "paper", "because", "experiment"), rows)


def _verdicts(results: dict[str, Any]) -> Iterator[str]:
    """Count them, a row for each paper."""
    every = [found for one in results["experiments"] for found in one["findings"]]
    papers = sorted({found["paper"] for found in every})
    counts = Counter((found["paper"], found["status"]) for found in every)
    verdicts = ORDER[::-1]
    rows = [
        [paper, *(str(counts[paper, verdict] or "") for verdict in verdicts)] for paper in papers
    ]
    sums = [str(sum(found["status"] == verdict for found in every)) for verdict in verdicts]
    yield from _table(["paper", *verdicts], [*rows, [f"all {len(every)}", *sums]])


def _unjudged(results: dict[str, Any]) -> Iterator[str]:
    """Count what cannot be judged by what is not known: a link that nobody measured alone, or what no paper prints."""
    every = [found for one in results["experiments"] for found in one["findings"]]
    every = [found for found in every if found["status"] == judging.UNJUDGED]
    known = [found for found in every if not found["assumed"]]
    links = Counter(" and ".join(f"`{link}`" for link in found["assumed"]) for found in every)
    del links[""]
    yield (
        f"Of {len(every)} findings that cannot be judged {len(every) - len(known)} hang on a link that was not measured alone: "
        f"{', '.join(f'{count} on {link}' for link, count in links.most_common())}. "
        f"Of {len(known)} others the answer is not printed."
    )


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
            yield from _table(formatting.COMPARED, map(formatting.compared, one["comparisons"]))
            yield ""


def _settings(results: dict[str, Any]) -> Iterator[str]:
    """What the unknown settings do: a row for each, a column for each path, beside what is printed."""
    (one,) = (one for one in results["experiments"] if one["name"] == "eight-subflows-settings")
    for row in dict.fromkeys(number["row"] for number in one["comparisons"]):
        own = [number for number in one["comparisons"] if number["row"] == row]
        named = [(number, *number["what"].split(", ")) for number in own]
        whats = list(dict.fromkeys(what for _, what, _ in named))
        printed = {what: f"{number['theirs']:g}" for number, what, _ in named}
        lines = {"printed": printed}
        for number, what, setting in named:
            lines.setdefault(setting, {})[what] = figure(number["ours"])
        yield from _table(
            [f"{row}, Mbit/s", *whats],
            ([name, *(cells[what] for what in whats)] for name, cells in lines.items()),
        )
        yield ""


def _linux(results: dict[str, Any]) -> Iterator[str]:
    """Throughput in the experiments that ran on both engines, and what their findings ask."""
    linux = json.loads(LINUX.read_text())
    simulated = {
        (row["row"], row["what"]): row
        for one in results["experiments"]
        for row in one["comparisons"]
    }
    runs = sum(one["runs"] for one in linux["experiments"])
    yield f"{runs} runs, {sum(one['failed'] for one in linux['experiments'])} failed."
    yield ""
    heads = ("row", "what", "printed", "simulation", "Linux", "n")
    rows = [
        [*formatting.compared(row)[:3], figure(ours["ours"]), figure(row["ours"]), str(row["n"])]
        for one in linux["experiments"]
        for row in one["comparisons"]
        if (ours := simulated.get((row["row"], row["what"]))) is not None
        and row["what"].startswith(("throughput", "ratio"))
    ]
    yield from _table(heads, rows)
    yield ""
    yield from _table(
        ("finding", "on Linux"),
        (
            [finding["says"], finding["because"]]
            for one in linux["experiments"]
            for finding in one["findings"]
        ),
    )


def _links(results: dict[str, Any]) -> Iterator[str]:
    links = {link: kind for one in results["experiments"] for link, kind in one["links"].items()}
    for kind in dict.fromkeys(sorted(links.values())):
        names = ", ".join(f"`{link}`" for link, one in sorted(links.items()) if one == kind)
        yield f"- {kind}: {names}"


def _changed(results: dict[str, Any]) -> Iterator[str]:
    yield from changes.changes(json.loads(BEFORE.read_text()), results)


def _moved(results: dict[str, Any]) -> Iterator[str]:
    """Count the verdicts that are others now."""
    both = list(changes.verdicts(json.loads(BEFORE.read_text()), results).values())
    asked = [(old, new) for old, new in both if old and new]
    moved = Counter(pair for pair in asked if pair[0] != pair[1])
    said = [f"{count} from *{old}* to *{new}*" for (old, new), count in sorted(moved.items())]
    yield (
        f"Of {len(asked)} findings that were asked before, {moved.total()} have another verdict: {', '.join(said)}. "
        f"{sum(not new for _, new in both)} others were not what the papers print and are asked no more; "
        f"{sum(not old for old, _ in both)} are new."
    )


def _items(results: dict[str, Any]) -> Iterator[str]:
    """Say of every item of the papers what is done with it, with the verdicts of its experiments."""
    found = {
        one["name"]: Counter(finding["status"] for finding in one["findings"])
        for one in results["experiments"]
    }
    rows = (
        [
            one["id"],
            one["of"],
            one["what"],
            f"**{one['is']}**" if one["is"] == "no" else one["is"],
            _how(one),
            "; ".join(
                f"`{name}`{_counted(found.get(name))}" for name in one.get("experiments", [])
            ),
        ]
        for one in items()
    )
    yield from _table(("item", "where", "what", "here", "how, or why not", "experiments"), rows)


def _states(_: dict[str, Any]) -> Iterator[str]:
    """Count the items."""
    states = Counter(one["is"] for one in items())
    yield (
        f"Of {states.total()} items {states['yes']} are done, {states['part']} in part and "
        f"{states['no']} not."
    )


def items() -> list[dict[str, Any]]:
    """Give the items of the papers."""
    listed: list[dict[str, Any]] = tomllib.loads(ITEMS.read_text())["item"]
    return listed


def _how(one: dict[str, Any]) -> str:
    return f"{one['how']} [More]({one['page']})." if "page" in one else str(one["how"])


def _counted(statuses: Counter[str] | None) -> str:
    """Count the verdicts of an experiment, in their order."""
    said = ", ".join(
        f"{statuses[status]} {formatting.COUNTED[status]}"
        for status in ORDER[::-1]
        if statuses and statuses[status]
    )
    return f": {said}" if said else ""


def _today(_: dict[str, Any]) -> Iterator[str]:
    yield from today.counts()


def _beyond(results: dict[str, Any]) -> Iterator[str]:
    """Numbers that are more than what the paper's own single paths carry together."""
    rows = (
        [row["row"], *formatting.compared(row)[1:4], figure(row["beyond"])]
        for one in results["experiments"]
        for row in one["comparisons"]
        if row.get("beyond") is not None
    )
    yield from _table(("row", "what", "printed", "ours", "single paths together"), rows)


def _thresholds(_: dict[str, Any]) -> Iterator[str]:
    """Say what is left of the thresholds of each path, in packets."""
    runs = json.loads(THRESHOLDS.read_text())["runs"].values()
    for path, carrier in (("verizon", "Verizon's"), ("att", "AT&T's")):
        left = sorted(packets for run in runs for packets in run[path])
        yield (
            f"- {carrier}: {median(left):g} packets in the median of {len(runs)} runs, "
            f"{left[0]:g} to {left[-1]:g}."
        )


def _overshoot(_: dict[str, Any]) -> Iterator[str]:
    """Say of each path what part of its losses slow start overshot, alone and within MPTCP."""
    kept = json.loads(OVERSHOOT.read_text())
    rows = []
    for network, lost in kept["networks"].items():
        parts: dict[str, dict[str, str]] = {}
        for path, how, packets, early in lost:
            parts.setdefault(path, {})[how] = f"{early / packets:.0%}".replace("%", " %")
        rows += [[network, path, one["alone"], one["mptcp"]] for path, one in parts.items()]
    yield from _table(("eight subflows in", "path", "alone", "within MPTCP"), rows)


def _inconsistent(results: dict[str, Any]) -> Iterator[str]:
    for title, remarks in results["inconsistent"].items():
        for remark in remarks:
            yield f"- *{title}*: {remark}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    return table(_escaped(heads), map(_escaped, rows))


def _escaped(cells: Sequence[str]) -> list[str]:
    return [cell.replace("|", r"\|") for cell in cells]


def _bold(status: str) -> str:
    return f"**{status}**" if status == judging.FAILS else status


PARTS = {
    "scores": _scores,
    "worth": _worth,
    "goals": _goals,
    "verdicts": _verdicts,
    "failures": _failures,
    "findings": _findings,
    "unjudged": _unjudged,
    "numbers": _numbers,
    "settings": _settings,
    "linux": _linux,
    "links": _links,
    "inconsistent": _inconsistent,
    "items": _items,
    "states": _states,
    "beyond": _beyond,
    "changed": _changed,
    "moved": _moved,
    "today": _today,
    "thresholds": _thresholds,
    "overshoot": _overshoot,
}
