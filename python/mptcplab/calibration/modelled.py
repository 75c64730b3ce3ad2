"""A captured transfer as a scenario: a link for each path, and what befell the paths."""

from __future__ import annotations

from math import inf

from mptcplab._core import Error
from mptcplab.calibration import losses, start
from mptcplab.calibration.capture import CONTROLLER, LEAST_BYTES
from mptcplab.calibration.families import families
from mptcplab.calibration.measure import DATA_DIRECTIONS
from mptcplab.calibration.subject import ALL_WINDOW, Subject
from mptcplab.calibration.target import Target, rounded
from mptcplab.scenario.path import NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab._core import Tables

    Row = dict[str, Any]
    Span = tuple[float, float]

#: Bins of the throughput that a path's rate is read off, in seconds.
BIN_S = 0.05
# So many bytes, or a bin where more come in it, tell a rate. The path's is the best but for a
# tenth: what was held up comes together.
TRAIN_BYTES, BEST = 30_000, 0.9
# A queue that never overflowed is at least so long, or a round trip.
LEAST_QUEUE_MS = 50.0
DIRECTIONS = {data: direction for direction, data in DATA_DIRECTIONS.items()}
# Findings of times in which a path, or all of them, brought nothing.
OUTAGES = {"path_dead", "outage", "timeout_chain"}
# The family of a path whose losses come one by one.
SINGLE = "steady-single"
# A path whose round trips are hardly ever so many times as long as the least had no queue.
FILLED = 1.5
# A queue that lost packets was full, be it so short that no round trip shows it.
OVERFLOWS = {"losses_queue", "losses_unclear"}
# What was sent in an outage is sent again within so long.
AFTER_S = 1.0
# A subflow that began or ended later, or sooner, than so is a path that came or went.
LATE_S = 0.5
# Linux's first receive buffer, and from what part of its most on a window does not grow any more.
DEFAULT_WINDOW_BYTES, GROWN = 131_072, 0.9


def largest(tables: Tables) -> Row:
    """Give the largest transfer.

    Raises:
        Error: There is none that tells of its paths.
    """
    found = max(tables.rows("transfers"), key=lambda row: row["bytes"] or 0, default=None)
    if found is None or (found["bytes"] or 0) < LEAST_BYTES or not found["throughput_mbps"]:
        raise Error(f"no transfer of {LEAST_BYTES // 1000} kB or more: nothing to try remedies in")
    return found


def scenario_of(tables: Tables, transfer: Row, findings: list[Row]) -> Row:
    """Make a scenario of a transfer; ``tables`` have bins of ``BIN_S``, and samples.

    Raises:
        Error: What the links are made of is not in the captures.
    """
    connection = transfer["connection"]
    (whole,) = tables.rows("connections", connection=connection)
    own = [row for row in findings if row["connection"] == connection]
    subflows, flows = _carriers(tables, transfer)
    if any(flows[row["subflow"]]["rtt_ms_p99"] is None for row in subflows) or not subflows:
        raise Error(
            "no round-trip times, which remedies are tried with: they belong to the end that sends "
            "the data; capture there, or at both ends"
        )
    paths = _names(subflows)
    end_s = whole["start_s"] + transfer["elapsed_s"]
    silent = {number: _silences(tables, own, flows[number], end_s) for number in paths}
    scenario: Row = {
        "schema": 1,
        "transfer": {
            "direction": DIRECTIONS[transfer["direction"]],
            "size": f"{transfer['bytes']} B",
        },
        "link": {},
        "path": {},
        "mptcp": {"enabled": whole["protocol"] == "mptcp"},
        "tcp": {"congestion_control": CONTROLLER},
        "timeline": [],
    }
    for row in subflows:
        number, path = row["subflow"], paths[row["subflow"]]
        subject = _subject(tables, flows[number], row, silent[number])
        model = start.of(subject, families()[SINGLE] if (subject.burst_packets or 1) <= 1 else None)
        scenario["link"][path] = model.link(model.start)
        late = row["start_s"] - whole["start_s"] > LATE_S
        scenario["path"][path] = {"link": path, "backup": row["backup"], "attached": not late}
        scenario["timeline"] += _events(row, path, silent[number], whole["start_s"], end_s)
    if any(row["kind"] in {"receive_window", "path_dead", "head_of_line"} for row in own):
        scenario["tcp"] |= _window(tables, transfer)
    return scenario


def never_filled(tables: Tables, transfer: Row, findings: list[Row]) -> list[str]:
    """Name the paths that never had a queue: they may carry more than was seen."""
    connection = transfer["connection"]
    overflowed = {
        row["subflow"]
        for row in findings
        if row["connection"] == connection and row["kind"] in OVERFLOWS
    }
    subflows, flows = _carriers(tables, transfer)
    names = _names(subflows)
    return [
        names[number]
        for number in names
        if number not in overflowed
        and flows[number]["rtt_ms_p95"] <= FILLED * flows[number]["rtt_ms_min"]
    ]


def widest(tables: Tables, transfer: Row) -> str:
    """Name the path that delivered most."""
    subflows, flows = _carriers(tables, transfer)
    return _names(subflows)[max(flows, key=lambda number: _delivered(flows[number]))]


