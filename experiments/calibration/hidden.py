"""Are hidden links found again? ``python -m experiments.calibration.hidden DIR``.

Linux sends once over a link of the emulator, in real time, and a link is fitted to the captures, which know nothing of the
hidden one. What was hidden and what was found go to ``hidden.json`` beside this file.
"""

from __future__ import annotations

import argparse
import json
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments import pool
from mptcplab import calibrate
from mptcplab.results.run import Run

RESULTS = Path(__file__).parent / "hidden.json"
SEGMENT_BYTES = 1448
# Runs that each try of the fit is simulated with.
RUNS = 6
SCENARIO = """\
schema = 1

[transfer]
direction = "download"
size = "{size_bytes} B"

[link.air]
uplink = [
  {{ element = "rate", rate = "10 Mbit/s" }},
  {{ element = "delay", delay = "{one_way_ms} ms" }},
]
downlink = [
  {{ element = "rate", rate = "{rate_mbps} Mbit/s", queue = {{ queue = "drop-tail", bytes = "{queue_bytes} B" }} }},
  {{ element = "delay", delay = "{one_way_ms} ms" }},
  {{ element = "loss", ratio = "{loss_percent} %" }},
]

[path.air]
link = "air"

[mptcp]
enabled = false
congestion_control = "{sender}"
"""


@dataclass(frozen=True)
class Hidden:
    """A link, and what is sent over it by whom."""

    rate_mbps: float
    rtt_ms: float
    queue_bytes: int
    loss_percent: float
    size_bytes: int
    sender: str = "cubic"

    @property
    def name(self) -> str:
        """Name it as a directory."""
        return f"{self.rate_mbps:g}-mbps-{self.sender}"

    def scenario(self) -> str:
        """Write it."""
        return SCENARIO.format(one_way_ms=f"{self.rtt_ms / 2:g}", **vars(self))

    def found(self, run: Run) -> pool.Figures:
        """Fit a link to the captures of a run."""
        captures = sorted(run.directory.glob("*.pcapng"))
        # Linux's CUBIC is what a capture is taken for.
        controller = None if self.sender == "cubic" else f"{self.sender}-linux"
        limited, delay, lost = calibrate(captures, controller=controller, runs=RUNS).link[
            "downlink"
        ]
        return {
            "rate_mbps": _number(limited["rate"]),
            "rtt_ms": 2 * _number(delay["delay"]),
            "queue_bytes": _number(limited["queue"]["bytes"]),
            "loss_percent": _number(lost["ratio"]),
        }


# Sizes leave some losses to find.
LINKS = (
    Hidden(2, 100, 60_000, 0.1, 8_000_000),
    Hidden(2, 100, 60_000, 0.1, 8_000_000, "reno"),
    Hidden(5, 60, 150_000, 0.02, 36_000_000),
    Hidden(8, 40, 60_000, 0.05, 15_000_000),
    Hidden(20, 30, 100_000, 0.02, 36_000_000),
)


def main() -> None:
    """Run, fit, and write."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("?")[0] + "?")
    options.add_argument("directory", type=Path, help="where figures of single runs are kept")
    options.add_argument("--at-once", type=int, default=1, help="runs at once")
    given = options.parse_args()
    jobs = {one: pool.Job(one.name, one.scenario(), "kernel", 1, one.found) for one in LINKS}
    done = pool.run(jobs.values(), given.directory, given.at_once)
    rows: list[dict[str, Any]] = [
        {"hidden": vars(one), "found": done[job]} for one, job in jobs.items() if job in done
    ]
    results = {"kernel": platform.release(), "rows": rows}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def _number(text: str) -> float:
    return float(text.split()[0])


if __name__ == "__main__":
    main()
