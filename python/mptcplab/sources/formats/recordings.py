"""Recordings of drives and pings: all formats of ``links import`` that have samples over time."""

from __future__ import annotations

from itertools import pairwise
from statistics import median

from mptcplab.recordings import file as files
from mptcplab.recordings.formats import formats
from mptcplab.recordings.recording import NONE, SUPPOSED, TCP, UDP
from mptcplab.sources.contents import SECOND, Contents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.recordings.formats import Format
    from mptcplab.recordings.recording import Recording, Sample
    from mptcplab.sources.file import File

# Those without samples, those that only names of columns tell, and what has a source of its own.
OTHERS = {"csv", "errant", "fcc", "iperf3", "mahimahi", "wetlinks"}
# A row holds until the next one, but no longer than so many usual distances of rows.
GAP = 1.5
RATES = {"down": "down_mbps", "up": "up_mbps"}


class Recordings:
    """What was measured of paths over time, a connection each."""

    name = "recording"
    title = "recordings of drives and pings, in the formats of mptcplab links import"
    reads = (
        "rates → transfers, flows and throughput of a connection per path; round trips of probes → "
        "rtt; radio → radio; positions → positions"
    )
    empty = "addresses, retransmissions; of probes that were lost, their number"

    def matches(self, file: File) -> bool:
        """Say whether one of the formats knows it."""
        return _format(file) is not None

    def read(self, file: File) -> Contents:
        form = _format(file)
        if form is None:
            raise ValueError("is of no format that is known", 1)
        text = files.of_text(file.path, file.text())
        found = form.read(text, files.Options())
        contents = Contents(form.name, file, has_clock=all(one.clock != NONE for one in found))
        for recording in found:
            recording.check()
            _add(contents, recording, recording.name or file.path.name.partition(".")[0])
            for note in (*text.notes, *recording.notes):
                contents.remark("recording", note)
            if recording.clock == SUPPOSED:
                contents.remark("supposed_clock", "its times have no zone, and are taken as UTC")
        if not contents.tables.get("connections"):
            raise ValueError("holds no row that counts", 1)
        return contents


def _format(file: File) -> Format | None:
    head = files.of_text(file.path, file.head)
    known = (one for name, one in formats().items() if name not in OTHERS)
    return next((one for one in known if one.matches(head)), None)


def _add(contents: Contents, recording: Recording, path: str) -> None:
    samples = sorted({one.at_ns: one for one in recording.samples}.values(), key=_moment)
    if not samples:
        return
    lengths = _lengths([one.at_ns for one in samples])
    rates = recording.rates or ""
    connection = contents.connection(
        "udp" if rates.startswith(UDP) else "tcp" if rates == TCP else "unknown",
        start_ns=samples[0].at_ns,
        end_ns=samples[-1].at_ns + lengths[-1],
        began="unknown",
        ended="open",
    )
    subflow = connection.subflow(path)
    for direction, column in RATES.items():
        bins = [
            (one.at_ns, length, round(one.values[column] * length / 8000))
            for one, length in zip(samples, lengths, strict=True)
            if column in one.values
        ]
        if not bins:
            continue
        elapsed_s = sum(length for _, length, _ in bins) / SECOND
        connection.moved(
            direction, {subflow: {"bytes": sum(count for *_, count in bins)}}, elapsed_s=elapsed_s
        )
        for each in (None, subflow):
            connection.bins(direction, bins, each)
        contents.remark(
            "rates", f"rates are {rates or 'of an unknown kind'}", connection=connection.number
        )
    for one in samples:
        if "rtt_ms" in one.values:
            connection.add(
                "rtt",
                subflow=subflow,
                direction="up",
                at_ns=one.at_ns,
                rtt_ms=one.values["rtt_ms"],
                record=one.line,
            )
        if one.radio:
            contents.add("radio", path=path, source=contents.name, at_ns=one.at_ns, **one.radio)
        if {"latitude_deg", "longitude_deg"} <= one.position.keys():
            contents.add("positions", source=contents.name, at_ns=one.at_ns, **one.position)


def _moment(sample: Sample) -> int:
    return sample.at_ns


def _lengths(times: list[int]) -> list[int]:
    """Give how long each row holds: until the next one, if that comes soon enough."""
    apart = [later - earlier for earlier, later in pairwise(times)]
    usual = median(apart) if apart else SECOND
    return [round(min(one, GAP * usual)) for one in (*apart, usual)]


SOURCE = Recordings()