def _carriers(tables: Tables, transfer: Row) -> tuple[list[Row], dict[int, Row]]:
    """Give the subflows that delivered enough to make links of, and by number what they did."""
    connection = transfer["connection"]
    flows = {
        row["subflow"]: row
        for row in tables.rows("flows", connection=connection)
        if row["direction"] == transfer["direction"] and _delivered(row) >= LEAST_BYTES
    }
    rows = tables.rows("subflows", connection=connection)
    return [row for row in rows if row["subflow"] in flows], flows


def _delivered(flow: Row) -> int:
    """Give what a flow delivered; at its sender it may be unknown, what it carried is not."""
    known: int | None = flow["delivered_bytes"]
    carried: int = flow["bytes"]
    return carried if known is None else known


def _names(subflows: list[Row]) -> dict[int, str]:
    """Name paths as the subflows' are, where a scenario takes these names, else by number."""
    named = [row["path"] for row in subflows]
    known = len(set(named)) == len(named) and all(name and NAME.fullmatch(name) for name in named)
    return {row["subflow"]: row["path"] if known else f"path{row['subflow']}" for row in subflows}


def _subject(tables: Tables, flow: Row, subflow: Row, silent: list[Span]) -> Subject:
    """Give what calibration reads a link off: figures of a flow while its path was there."""
    lost = losses.apart(tables, flow, [(from_s, to_s + AFTER_S) for from_s, to_s in silent])
    least_ms, longest_ms = flow["rtt_ms_min"], flow["rtt_ms_p99"]
    if not lost.mostly_at_full_queue:
        longest_ms = max(longest_ms, least_ms + max(least_ms, LEAST_QUEUE_MS))
    return Subject(
        name="",
        title="",
        origin={},
        technology="",
        direction=DIRECTIONS[flow["direction"]],
        targets=(
            Target("throughput", _rate_mbps(tables, flow)),
            Target("rtt_p99", longest_ms),
            Target("handshake_rtt", min(subflow["handshake_rtt_ms"] or least_ms, least_ms)),
        ),
        transfers=(),
        loss_percent=lost.percent,
        burst_packets=lost.burst_packets,
        base_rtt_ms=least_ms,
    )


def _rate_mbps(tables: Tables, flow: Row) -> float:
    """Give the rate of a path: what it brought when it brought most."""
    rates: list[float] = []
    begun: list[tuple[int, int]] = []
    for row in losses.of_flow(flow, tables, "throughput"):
        begun = [(received + row["bytes"], bins + 1) for received, bins in begun]
        if row["bytes"]:
            begun.append((row["bytes"], 1))
        rates += [received / bins for received, bins in begun if received >= TRAIN_BYTES]
        begun = [(received, bins) for received, bins in begun if received < TRAIN_BYTES]
    if not rates:
        # A sender alone does not see which of two copies came first.
        raise Error(
            "the rate of a path, which remedies are tried with, does not show: what was sent over "
            "it was sent over others, too; capture at both ends"
        )
    rates.sort()
    return rates[int(BEST * (len(rates) - 1))] * 8e-6 / BIN_S


def _silences(tables: Tables, findings: list[Row], flow: Row, end_s: float) -> list[Span]:
    """Give when a path was dead: until between the last unanswered packet and the first answer."""
    resent = [
        row["at_s"]
        for row in losses.of_flow(flow, tables, "events")
        if row["event"] in losses.RESENT
    ]
    silent = []
    for row in findings:
        if row["kind"] in OUTAGES and row["subflow"] == flow["subflow"]:
            from_s, to_s = row["from_s"], row["to_s"]
            # What was answered first left a round trip before.
            unanswered_s = to_s - 2 * flow["rtt_ms_p99"] / 1e3 - BIN_S
            last_s = max((at for at in resent if from_s < at < unanswered_s), default=to_s)
            resumed_s = (last_s + to_s) / 2 if to_s < end_s - LATE_S else inf
            silent.append((from_s, resumed_s))
    return silent


def _events(subflow: Row, path: str, silent: list[Span], start_s: float, end_s: float) -> list[Row]:
    """Give what befell a path, with times from the connection's start."""
    events = [("attach", subflow["start_s"])] if subflow["start_s"] - start_s > LATE_S else []
    for from_s, to_s in silent:
        events.append(("blackout", from_s))
        if to_s < inf:
            events.append(("restore", to_s))
    if subflow["end_s"] is not None and subflow["end_s"] < end_s - LATE_S:
        events.append(("detach", subflow["end_s"]))
    return [
        {"at": f"{rounded(at - start_s, 6)} s", "path": path, "verb": verb} for verb, at in events
    ]


def _window(tables: Tables, transfer: Row) -> Row:
    """Give the receive buffer where the window that was announced held data up."""
    windows = [
        row["window_bytes"]
        for row in tables.rows("window", connection=transfer["connection"])
        if row["direction"] == transfer["direction"] and row["window_bytes"]
    ]
    if not windows:
        return {}
    most = max(windows)
    # A buffer that grows by itself begins with more than some are, and takes its time.
    if max(windows[: 1 + len(windows) // 10]) > GROWN * most or most < DEFAULT_WINDOW_BYTES:
        buffer = {"receive_buffer": f"{most} B", "receive_buffer_tuning": False}
    else:
        buffer = {"max_receive_buffer": f"{most} B"}
    return buffer | {"adv_win_scale": ALL_WINDOW}
