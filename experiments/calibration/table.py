"""Draws the tables of the documentation from ``results.json``."""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path
from statistics import median
from typing import Any

from experiments.calibration import curves
from experiments.calibration.hidden import SEGMENT_BYTES
from experiments.markdown import table

RESULTS = Path(__file__).parent / "results.json"
HIDDEN = Path(__file__).parent / "hidden.json"
NAMES = {
    "throughput": "throughput",
    "rtt": "RTT",
    "handshake_rtt": "handshake RTT",
    "loss": "loss",
    "throughput_cv": "variation",
    "rtt_sd": "RTT within a run",
}
# What a row has to show to count, where it was measured.
COUNTED = ("throughput", "rtt", "handshake_rtt", "loss")
FIGURES = (*COUNTED, "throughput_cv", "rtt_sd")
# Why the links of these rows do not.
REASONS = {
    "umass-tr/II/sunderland-verizon-ehrpd": "Losses alone hold its throughput, and are drawn. What is lost and how fast it is cannot both be met: the fit "
    "ends at three quarters of the loss, and the 30 runs here draw a little less.",
}

Rows = dict[str, dict[str, Any]]


def markdown(part: str = "rows") -> str:
    """Give a table of all rows (``rows``) or of figures left out (``left``), or either in a few lines (``sum``, ``errors``).

    ``hidden`` is the table of hidden links and what was found of them, ``curves`` that of what papers draw over time.
    """
    if part == "hidden":
        return _hidden(json.loads(HIDDEN.read_text()))
    if part == "curves":
        return _curves(json.loads(curves.RESULTS.read_text())["rows"])
    results = json.loads(RESULTS.read_text())
    if part == "sum":
        return _sum(results["rows"], results["seeds"])
    if part == "errors":
        return _errors(results["left_out"])
    return _left(results["left_out"]) if part == "left" else _rows(results["rows"])


def counts(row: dict[str, Any]) -> bool:
    """Say whether a row has a throughput, and shows every figure that it has."""
    figures = row["figures"]
    return "throughput" in figures and not _missed(row)


def _missed(row: dict[str, Any]) -> list[str]:
    return [name for name in COUNTED if name in row["figures"] and not row["figures"][name]["met"]]


def _sum(rows: Rows, seeds: int) -> str:
    judged = {name: row for name, row in rows.items() if "throughput" in row["figures"]}
    met = [name for name, row in judged.items() if counts(row)]
    fitted = sum(row["fitted"] for row in rows.values())
    figures = sum(len(row["figures"]) for row in rows.values())
    lines = [
        f"Over {seeds} seeds that none was fitted with, **{len(met)} of {len(judged)}** links with a throughput show every figure of "
        "their row: throughput, RTT and handshake RTT within max(σ, 10 %), loss within a factor of 1.5. "
        f"All {len(rows)} links have {fitted} fitted parameters for {figures} figures: {fitted / figures:.2f} per figure, which is why "
        "it matters how a figure comes out that the fit did not know (below).",
        "",
    ]
    missing: dict[str, list[str]] = {}
    for name in (name for name in judged if name not in met):
        missing.setdefault(REASONS.get(name, ""), []).append(f"`{name}` ({_names(judged[name])})")
    lines += [f"- {', '.join(names)}. {reason}".rstrip() for reason, names in missing.items()]
    return "\n".join(lines) + "\n"


def _names(row: dict[str, Any]) -> str:
    return " and ".join(NAMES[name] for name in _missed(row))


def _rows(rows: Rows) -> str:
    units = ("Mbit/s", "RTT ms", "handshake ms", "loss %", "variation", "RTT σ ms")
    lines = (
        [f"`{name}`", *(_cell(row["figures"].get(one)) for one in FIGURES), str(row["fitted"])]
        for name, row in rows.items()
    )
    return "\n".join(table(["row", *units, "parameters"], lines)) + "\n"


