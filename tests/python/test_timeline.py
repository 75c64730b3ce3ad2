"""What the timeline did stands in a summary in its place in time."""

from __future__ import annotations

import re
from pathlib import Path

from command import Run

SCENARIO = """\
schema = 1

[transfer]
direction = "download"
size = "3 MB"

[path.wifi]
rate = "8 Mbit/s"
delay = "10 ms"

[path.lte]
rate = "8 Mbit/s"
delay = "20 ms"

[[timeline]]
at = "500 ms"
path = "wifi"
verb = "blackout"

[[timeline]]
at = "1200 ms"
path = "wifi"
verb = "restore"
"""


def test_events_and_timeline_are_in_order_of_time(mptcplab: Run, tmp_path: Path) -> None:
    (tmp_path / "outage.toml").write_text(SCENARIO)
    done = mptcplab("run", "outage.toml", "--no-report", cwd=tmp_path)
    assert done.returncode == 0
    lines = re.findall(r"^ +(\d+\.\d{3}) s  (.*)$", done.stdout, re.M)
    times = [float(at) for at, _ in lines]
    assert times == sorted(times)
    timeline = [number for number, (_, text) in enumerate(lines) if text.startswith("timeline: ")]
    assert [times[number] for number in timeline] == [0.5, 1.2]
    # Something happened in between, or after.
    assert timeline[0] < len(lines) - 2
