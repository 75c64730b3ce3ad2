"""Connections in full: what each subflow carried, what happened, and what limits trust in them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from mptcplab.analysis import Measured
from mptcplab.cli.summary import IN_FULL
from mptcplab.cli.summary.events import Line, print_events
from mptcplab.cli.summary.page import Page
from mptcplab.cli.summary.remarks import print_remarks
from mptcplab.cli.summary.subflows import print_reasons, print_subflows
from mptcplab.labels import quality, text
from mptcplab.labels.connections import (
    SENDERS,
    begins_s,
    carried,
    delivered,
    is_datagrams,
    is_mptcp,
    names_of,
    protocol,
)
from mptcplab.labels.events import changes, too_late
from mptcplab.metrics import of_runs
from mptcplab.results.run import Run, StoredTables
from mptcplab.results.run_metrics import of_transfer

Row = dict[str, Any]

# What needs no remark where there was no connection.
EMPTY = frozenset({"no_tcp"})


def print_measured(
    page: Page, tables: StoredTables, *, run: Run | None = None, analyze: str = ""
) -> None:
    """Print the connections in full, the events of the run's timeline, and the remarks.

    Of many connections without a run's transfer among them, print what they come to; ``analyze`` is
    the command that shows one of them.
    """
    count = len(tables.table("connections"))
    if count > IN_FULL and run is None:
        from mptcplab.cli.summary.overview import print_overview

        print_overview(page, tables, count, analyze=analyze)
        print_remarks(page, tables)
    elif count:
        print_connections(page, tables, one=False, run=run)
        if run is not None:
            _print_rest(page, run)
        print_remarks(page, tables)
    else:
        page.paragraph("there was no connection", first="! ", style="warning")
        print_remarks(page, tables, but=EMPTY)


ARROWS = {"up": "↑ up", "down": "↓ down"}
VANTAGES = {
    "client": "captured at the client",
    "server": "captured at the server",
    "both": "captured at both ends",
    None: "end of capture unknown",
}
ENDED = {
    "closed": "closed",
    "half-closed": "half closed",
    "fastclose": "ended by MP_FASTCLOSE",
    "reset": "reset",
    "open": "still open at the end of the capture",
}
SURE = 0.9
# All times count from the first packet of the captures.
STARTS_LATE_S = 0.0005
MOST_EVENTS = 12
# Handshakes of which no subflow came.
FAILED = {"refused", "unanswered", "unfinished"}


def print_connections(page: Page, tables: Measured, *, one: bool, run: Run | None = None) -> None:
    """Print all connections of the tables; the run's timeline goes with that of the transfer."""
    transfers = 0 if run is None or run.transfer is None else run.transfer["connection"]
    missing = {
        row["connection"]
        for row in tables.rows("diagnostics")
        if row["diagnostic"] == "path_missing"
    }
    silent = sum(row["diagnostic"] == "not_captured" for row in tables.rows("diagnostics"))
    for number, connection in enumerate(tables.rows("connections")):
        if number:
            page.line()
        rows = {
            name: list(tables.rows(name, connection=connection["connection"]))
            for name in ("transfers", "subflows", "flows")
        }
        _print_head(page, connection, rows["subflows"])
        names = names_of(rows["subflows"])
        lacks_path = connection["connection"] in missing
        for transfer in _by_size(rows["transfers"]):
            # What is missing carried something, too.
            carrier = "" if lacks_path else _only_carrier(transfer, rows["flows"], names)
            of_it = of_transfer(rows["flows"], transfer)
            _print_transfer(page, transfer, of_it, carrier, begins_s(connection))
            if connection.get("source") is not None:
                _print_smoothed(page, tables, transfer)
        print_subflows(page, rows["subflows"], rows["flows"], names)
        if connection.get("source") is None:
            print_reasons(
                page,
                connection,
                rows["transfers"],
                rows["flows"],
                path_missing=lacks_path,
                silent_ends=silent,
            )
        print_events(
            page,
            tables,
            connection,
            names,
            alone=len(rows["subflows"]) == 1,
            limit=None if one else MOST_EVENTS,
            others=_changes(run) if run and connection["connection"] == transfers else [],
        )


def _print_head(page: Page, connection: Row, subflows: list[Row]) -> None:
    client = text.endpoint(connection["client_address"], connection["client_port"])
    server = text.endpoint(connection["server_address"], connection["server_port"])
    name = f"connection {connection['connection']}"
    page.line(f"{page.style(name, 'strong')}  {page.style(f'{client} → {server}', 'strong')}")
    page.facts(_facts(connection, subflows))


def _facts(connection: Row, subflows: list[Row]) -> list[str]:
    fallback = connection["fallback"]
    facts = [protocol(connection)]
    if fallback is not None:
        facts.append(f"fell back to TCP: {text.clean(fallback)}")
    if is_mptcp(connection):
        facts += _subflows(connection["subflows"], subflows)
    elif connection["protocol"] == "quic" and connection["subflows"] > 1:
        facts.append(text.plural(connection["subflows"], "path"))
    if connection["duration_s"] is not None:
        facts.append(text.seconds(connection["duration_s"]))
    if begins_s(connection):
        facts.append(f"starts on {text.date(connection['start_ns'])}, its times count from there")
    elif connection["start_s"] >= STARTS_LATE_S:
        facts.append(f"starts at {text.at(connection['start_s'])}")
    if connection["began"] == "midway":
        facts.append("began before the capture")
    if not is_datagrams(connection):
        facts.append(ENDED.get(connection["ended"], str(connection["ended"])))
    if connection.get("source") is None:
        return [*facts, _vantage(connection)]
    return [*(fact.replace("the capture", "the file") for fact in facts), _source(connection)]