def _hidden(results: dict[str, Any]) -> str:
    """Set what was hidden beside what was found."""
    senders = {"cubic": "CUBIC", "reno": "Reno"}
    lines = []
    likely = 0
    for row in results["rows"]:
        hidden, found = row["hidden"], row["found"]
        link = f"{hidden['rate_mbps']:g}, {hidden['rtt_ms']:g} ms, {hidden['queue_bytes'] / 1000:g} kB, {hidden['loss_percent']:g} %"
        errors = (
            f"{found[name] / hidden[name] - 1:+.1%}".replace("%", " %").replace("-", "−")
            for name in ("rate_mbps", "rtt_ms", "queue_bytes")
        )
        packets = hidden["size_bytes"] / SEGMENT_BYTES
        lost, drawn = (packets * one["loss_percent"] / 100 for one in (hidden, found))
        # 95 % of counts of independent losses are within 1.96 of their deviations.
        likely += abs(drawn - lost) <= 1.96 * sqrt(lost)
        losses = f"{found['loss_percent']:.3f} %, {drawn:.0f} ({lost:.0f})"
        lines.append(
            [link, senders[hidden["sender"]], *errors, losses, f"{found['late_ms_p99']:.2f}"]
        )
    heads = ("hidden: Mbit/s, RTT, queue, loss", "sender", "rate", "RTT", "queue")
    version = ".".join(results["kernel"].split(".")[:2])
    return (
        "\n".join(
            [
                f"Hidden links in the emulator, found again from one transfer each with the sender of Linux {version}:",
                "",
                *table(
                    [*heads, "loss, packets (hidden)", "99 % of packets late by less than ms"],
                    lines,
                ),
                "",
                f"The losses are within what chance leaves of so few packets (95 %) in {likely} of {len(lines)}.",
            ]
        )
        + "\n"
    )


def _curves(rows: Rows) -> str:
    """Set what families show beside what is drawn."""
    heads = ("row", "drawn", "family", "weight", "variation", "best second, Mbit/s", "growth")
    lines = []
    for name, found in rows.items():
        figure, says = curves.CURVES[name]
        named = [f"`{name}`", f"{figure}: {says}"]
        for family, one in found.items():
            shown = (one[key] for key in ("weight", "variation", "peak_mbps", "growth"))
            lines.append([*named, family, *map(_number, shown)])
            named = ["", ""]
    return "\n".join(table(heads, lines)) + "\n"


def _errors(rows: Rows) -> str:
    """Say of each figure how far off it was where the fit did not know it."""
    lines = []
    for figure in FIGURES:
        # What is beyond a bound, or not, is off by no factor.
        known = (row[figure] for row in rows.values() if figure in row)
        found = [one for one in known if not (one.get("below") or one.get("above"))]
        # Nothing at all has no factor.
        factors = [max(one["ratio"], 1 / one["ratio"]) for one in found if one.get("ratio")]
        met = sum(one["met"] for one in found)
        if found:
            typical, largest = f"{median(factors):.2f}", f"{max(factors):.3g}"
            lines.append([NAMES[figure], str(len(found)), typical, largest, str(met)])
    heads = ("left out", "rows", "typical factor", "largest", "still met")
    return "\n".join(table(heads, lines)) + "\n"


def _left(rows: Rows) -> str:
    lines = (
        [f"`{name}`", *(_ratio(figures.get(one)) for one in FIGURES)]
        for name, figures in rows.items()
    )
    return "\n".join(table(["row", *(NAMES[one] for one in FIGURES)], lines)) + "\n"


def _ratio(one: dict[str, Any] | None) -> str:
    """Write a ratio; bold where the figure is missed."""
    if one is None:
        return ""
    text = f"{one['ratio']:.3g}" if "ratio" in one else "–"
    return text if one["met"] else f"**{text}**"


def _cell(one: dict[str, Any] | None) -> str:
    """Write what is shown beside what was measured; bold where it is missed."""
    if one is None:
        return ""
    bound = "< " if one.get("below") else "> " if one.get("above") else ""
    text = f"{_number(one.get('shown'))} / {bound}{_number(one['target'])}"
    return text if one["met"] else f"**{text}**"


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
