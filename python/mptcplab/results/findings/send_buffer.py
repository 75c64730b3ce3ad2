"""The sender's buffer limited the transfer: only its state shows it."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby

from mptcplab import quantity
from mptcplab.labels.connections import SENDERS
from mptcplab.results.findings.remedies import (
    LARGER_SEND_BUFFER,
    LARGER_SEND_BUFFER_BESIDE,
    WHOLE_SEND_BUFFER,
    WHOLE_SEND_BUFFER_BESIDE,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.results.comparison import Comparison

    Row = dict[str, Any]

OFTEN = 0.2
# Samples say it of moments alone.
OFTEN_SAMPLED = 0.3
# Whose receiver takes nothing fills every send buffer.
FULL_ELSEWHERE = {"receive_window", "receiver_stuck"}
SHARED = ("connection", "subflow", "host", "at_ns", "queued_bytes")
FLYING = ("in_flight_packets", "cwnd_packets")
COUNTED = (*SHARED, *FLYING, "busy_ms", "buffer_limited_ms")
SAMPLED = (*SHARED, *FLYING, "unacknowledged_bytes")
# Of what plain TCP carries over each path, with the whole buffer.
FULL = 0.95
# What is written takes more memory than its bytes: of a buffer that is full, this part and more.
GREW = 0.4
# So little is no room, and so little waits for more to fill a segment.
SEGMENT_BYTES = 1460
# A path that is so many times slower holds up more than it carries once a buffer fills it.
FAR_SLOWER = 20.0


def find(comparison: Comparison, others: list[Row]) -> list[Row]:
    """Say so where a fifth of the sender's time and more was limited by the buffer."""
    mptcp = comparison.mptcp
    if mptcp.transfer is None or any(row["kind"] in FULL_ELSEWHERE for row in others):
        return []
    if _fills_paths(comparison):
        return []
    slower = _beside_far_slower(comparison)
    bulk = mptcp.scenario.get("transfer", {}).get("application", "bulk") == "bulk"
    # What the connection has written says more than what Linux counts for a subflow.
    if bulk and (samples := _samples(comparison, SAMPLED, "peer_window_bytes")):
        return list(_sampled(samples, _tuned_bytes(mptcp.scenario), slower=slower))
    if counted := list(_counted(_samples(comparison, COUNTED))):
        # The buffer is the connection's.
        part, _ = max(counted)
        return [_found(part, "; ".join(evidence for _, evidence in counted), slower=slower)]
    return []


def _beside_far_slower(comparison: Comparison) -> bool:
    """Whether plain TCP over the best path is far faster than over each other one in use."""
    best, alone = comparison.best_path, comparison.baselines
    paths = comparison.mptcp.scenario.get("path", {})
    others = [name for name, path in paths.items() if name != best and not path.get("backup")]
    if best is None or not others or not set(others) <= set(alone):
        return False
    rates = [alone[name].throughput_mbps or 0.0 for name in others]
    return FAR_SLOWER * max(rates) <= (alone[best].throughput_mbps or 0.0)


def _fills_paths(comparison: Comparison) -> bool:
    """Whether several paths together carried what plain TCP carries over each."""
    mptcp, alone = comparison.mptcp, comparison.baselines
    if len(alone) < 2 or set(alone) != set(mptcp.scenario.get("path", {})):
        return False
    rates = [run.throughput_mbps if run.outcome["finished"] else None for run in alone.values()]
    if None in rates or mptcp.throughput_mbps is None:
        return False
    return mptcp.throughput_mbps >= FULL * sum(filter(None, rates))


def _samples(comparison: Comparison, columns: tuple[str, ...], *perhaps: str) -> list[Row]:
    """Give the sender's samples that have these columns, in the order of their times."""
    mptcp, state = comparison.mptcp, comparison.mptcp.state
    if mptcp.transfer is None or not {*columns, *perhaps} <= set(state.columns):
        return []
    sender = SENDERS[mptcp.transfer["direction"]]
    own = state.filter(connection=mptcp.transfer["connection"], host=sender)
    known = own.select(*columns, *perhaps).drop_nulls(columns)
    return known.sort("at_ns", "subflow").rows(named=True)


