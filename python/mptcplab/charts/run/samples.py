"""Charts of samples and of sequence numbers, per subflow, and of queues per link."""

from __future__ import annotations

from typing import Literal

import polars as pl

from mptcplab.charts.columns import Packets, definitions, numbers, packets, thin, unit_of
from mptcplab.charts.run.subject import Subject
from mptcplab.charts.shape import Chart, Series

Kind = Literal["line", "step", "points"]

# Bytes are drawn in these.
KB = 1e-3


def rtt(subject: Subject) -> Chart | None:
    """Round-trip time samples of each subflow over time."""
    state = subject.table("state").filter(host=subject.sender).drop_nulls("srtt_ms")
    if subject.table("rtt").is_empty() and subject.connection.get("source") is not None:
        return _chart(
            subject,
            state,
            ("state", "srtt_ms", "rttvar_ms"),
            "line",
            "Smoothed round-trip time",
            "What the sender's retransmission timer was based on, as the tool logged it: it has no "
            "samples.",
        )
    return _chart(
        subject,
        subject.table("rtt"),
        ("rtt", "rtt_ms", "record"),
        "points",
        "Round-trip time",
        "A point per sample: from a data segment leaving its sender to the first acknowledgement "
        "of exactly its end. Segments sent more than once, segments before which one was sent "
        "again meanwhile, and duplicate acknowledgements give no sample (tcptrace's rule).",
    )


def in_flight(subject: Subject) -> Chart | None:
    """Bytes in flight on each subflow over time."""
    return _chart(
        subject,
        subject.table("window").drop_nulls("in_flight_bytes"),
        ("window", "in_flight_bytes", "record"),
        "step",
        "Bytes in flight",
        "Sent and not yet acknowledged on the subflow, after every packet that changed it.",
    )


def congestion_window(subject: Subject) -> Chart | None:
    """Congestion window and slow-start threshold of each subflow over time."""
    known = subject.table("state").filter(pl.col("host") == subject.sender)
    return _chart(
        subject,
        known.drop_nulls("cwnd_packets"),
        ("state", "cwnd_packets", "ssthresh_packets"),
        "step",
        "Congestion window",
        "What the sender itself knew, sampled: captures do not show it. Dotted: the slow-start "
        "threshold, from the first loss on.",
        limit="ssthresh",
    )


def window(subject: Subject) -> Chart | None:
    """Receive window that each subflow announced over time."""
    announced = pl.col("window_bytes")
    known = subject.table("window").drop_nulls("window_bytes")
    # Between changes it stays as it is.
    changed = known.filter(announced.ne_missing(announced.shift().over("subflow")))
    last = known.group_by("subflow", maintain_order=True).last().select(known.columns)
    return _chart(
        subject,
        pl.concat([changed, last]).sort("at_ns"),
        ("window", "window_bytes", "record"),
        "step",
        "Advertised window",
        "Receive window that the receiver of the data announced last on each subflow, scaled. With "
        "MPTCP it is one window for the whole connection (RFC 8684 §3.3.1).",
    )


def out_of_order_delay(subject: Subject) -> Chart | None:
    """Out-of-order delay of each segment that arrived over time."""
    return _chart(
        subject,
        subject.table("reordering"),
        ("reordering", "out_of_order_delay_ms", "record"),
        "points",
        "Out-of-order delay",
        "A point per data segment that arrived: how long it waited until all data before it had "
        "come, on whichever subflow. Segments in order waited 0 ms.",
    )


def _chart(
    subject: Subject,
    known: pl.DataFrame,
    shown: tuple[str, str, str],
    kind: Kind,
    title: str,
    note: str,
    limit: str = "",
) -> Chart | None:
    """Describe a chart of a column; the second one has its ``limit``, where it has one."""
    table, column, second = shown
    samples, thinned = thin(known, column)
    if samples.is_empty():
        return None
    unit = unit_of(table, column)
    scale, unit = (KB, "kB") if unit == "bytes" else (1.0, unit)
    series = by_subflow(subject, samples, column, kind, scale=scale)
    if limit:
        series += by_subflow(subject, samples, second, kind, role="limit", remark=limit)
    return Chart(
        title,
        note,
        definitions(table, "at_s", column, second),
        series=series,
        value=unit,
        thinned=thinned,
    )


