"""Draws the table of the documentation from ``results.json``."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from experiments.markdown import table

RESULTS = Path(__file__).parent / "results.json"
NAMES = {"tcp": ("MPTCP", "TCP"), "quic": ("MPQUIC", "QUIC")}
OUTAGES = {"none": "none", "wifi": "Wi-Fi, 4 s"}


def markdown() -> str:
    """Give throughputs and when transfers ended, a row for what ran with or without an outage."""
    results = json.loads(RESULTS.read_text("utf-8"))
    runs: list[dict[str, Any]] = results["runs"]
    paths = sorted({run["path"] or "" for run in runs}, key=lambda path: (path != "", path))
    lines = []
    for outage, said in OUTAGES.items():
        for protocol, (several, alone) in NAMES.items():
            for path in paths:
                own = [
                    run
                    for run in runs
                    if (run["protocol"], run["outage"], run["path"] or "")
                    == (protocol, outage, path)
                ]
                finished = [run for run in own if run["finished"]]
                lines.append(
                    [
                        f"{alone} over {path}" if path else several,
                        said,
                        _mean([run["throughput_mbps"] for run in finished]),
                        f"{fmean(run['elapsed_s'] for run in finished):.1f}",
                        f"{len(finished)} of {len(own)}",
                    ]
                )
    heads = ["over", "outage", "Mbit/s", "seconds", "finished"]
    late = sum(run["late"] for run in runs)
    return "\n".join(
        [
            *table(heads, lines),
            "",
            f"Mean ± σ of downloads over {results['duration']}; in {late} of {len(runs)} runs the emulator was late.",
            "",
        ]
    )


def _mean(values: list[float]) -> str:
    return f"{fmean(values):.1f} ± {stdev(values):.1f}"
