"""Results as text and tables, the same on the terminal, on the page and in the documentation."""

from __future__ import annotations

import math
from typing import Any

from mptcplab.labels.text import UNKNOWN, figure, plural
from mptcplab.study import judging

Table = dict[str, Any]

#: Heads of the table of comparisons; those from the third on are numbers.
COMPARED = (
    "row",
    "what",
    "printed",
    "ours",
    "interval",
    "90 % of runs",
    "σ over runs",
    "n",
    "ln(ours/theirs)",
    "links",
)
COMPARED_TODAY = (*COMPARED, "today's stack")
SCORED = (
    "of",
    "links",
    "n",
    "mean |ln(ours/theirs)|",
    "within 10 %",
    "within ×1.5",
    "within 90 % of runs",
    "bias",
)
FOUND = ("paper", "finding", "verdict", "because")
#: Kinds of figures whose scores are in the summary.
PREDICTED = {
    "throughput": "throughput of a connection",
    "throughput of a part": "throughput of a path or subflow",
}
USES = {"predicted": "predicted", "fitted": "fitted to"}
#: Statuses of findings, as they are counted.
COUNTED = {
    judging.HOLDS: "reproduced",
    judging.DIRECTION: "in direction alone",
    judging.FITTED: "as fitted",
    judging.FAILS: "did not reproduce",
    judging.OPEN: "undecided",
    judging.CONTRADICTED: "against the paper's own rows",
    judging.UNJUDGED: "cannot be judged",
}


def compared(row: Table, *, today: bool = False) -> list[str]:
    """Give a comparison as the cells of ``COMPARED``."""
    unit = f" {row['unit']}" if row["unit"] else ""
    theirs = ("< " if row["below"] else "") + f"{row['theirs']:g}"
    if row["theirs_sd"] is not None:
        theirs += f" ({row['theirs_sd']:g})"
    elif row["theirs_se"] is not None:
        theirs += f" ± {row['theirs_se']:g}"
    known = row["low"] is not None and row["high"] is not None
    cells = [
        row["row"],
        row["what"] + unit,
        theirs,
        figure(row["ours"]),
        f"{figure(row['low'])} to {figure(row['high'])}" if known else UNKNOWN,
        predicted(row),
        figure(row["sigma"]),
        str(row["n"]),
        signed(row["log_error"]),
        origin(row),
    ]
    return [*cells, figure(row["today"])] if today else cells


def predicted(row: Table) -> str:
    """Give the interval of a run, and say whether what is printed lies outside it."""
    if row["inside"] is None:
        return UNKNOWN
    outside = "" if row["inside"] else ", outside"
    return f"{figure(row['predicted_low'])} to {figure(row['predicted_high'])}{outside}"


def scored(score: Table) -> list[str]:
    """Give a line of the scores as the cells of ``SCORED`` and a skill per naive predictor."""
    return [
        f"{score['kind']}, {USES[score['use']]}",
        score["origin"],
        str(score["n"]),
        interval(score["mean_absolute_log_error"], score["low"], score["high"]),
        f"{score['within_10_percent']} of {score['n']}",
        f"{score['within_factor_1_5']} of {score['n']}",
        f"{score['inside']} of {score['intervals']}" if score.get("intervals") else UNKNOWN,
        signed(score["mean_log_error"]),
    ]


def skills(score: Table, names: tuple[str, ...]) -> list[str]:
    """Give the skill against each naive predictor, with how many numbers it is over."""
    found = score["skills"]
    return [
        f"{signed(found[name]['skill'])} ({found[name]['n']})" if name in found else UNKNOWN
        for name in names
    ]


def found(finding: Table) -> list[str]:
    """Give a finding as the cells of ``FOUND``."""
    status = finding["status"]
    because = finding["because"]
    if (p_value := finding.get("p_corrected")) is not None:
        because += f"; corrected p {chance(p_value)}"
    if finding["assumed"]:
        because += f". {', '.join(finding['assumed'])}: assumed"
    for reason in ("unprinted", "against"):
        if finding.get(reason):
            because += f". {finding[reason]}"
    return [f"{finding['paper']}, {finding['where']}", finding["says"], status, because]


def verdict(results: Table) -> list[str]:
    """Summarise the results in a few lines."""
    findings = [one for table in results["experiments"] for one in table["findings"]]
    counts = [(status, sum(one["status"] == status for one in findings)) for status in COUNTED]
    lines = [
        f"{plural(len(findings), 'finding')}: "
        + ", ".join(f"{count} {COUNTED[status]}" for status, count in counts if count)
    ]
    for status in (judging.FAILS, judging.OPEN):
        says = [one["says"].removesuffix(".") for one in findings if one["status"] == status]
        if says:
            lines.append(f"{COUNTED[status]}: {'; '.join(says)}")
    for score in results["scores"]:
        if score["use"] == "predicted" and score["kind"] in PREDICTED:
            lines.append(_predicted(score))
    return lines


def origin(row: Table) -> str:
    """Name the links that a number depends on, and what their rows cannot give."""
    if not row["scored"]:
        return f"{row['origin']}, not scored"
    if row.get("beyond") is not None:
        return f"{row['origin']}, {figure(row['beyond'])} together"
    return str(row["origin"]) + (", fitted to" if row["fitted"] else "")


def interval(estimate: float | None, low: float | None, high: float | None) -> str:
    """Give an estimate with its interval."""
    if low is None or high is None:
        return figure(estimate)
    return f"{figure(estimate)} ({figure(low)} to {figure(high)})"


def chance(p_value: float) -> str:
    """Give a p-value, with its sign of comparison."""
    return "< 0.0001" if p_value < 0.0001 else f"= {p_value:.2g}"


def signed(value: float | None) -> str:
    """Give a number with its sign."""
    return UNKNOWN if value is None else f"{value:+.2f}".replace("-", "−")


def worth(score: Table) -> str:
    """Summarise predictions of a kind: how far off they are, and which guesses are better."""
    text = f"{score['kind']}: off by ×{math.exp(score['mean_absolute_log_error']):.2f} on average"
    for verb, names in (
        ("better than", [name for name, one in score["skills"].items() if one["skill"] > 0]),
        ("no better than", [name for name, one in score["skills"].items() if one["skill"] <= 0]),
    ):
        if names:
            text += f", {verb} {' and '.join(f'*{name}*' for name in names)}"
    return text


def _predicted(score: Table) -> str:
    skills = ", ".join(
        f"{signed(one['skill'])} over the predictor {name}" for name, one in score["skills"].items()
    )
    error = interval(score["mean_absolute_log_error"], score["low"], score["high"])
    return (
        f"{PREDICTED[score['kind']]}, {plural(score['n'], 'number')} predicted on "
        f"{score['origin']} links: mean "
        f"|ln(ours/theirs)| {error}" + (f"; skill {skills}" if skills else "")
    )
