"""LENS (Zhao and Pan, MMSys 2024): IRTT over Starlink dishes, a row each 10 ms, as CSV.

Milliseconds; -1 where the probe was lost: in ``uplink``, ``downlink``, or in ``rtt`` where nobody
knows in which direction, and 0 then in the others. One-way delays hang on two clocks: some are
negative.
"""

from __future__ import annotations

from mptcplab.recordings import clock, table
from mptcplab.recordings.file import File, Options
from mptcplab.recordings.recording import STATED, Recording, Sample

LOST = -1
COLUMNS = ("timestamp", "rtt")
ONE_WAY = {"uplink": "up", "downlink": "down"}


class Lens:
    """Its CSV of IRTT, and that of ping, which has ``rtt`` alone."""

    name = "lens"
    title = "LENS (MMSys 2024): CSV of round trips and one-way delays over Starlink"
    reads = (
        "rtt → rtt_ms, or lost where it is -1; uplink, downlink → delay_up_ms, "
        "delay_down_ms where no "
        "clock was off, or lost_up, lost_down"
    )
    empty = "rates, radio, positions"
    licence = "CC BY-SA 4.0, as the data set says: what is made of it stands under it, too"

    def matches(self, file: File) -> bool:
        return file.columns[:2] == list(COLUMNS) and set(file.columns[2:]) <= ONE_WAY.keys()

    def read(self, file: File, options: Options) -> list[Recording]:
        recording = Recording(clock=STATED)
        for line, row in table.rows(file, COLUMNS, options):
            try:
                recording.samples.append(_sample(line, row))
            except ValueError as error:
                raise ValueError(str(error), line) from error
        # Where the clocks were apart, half of the round trip is nearer.
        delays = [value for one in recording.samples for value in _one_way(one)]
        apart = any(value < 0 for value in delays)
        if apart:
            recording.notes.append(
                "one-way delays below 0 show that clocks were apart: halves of round "
                "trips are taken"
            )
        for one in recording.samples:
            for name in ("rtt_ms",) if delays and not apart else ("delay_up_ms", "delay_down_ms"):
                one.values.pop(name, None)
        return [recording]


def _one_way(sample: Sample) -> list[float]:
    return [value for name, value in sample.values.items() if name.startswith("delay_")]


def _sample(line: int, row: table.Row) -> Sample:
    stamp = row["timestamp"]
    # Nanoseconds in that of IRTT, seconds in that of ping.
    at_ns = clock.unix(stamp, 1 if stamp.isdigit() and len(stamp) > 12 else clock.SECOND)
    sample = Sample(line, at_ns)
    cells = {name: table.number(row, name) for name in ("rtt", *ONE_WAY) if name in row}
    if cells["rtt"] < 0 and cells["rtt"] != LOST:
        raise ValueError(f"rtt is {row['rtt']}: it must be 0 or more, or -1 for a lost probe")
    delays = {ONE_WAY[name]: value for name, value in cells.items() if name in ONE_WAY}
    lost = [direction for direction, value in delays.items() if value == LOST and cells["rtt"] == 0]
    # Each probe counts in each direction; which lost it is not known of all.
    sample.values["lost"] = float(cells["rtt"] == LOST)
    sample.values.update({f"lost_{direction}": float(direction in lost) for direction in delays})
    if cells["rtt"] != LOST and not lost:
        sample.values["rtt_ms"] = cells["rtt"]
        sample.values.update(
            {f"delay_{direction}_ms": value for direction, value in delays.items()}
        )
    return sample


FORMAT = Lens()
