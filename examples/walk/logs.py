"""Writes what a phone would have logged on the walk of the scenario ``walk``: walk.gpx, radio.csv.

How far the walker is from the access point stands in the scenario; the way out leads north-east,
the way back more to the east. The signal of Wi-Fi follows from the distance, with a fading of a few
dB drawn from a fixed seed.
"""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

HERE = Path(__file__).parent
BEGAN = datetime(2026, 11, 25, 9, 30, tzinfo=UTC)
SECONDS = 91
# Metres from the access point, speed on the way there in m/s, and what is in the way in dB.
ROUTE = ((12, 1.0, 10), (60, 1.4, 10), (12, 1.4, 0), (3, 1.0, 0))
FIRST_M = 3.0
# In the middle of nowhere: 50° N 0° E is in a field.
LATITUDE, LONGITUDE = 50.0, 0.0
METRES_PER_DEGREE = 111_195
FIRST_DEG, TURN_DEG = 30, 60
POWER_DBM, AT_ONE_METRE_DB, EXPONENT = 20, 47, 3.5
RSRP_DBM = -105


def distance(at_s: float) -> tuple[float, float]:
    """Give metres from the access point, and what is in the way in dB."""
    here = FIRST_M
    for there, speed, walls in ROUTE:
        needed_s = abs(there - here) / speed
        if at_s < needed_s:
            return here + math.copysign(speed * at_s, there - here), walls
        at_s -= needed_s
        here = there
    return here, 0


def main() -> None:
    """Write both."""
    fading = random.Random(1)
    points, samples = [], []
    for second in range(SECONDS):
        at = f"{BEGAN + timedelta(seconds=second):%Y-%m-%dT%H:%M:%SZ}"
        metres, walls = distance(second)
        bearing = math.radians(FIRST_DEG + TURN_DEG * second / SECONDS)
        north = metres * math.cos(bearing) / METRES_PER_DEGREE
        east = metres * math.sin(bearing) / METRES_PER_DEGREE / math.cos(math.radians(LATITUDE))
        position = f'lat="{LATITUDE + north:.7f}" lon="{LONGITUDE + east:.7f}"'
        points.append(f"<trkpt {position}><time>{at}</time></trkpt>")
        loss_db = AT_ONE_METRE_DB + 10 * EXPONENT * math.log10(metres) + walls
        rssi_dbm = round(POWER_DBM - loss_db + fading.gauss(0, 2))
        samples.append(f"{at},wifi,wifi,{rssi_dbm},,")
        rsrp_dbm = round(RSRP_DBM + fading.gauss(0, 1.5))
        samples.append(f"{at},lte,lte,,{rsrp_dbm},{round(rsrp_dbm + 111 + fading.gauss(0, 1))}")
    gpx = ["<?xml version='1.0'?>", "<gpx version='1.1' creator='examples/walk/logs.py'"]
    gpx += ["  xmlns='http://www.topografix.com/GPX/1/1'>", "<trk><trkseg>", *points]
    (HERE / "walk.gpx").write_text("\n".join([*gpx, "</trkseg></trk>", "</gpx>"]) + "\n")
    head = "time,path,technology,rssi_dbm,rsrp_dbm,sinr_db"
    (HERE / "radio.csv").write_text("\n".join([head, *samples]) + "\n")


if __name__ == "__main__":
    main()
