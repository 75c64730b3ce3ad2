"""What figures are drawn of: a run that loses a path, with its radio and track."""

from __future__ import annotations

from pathlib import Path

import mptcplab as lab
from mptcplab.results.comparison import Comparison, open_comparison

PATH_LOST = ["transfer.duration=3s", "timeline.0.at=1s", "timeline.1.at=2s"]
RADIO = """\
time,path,technology,rsrp_dbm,rssi_dbm,sinr_db,down_mbps
2026-11-25T12:00:00.5Z,lte,lte,-97,-70,11,
2026-11-25T12:00:01.5Z,lte,lte,-99,-71,9,
2026-11-25T12:00:02.5Z,lte,lte,-112,-80,-2,
2026-11-25T12:00:00.5Z,wifi,wifi,,-55,,54
"""
GPX = """\
<gpx version="1.1"><trk><trkseg>
<trkpt lat="60" lon="179.999"><time>2026-11-25T12:00:00.5Z</time></trkpt>
<trkpt lat="60.001" lon="-180"><time>2026-11-25T12:00:01.5Z</time></trkpt>
<trkpt lat="60.001" lon="-179.999"><time>2026-11-25T12:00:02.5Z</time></trkpt>
</trkseg></trk></gpx>
"""


def annotated(directory: Path) -> Comparison:
    """Make the run in a directory, and annotate it."""
    lab.run("path-lost", out=directory / "lost", settings=PATH_LOST)
    (directory / "radio.csv").write_text(RADIO)
    (directory / "drive.gpx").write_text(GPX)
    radio, positions = directory / "radio.csv", directory / "drive.gpx"
    began = "2026-11-25T12:00:00Z"
    lab.annotate(directory / "lost", radio=radio, positions=positions, began=began)
    return open_comparison(directory / "lost")