def _counted(rows: list[Row]) -> Iterator[tuple[float, str]]:
    """Linux counts such time: give its part, and the evidence, of each subflow.

    It begins to count where a writer waits and nothing is queued. On a subflow of MPTCP the writer
    is the connection's, and the count may go on after it should have ended: such a count is left
    aside.
    """
    samples: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        samples[row["subflow"]].append(row)
    for subflow, seen in samples.items():
        row = seen[-1]
        part = row["buffer_limited_ms"] / row["busy_ms"] if row["busy_ms"] else 0.0
        if part >= OFTEN and not _goes_on(seen):
            evidence = (
                f"the kernel counted {row['buffer_limited_ms']:.0f} ms of waiting for the buffer "
                f"in {row['busy_ms']:.0f} ms with data to send"
            )
            yield part, f"{evidence} (subflow {subflow})" if len(samples) > 1 else evidence


def _goes_on(samples: list[Row]) -> bool:
    """Whether all time since a sample is counted where the window is full, and more is queued."""
    before = {"busy_ms": 0.0, "buffer_limited_ms": 0.0}
    for row in samples:
        busy_ms = row["busy_ms"] - before["busy_ms"]
        counted_ms = row["buffer_limited_ms"] - before["buffer_limited_ms"]
        full = row["in_flight_packets"] >= row["cwnd_packets"] and row["queued_bytes"] > 0
        if full and counted_ms >= busy_ms > 0:
            return True
        before = row
    return False


def _tuned_bytes(scenario: Row) -> float:
    """Give up to how much a send buffer grows; 0 where it has its size from the start."""
    tcp = scenario.get("tcp", {})
    most = tcp.get("send_buffer")
    return float(quantity.BYTES.parse(most)) if most and tcp.get("send_buffer_tuning") else 0.0


def _sampled(rows: list[Row], tuned_bytes: float, *, slower: bool) -> Iterator[Row]:
    """A bulk transfer has more to send until its last byte is written: the buffer had no room.

    That holds in simulations, and for connections of Linux's MPTCP, whose subflows count nothing
    where the connection's writer waits.
    """
    times = [list(sample) for _, sample in groupby(rows, key=lambda row: row["at_ns"])]
    written = [sample[0]["unacknowledged_bytes"] for sample in times]
    # Once all is written, what is not acknowledged only becomes less.
    last = max((at for at in range(1, len(times)) if written[at] > written[at - 1]), default=0)
    # A sample holds until the next one, however far that is.
    spans = [(sample, times[at + 1][0]["at_ns"]) for at, sample in enumerate(times[:last])]
    whole_ns = times[last][0]["at_ns"] - times[0][0]["at_ns"] if times else 0
    limited_ns = sum(
        until_ns - sample[0]["at_ns"] for sample, until_ns in spans if _is_limited(sample)
    )
    if limited_ns and limited_ns >= OFTEN_SAMPLED * whole_ns:
        evidence = (
            f"for {limited_ns / 1e9:.1f} of {whole_ns / 1e9:.1f} s nothing was queued, with "
            "room in the congestion windows and in the peer's window"
        )
        # Where it never was as large as it may become, a higher maximum changes nothing.
        grew = max(written) < GREW * tuned_bytes
        yield _found(limited_ns / whole_ns, evidence, whole=grew, slower=slower)


def _is_limited(sample: list[Row]) -> bool:
    """Whether all subflows could send more, the peer would take it, and nothing is there."""
    written, window = sample[0]["unacknowledged_bytes"], sample[0]["peer_window_bytes"]
    return (
        written > 0
        and (window is None or written + SEGMENT_BYTES <= window)
        and all(row["queued_bytes"] < SEGMENT_BYTES for row in sample)
        and all(row["in_flight_packets"] < row["cwnd_packets"] for row in sample)
    )


def _found(part: float, evidence: str, *, whole: bool = False, slower: bool) -> Row:
    remedies = {
        (False, False): LARGER_SEND_BUFFER,
        (False, True): LARGER_SEND_BUFFER_BESIDE,
        (True, False): WHOLE_SEND_BUFFER,
        (True, True): WHOLE_SEND_BUFFER_BESIDE,
    }
    return {
        "kind": "send_buffer",
        "message": f"the send buffer was too small {part:.0%} of the time".replace("%", " %"),
        "evidence": evidence,
        "remedy": remedies[whole, slower].words,
    }
