"""The JSON of iperf3 (``-J``, ``--json-stream``), as the client writes it."""

from __future__ import annotations

from typing import Any

from mptcplab.recordings.file import File, Options
from mptcplab.recordings.iperf3 import EVENT, tests
from mptcplab.recordings.recording import STATED, TCP, UDP, Recording, Sample

SECOND = 10**9


class Iperf3:
    """A test, an interval a row."""

    name = "iperf3"
    title = "iperf3: JSON of a client (-J, --json-stream)"
    reads = (
        "intervals[].sum.bits_per_second → down_mbps with -R, else up_mbps, with "
        "--bidir both; lost_percent → "
        "lost_down, streams[].rtt → rtt_ms, which holds the queue that the test itself filled"
    )
    empty = "what was omitted (-O), which path each stream took, radio, positions"
    licence = "not stated"

    def matches(self, file: File) -> bool:
        """Say whether it is JSON with intervals."""
        return file.head.startswith(EVENT) or (
            file.head.startswith("{") and '"intervals"' in file.text
        )

    def read(self, file: File, options: Options) -> list[Recording]:  # noqa: ARG002 - of no use here
        found = list(tests(file.text))
        if len(found) > 1:
            raise ValueError(f"holds {len(found)} tests: leave the one that is to be imported", 1)
        (document,) = found
        try:
            return [_recording(document)]
        except KeyError as error:
            said = document.get("error", "")
            raise ValueError(
                f"has no {error.args[0]}: is it of iperf3 -J? {said}".strip(), 1
            ) from error
        except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as error:
            raise ValueError("holds what iperf3 -J does not write there", 1) from error


def _recording(document: dict[str, Any]) -> Recording:
    test = document["start"]["test_start"]
    began_ns = round(document["start"]["timestamp"]["timesecs"] * SECOND)
    protocol, target = test["protocol"], test.get("target_bitrate") or 0
    recording = Recording(clock=STATED, rates=TCP if protocol == "TCP" else UDP)
    if protocol != "TCP" and target:
        recording.rates = f"{UDP}; {target / 1e6:g} Mbit/s were sent"
    if protocol != "TCP" and not test.get("reverse"):
        recording.notes.append("an upload over UDP shows what was sent, not what arrived")
    for interval in document["intervals"]:
        sums = [interval["sum"]]
        if "sum_bidir_reverse" in interval:
            sums.append(interval["sum_bidir_reverse"])
        if not sums[0].get("omitted"):
            values: dict[str, float] = {}
            for one in sums:
                values |= _rates(one, up=one["sender"])
            values |= _round_trip(interval["streams"])
            recording.samples.append(Sample(1, began_ns + round(sums[0]["start"] * SECOND), values))
    if not recording.samples:
        raise KeyError("intervals")
    return recording


def _rates(total: dict[str, Any], *, up: bool) -> dict[str, float]:
    values = {"up_mbps" if up else "down_mbps": total["bits_per_second"] / 1e6}
    if not up and "lost_percent" in total:
        values["lost_down"] = total["lost_percent"] / 100
    return values


def _round_trip(streams: list[dict[str, Any]]) -> dict[str, float]:
    """Give the mean of what the streams that send say: microseconds."""
    rtts = [one["rtt"] for one in streams if one.get("rtt")]
    return {"rtt_ms": sum(rtts) / len(rtts) / 1000} if rtts else {}


FORMAT = Iperf3()