def _subflows(count: int, subflows: list[Row]) -> list[str]:
    without = [row for row in subflows if row["handshake"] in FAILED]
    failed = Counter(row["handshake"] for row in without if row["kind"] == "join")
    pending = sum(row["handshake"] == "pending" for row in subflows)
    stray = sum(row["handshake"] == "stray" for row in subflows)
    facts = [text.plural(count - len(without) - pending - stray, "subflow")]
    facts += [f"first handshake {row['handshake']}" for row in without if row["kind"] == "initial"]
    if failed:
        how = ", ".join(f"{text.count(number)} {outcome}" for outcome, number in failed.items())
        facts.append(f"{text.plural(failed.total(), 'failed join')} ({how})")
    if pending:
        facts.append(f"{text.plural(pending, 'join')} pending at the end")
    return facts


def _source(connection: Row) -> str:
    tool, vantage = text.clean(connection["source"]), connection["vantage"]
    if vantage == "both":
        return f"as {tool} tells of both ends"
    end = "" if vantage is None else f" at the {vantage}"
    return f"as {tool}{end} tells"


def _vantage(connection: Row) -> str:
    vantage, sure = connection["vantage"], connection["vantage_confidence"]
    description = VANTAGES.get(vantage, f"captured at {vantage}")
    if vantage is not None and sure is not None and sure < SURE:
        samples = text.plural(connection["vantage_samples"], "sample")
        description += f" (confidence {sure:.2f}, {samples})"
    return description


def _print_transfer(
    page: Page, transfer: Row, flows: list[Row], carrier: str, from_s: float
) -> None:
    moved = f"{delivered(transfer)}{carrier}"
    if transfer["elapsed_s"] is not None:
        moved += f" in {text.seconds(transfer['elapsed_s'])}"
    if transfer["throughput_mbps"] is not None:
        moved += f" = {text.rate(transfer['throughput_mbps'])}"
    facts = [moved]
    if transfer["reinjected_bytes"]:
        facts.append(f"{text.size(transfer['reinjected_bytes'])} reinjected")
    if transfer["out_of_order_delay_ms_mean"] is not None and transfer["out_of_order_segments"]:
        facts.append(
            f"out-of-order delay {text.milliseconds(transfer['out_of_order_delay_ms_mean'])}, "
            f"p95 {text.milliseconds(transfer['out_of_order_delay_ms_p95'])}"
        )
    # One alone is what the line begins with.
    if (responses := transfer.get("responses") or 0) > 1:
        facts.append(
            f"{text.plural(responses, 'response')} in "
            f"{text.milliseconds(transfer['response_time_ms_mean'])}, "
            f"p95 {text.milliseconds(transfer['response_time_ms_p95'])}"
        )
    facts += quality.facts(transfer)
    gap, start = transfer["longest_gap_ms"], transfer["longest_gap_start_s"]
    if gap is not None:
        moment = "" if start is None else f" at {text.at(start - from_s)}"
        facts.append(f"longest gap {text.milliseconds(gap)}{moment}")
    if transfer["coefficient_of_variation"] is not None:
        facts.append(f"CV {transfer['coefficient_of_variation']:.2f}")
    facts += [
        f"{one.line} {one.show(value)}"
        for one in of_runs("line")
        if not one.pooled and (value := one.of(transfer, flows)) is not None
    ]
    arrow = ARROWS[transfer["direction"]]
    page.facts(facts, first=f"{arrow:<6}  ")


def _print_smoothed(page: Page, tables: Measured, transfer: Row) -> None:
    """Print the range of the sender's smoothed round-trip times, of what has no samples."""
    sender = SENDERS[transfer["direction"]]
    states = tables.rows("state", connection=transfer["connection"], columns=["host", "srtt_ms"])
    known = [row["srtt_ms"] for row in states if row["host"] == sender and row["srtt_ms"]]
    if known:
        low, high = text.milliseconds(min(known)), text.milliseconds(max(known))
        page.facts([f"smoothed RTT at the sender {low} to {high}"], first=" " * 8)


def _only_carrier(transfer: Row, flows: list[Row], names: dict[int, str]) -> str:
    """Name the subflow that carried all, where there were others."""
    carriers = [
        flow["subflow"]
        for flow in flows
        if flow["direction"] == transfer["direction"] and carried(flow)
    ]
    if len(carriers) != 1 or len(names) == 1:
        return ""
    return f" over {names[carriers[0]] or carriers[0]}"


def _by_size(transfers: list[Row]) -> list[Row]:
    carrying = [transfer for transfer in transfers if transfer["bytes"]]
    return sorted(carrying, key=lambda transfer: -transfer["bytes"])


MOST_CHANGES = 12


def _changes(run: Run) -> list[Line]:
    """Give a line per change, to stand among those of the connection's events."""
    return [
        (one.at_s, None, one.description, one.is_grave)
        for one in changes(run.scenario, run.began_s)[:MOST_CHANGES]
    ]


def _print_rest(page: Page, run: Run) -> None:
    """Print how many changes have no line, and what of them came too late."""
    found = changes(run.scenario, run.began_s)
    if len(found) > MOST_CHANGES:
        more = f"… {len(found) - MOST_CHANGES} more changes by the timeline; the page lists all"
        page.paragraph(more, first=" " * 12, style="faint")
    end_s = run.transfer["elapsed_s"] if run.transfer and run.outcome["finished"] else None
    if late := too_late(found, end_s):
        page.paragraph(late, first="! ", style="warning")
