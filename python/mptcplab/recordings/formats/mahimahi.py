"""Mahimahi (Netravali et al., USENIX ATC 2015): a line per opportunity for 1500 bytes, in ms."""

from __future__ import annotations

from mptcplab.recordings.file import File, Options
from mptcplab.recordings.recording import Recording

SUFFIXES = {".up": "up", ".down": "down"}
# Milliseconds: decades.
MOST_DIGITS = 12


class Mahimahi:
    """A direction of a link."""

    name = "mahimahi"
    title = "Mahimahi: .up and .down, a line per 1500 bytes"
    reads = "every line, as it is → the element trace, which repeats it"
    empty = "times of a clock, delay, loss, radio, positions"
    licence = "not stated (GPLv3 for those that come with Mahimahi)"

    def matches(self, file: File) -> bool:
        """Say whether the suffix or the first lines are its."""
        return file.path.suffix in SUFFIXES or file.head.isdigit()

    def read(self, file: File, options: Options) -> list[Recording]:  # noqa: ARG002 - of no use here
        direction = SUFFIXES.get(file.path.suffix, file.direction or "down")
        times: list[int] = []
        for line, text in enumerate(file.text.splitlines(), 1):
            if not (time := text.strip()):
                continue
            if not (time.isascii() and time.isdigit()):
                raise ValueError(
                    f"{time[:40]!r} is not a whole number of milliseconds: mend or remove it", line
                )
            if len(time) > MOST_DIGITS:
                raise ValueError(f"{time[:40]} ms is no time of a trace: mend or remove it", line)
            if times and int(time) < times[-1]:
                raise ValueError(
                    f"{time} ms is before the {times[-1]} ms above it: sort the lines", line
                )
            times.append(int(time))
        if not times or times[-1] == 0:
            raise ValueError("holds no time above 0 ms, at which a trace begins again", 1)
        return [Recording(opportunities={direction: times})]


FORMAT = Mahimahi()