def by_subflow(
    subject: Subject,
    frame: pl.DataFrame,
    column: str,
    kind: Kind,
    *,
    scale: float = 1.0,
    role: Literal["data", "limit", "retransmission", "reinjection"] = "data",
    remark: str = "",
) -> list[Series]:
    """Give a series for each subflow that has any."""
    series = []
    for number, name in subject.names.items():
        own = frame.filter(subflow=number).drop_nulls(column)
        if own.is_empty():
            continue
        series.append(
            Series(
                f"{name} {remark}".strip(),
                kind,
                numbers(own["at_s"]),
                numbers(own[column] * scale if scale != 1.0 else own[column]),
                role=role,
                subflow=number,
                **(packets(own, subject.captures) if "record" in own.columns else Packets()),
            )
        )
    return series


SENT = (("new", "data"), ("retransmission", "retransmission"), ("reinjection", "reinjection"))


def data_sequence(subject: Subject) -> Chart | None:
    """Position of each packet in the connection's stream over time, with what was sent again."""
    return _sequence(
        subject,
        "data_offset_bytes",
        "Data sequence",
        "A point per data packet: its first byte's offset in the connection's stream, from 0, when "
        "the packet was sent. Two paths that share the stream run side by side; data that is sent "
        "again, on its subflow or on another one, lies below.",
    )


def subflow_sequence(subject: Subject) -> Chart | None:
    """Position of each packet in its subflow's stream over time, with what was sent again."""
    return _sequence(
        subject,
        "subflow_offset_bytes",
        "Subflow sequence",
        "A point per data packet: its first byte's offset in the stream of its subflow, from 0, "
        "when the packet was sent. The slope is the subflow's rate.",
    )


def _sequence(subject: Subject, column: str, title: str, note: str) -> Chart | None:
    sent = subject.table("segments").drop_nulls(column)
    segments, thinned = thin(sent, column, keep=pl.col("kind") != "new")
    if segments.is_empty():
        return None
    return Chart(
        title,
        note,
        definitions("segments", "at_s", column, "kind", "record"),
        series=[
            series
            for kind, role in SENT
            for series in by_subflow(
                subject,
                segments.filter(kind=kind),
                column,
                "points",
                scale=1e-6,
                role=role,  # type: ignore[arg-type]
                remark="" if kind == "new" else kind,
            )
        ],
        value="MB",
        from_zero=False,
        thinned=thinned,
    )


def queues(subject: Subject) -> Chart | None:
    """Queueing delay of links over time; simulations know it."""
    queues = subject.analysis.queues.filter(direction=subject.direction)
    queue = pl.concat_str("link", pl.lit(" "), "element")
    # Queues are thinned by name as samples are by subflow.
    samples, thinned = thin(queues.with_columns(subflow=queue), "queue_delay_ms")
    if samples.is_empty():
        return None
    several = samples.group_by("link").agg(pl.col("element").n_unique())["element"].max() != 1
    carried = {row["path"]: row["subflow"] for row in subject.subflows}
    by_queue = samples.group_by("link", "subflow", maintain_order=True)
    numbered = [(carried.get(subject.path_of(str(one[0]))), one, own) for one, own in by_queue]
    return Chart(
        "Queueing delay of links",
        "How long the last packet to leave a link's queue had waited in it, in the direction of "
        "the data, sampled. Only the simulator knows it.",
        definitions("queues", "link", "element", "at_s", "queue_delay_ms"),
        series=[
            Series(
                str(name if several else link),
                "step",
                numbers(own["at_s"]),
                numbers(own["queue_delay_ms"]),
                subflow=subflow,
            )
            # In the order of the other charts; what no path has alone comes last.
            for subflow, (link, name), own in sorted(
                numbered, key=lambda one: len(carried) if one[0] is None else one[0]
            )
        ],
        value="ms",
        thinned=thinned,
    )
