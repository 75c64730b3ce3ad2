"""Draws the tables of the documentation from ``results.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results.json"
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
# Why the links of these rows do not.
SLOW_GROWTH = (
    "Where the rate lets the window grow so far, Reno's own saw-tooth loses more than was measured, and what lowers its losses is a "
    "longer queue. Linux of 2012 grew by ACKs rather than by what they acknowledge (net/ipv4/tcp_cong.c with tcp_abc = 0), with "
    "delayed ACKs half as fast and with half the losses; the simulated one does not."
)
REASONS = {
    "ctu-lte/2/ppp1": "Round trips of 43 ± 2 ms at a steady 2.7 Mbit/s and a window of 64 kB: 15 kB are on their way, and nothing "
    "that a capture at the modem could see holds the rest back. A queue before the point of capture would; links have "
    "none there.",
    "umass-up/1/verizon-ehrpd": SLOW_GROWTH,
    "umass-up/1/verizon-lte-mobile": SLOW_GROWTH,
    "umass-up/1/verizon-ehrpd-mobile": SLOW_GROWTH,
}

Rows = dict[str, dict[str, Any]]


def markdown(part: str = "rows") -> str:
    """Give a table: of all rows (``rows``), in a sentence (``sum``), or of figures left out (``left``)."""
    results = json.loads(RESULTS.read_text())
    if part == "sum":
        return _sum(results["rows"], results["seeds"])
    return _left(results.get("left_out", {})) if part == "left" else _rows(results["rows"])


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
    lines = [
        "| row | Mbit/s | RTT ms | handshake ms | loss % | variation | parameters |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        cells = [_cell(row["figures"].get(one)) for one in (*COUNTED, "throughput_cv")]
        lines.append(f"| `{name}` | {' | '.join(cells)} | {row['fitted']} |")
    return "\n".join(lines) + "\n"


def _left(rows: Rows) -> str:
    lines = ["| row | left out | measured | shown then | ratio |", "|---|---|---|---|---|"]
    for name, figures in rows.items():
        for figure, one in figures.items():
            shown, ratio = (f"{one[key]:.3g}" if key in one else "–" for key in ("shown", "ratio"))
            lines.append(
                f"| `{name}` | {NAMES[figure]} | {one['target']:.4g} | {shown} | {ratio} |"
            )
    return "\n".join(lines) + "\n"


def _cell(one: dict[str, Any] | None) -> str:
    """Write what is shown beside what was measured; bold where it is missed."""
    if one is None:
        return ""
    text = f"{_number(one.get('shown'))} / {_number(one['target'])}"
    return text if one["met"] else f"**{text}**"


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
