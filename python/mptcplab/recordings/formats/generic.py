"""Any CSV with a line of names: those of quantities, or others that ``--column`` gives."""

from __future__ import annotations

from collections.abc import Mapping

from mptcplab.messages import nearest
from mptcplab.recordings import clock as clocks
from mptcplab.recordings import table
from mptcplab.recordings.file import File, Options
from mptcplab.recordings.recording import NONE, QUANTITIES, STATED, UNKNOWN, Recording, Sample

# What may be said of times: of a clock, or from the start.
UNIX = {"time_ms": clocks.MILLI, "time_us": clocks.MICRO, "time_ns": 1}
TIMES = ("time", *UNIX, "seconds")
FACTORS = {
    "down_kbps": ("down_mbps", 1e-3),
    "down_bps": ("down_mbps", 1e-6),
    "down_bytes_per_s": ("down_mbps", 8e-6),
    "up_kbps": ("up_mbps", 1e-3),
    "up_bps": ("up_mbps", 1e-6),
    "up_bytes_per_s": ("up_mbps", 8e-6),
    "rtt_s": ("rtt_ms", 1e3),
    "loss_percent": ("lost", 0.01),
    "loss_down_percent": ("lost_down", 0.01),
    "loss_up_percent": ("lost_up", 0.01),
    "speed_kmph": ("speed_mps", 1 / 3.6),
    "speed_mph": ("speed_mps", 0.44704),
}
KNOWN = (*TIMES, *QUANTITIES, *FACTORS, *table.RADIO, *table.POSITION)


class Generic:
    """A CSV of one's own."""

    name = "csv"
    title = (
        "any CSV with a line of names: these, or --column time=… --column down_mbps=… says "
        "which is which"
    )
    reads = ", ".join(dict.fromkeys(KNOWN))
    empty = "columns of other names, or, with --column, what it does not name"
    licence = "not stated"

    def matches(self, file: File) -> bool:
        """Say whether its columns have names of quantities, one of them of the time."""
        named = _named(file)
        return len(named) > 1 and len(named.keys() & set(TIMES)) == 1

    def read(self, file: File, options: Options) -> list[Recording]:
        columns = options.columns or _named(file)
        for key in columns:
            if key not in KNOWN:
                raise ValueError(
                    f"there is no quantity {key!r} for --column; {nearest(key, KNOWN)}", 1
                )
        times = [key for key in TIMES if key in columns]
        if len(times) != 1:
            raise ValueError(
                "say which column is the time: --column time=NAME, or seconds=NAME from the start",
                1,
            )
        clock = clocks.Clock(options.zone)
        recording = Recording(rates=UNKNOWN)
        for line, row in table.rows(file, tuple(columns.values()), options):
            try:
                recording.samples.append(
                    _sample(line, row, columns, times[0], clock, recording.notes)
                )
            except ValueError as error:
                raise ValueError(str(error), line) from error
        recording.clock = (
            NONE if times[0] == "seconds" else STATED if times[0] in UNIX else clock.state
        )
        recording.notes[:0] = clock.notes
        return [recording]


def becomes(key: str) -> str:
    """Say what a quantity is, whatever its unit; times are all one."""
    return "time" if key in TIMES else FACTORS.get(key, (key,))[0]


def _named(file: File) -> dict[str, str]:
    """Give the columns that have the names of quantities."""
    return {name: name for name in file.columns if name in KNOWN}


def _sample(
    line: int,
    row: table.Row,
    columns: Mapping[str, str],
    time: str,
    clock: clocks.Clock,
    notes: list[str],
) -> Sample:
    stamp = row[columns[time]]
    if time == "seconds":
        at_ns = round(table.number(row, columns[time]) * clocks.SECOND)
    else:
        at_ns = clocks.unix(stamp, UNIX[time]) if time in UNIX else clock.read(stamp)
    sample = Sample(line, at_ns)
    for key, name in columns.items():
        if key not in TIMES and row[name] not in table.MISSING:
            quantity, factor = FACTORS.get(key, (key, 1))
            table.put(sample, table.Column(name, quantity, factor), row[name], None, notes)
    return sample


FORMAT = Generic()
