"""The table of a connection's subflows, a line per direction with data, and why it has gaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from mptcplab.cli.summary.page import Column, Page, draw
from mptcplab.labels import text
from mptcplab.labels.connections import RECEIVERS, SENDERS, carried, is_datagrams
from mptcplab.metrics import Metric, of_subflows

Row = dict[str, Any]
Line = tuple[Row, Row | None]


BLOCKS = " ▏▎▍▌▋▊▉█"
BAR = 6
ARROWS = {"up": "↑", "down": "↓"}


# A direction that one subflow carried alone, and less than this part of the other, gets no lines.
ASIDE = 0.01
# The most lines that are printed, as there may be thousands of forged joins.
MOST = 20


def print_subflows(
    page: Page, subflows: list[Row], flows: list[Row], names: dict[int, str]
) -> None:
    """Print the table."""
    lines = _lines(subflows, flows)
    shown = _largest(lines)
    if shown:
        draw(page, _columns(shown, names))
    more = len(subflows) - len({row["subflow"] for row, _ in shown})
    if more:
        page.paragraph(
            f"… and {text.plural(more, 'more subflow')}; --json lists all", style="faint"
        )


def _largest(lines: list[Line]) -> list[Line]:
    """Those that carried most, in their order."""
    by_bytes = sorted(lines, key=lambda line: -line[1]["bytes"] if line[1] else 0)[:MOST]
    shown = {id(line) for line in by_bytes}
    return [line for line in lines if id(line) in shown]


def _lines(subflows: list[Row], flows: list[Row]) -> list[Line]:
    """Pair subflows with their flows that carried data; those without any stand alone."""
    directions = _directions(flows)
    carrying = {(flow["subflow"], flow["direction"]): flow for flow in flows if carried(flow)}
    lines: list[Line] = []
    for subflow in subflows:
        keys = [(subflow["subflow"], direction) for direction in directions]
        lines += [(subflow, carrying[key]) for key in keys if key in carrying] or [(subflow, None)]
    return lines


def _data_bytes(flow: Row) -> int:
    return int(flow["bytes"] if flow["data_bytes"] is None else flow["data_bytes"])


def _directions(flows: list[Row]) -> list[str]:
    """The directions that are worth lines, the larger one first."""
    total, carriers = Counter[str](), Counter[str]()
    for flow in flows:
        total[flow["direction"]] += _data_bytes(flow)
        carriers[flow["direction"]] += carried(flow)
    larger, smaller = sorted(ARROWS, key=lambda direction: -total[direction])
    aside = carriers[smaller] == 1 and total[smaller] < ASIDE * total[larger]
    return [larger] if aside else [larger, smaller]


def _columns(lines: list[Line], label: dict[int, str]) -> list[Column]:
    first = [
        number == 0 or lines[number - 1][0] is not row for number, (row, _) in enumerate(lines)
    ]

    def of_subflow(show: Any) -> list[str]:
        return [show(row) if new else "" for new, (row, _) in zip(first, lines, strict=True)]

    def of_flow(show: Any) -> list[str]:
        return ["" if flow is None else show(flow) for _, flow in lines]

    def name(row: Row) -> str:
        backup = "(backup)" if row["backup"] else ""
        return " ".join(filter(None, (str(row["subflow"]), label[row["subflow"]], backup)))

    shares = [
        Column("share", of_flow(lambda flow: _percentage(flow["share"]))),
        Column("", of_flow(lambda flow: _bar(flow["share"])), left=True, keep=1),
    ]
    columns = [
        Column("subflow", of_subflow(name), left=True),
        Column("", of_flow(lambda flow: ARROWS[flow["direction"]]), left=True),
        *(shares if len(label) > 1 else []),
        Column("bytes", of_flow(lambda flow: text.size(flow["bytes"]))),
        Column("Mbit/s", of_flow(lambda flow: text.figure(flow["throughput_mbps"]))),
        Column("RTT ms", of_flow(_rtt), keep=9),
        Column("min–p95", of_flow(_range), keep=6),
        Column("n", of_flow(lambda flow: text.count(flow["rtt_samples"])), keep=2),
        Column("loss", of_flow(lambda flow: text.percent(flow["loss_rate_percent"])), keep=8),
        Column("resent", of_flow(lambda flow: text.count(flow["retransmitted_packets"])), keep=4),
        Column("filled", of_flow(lambda flow: text.count(flow["gap_filled_packets"])), keep=3),
        *_marked(lines, of_flow),
        *_between_ends(lines, of_flow),
        *(_metric(one, of_flow) for one in of_subflows("line", "flows")),
        *(_metric(one, of_subflow) for one in of_subflows("line", "subflows")),
        Column("handshake", of_subflow(_handshake), keep=5),
        Column("joined", of_subflow(_joined), keep=4),
        Column("ended", of_subflow(_ended), left=True, keep=7),
    ]
    if all(_is_datagrams(row) for row, _ in lines):
        # Only acknowledgements tell of these.
        columns = [one for one in columns if set(one.cells) - {"", text.UNKNOWN}]
    return [column for column in columns if any(column.cells)]


def _metric(metric: Metric, of_row: Callable[..., list[str]]) -> Column:
    def shown(row: Row) -> str:
        value = row.get(metric.column)
        return "" if value is None else metric.show(value)

    return Column(metric.line, of_row(shown), keep=1)


def _marked(lines: list[Line], of_flow: Callable[..., list[str]]) -> list[Column]:
    """What queues marked rather than dropped (ECN), if they did."""
    if not any(flow["marked_packets"] for _, flow in lines if flow is not None):
        return []
    return [Column("marked", of_flow(lambda flow: text.count(flow["marked_packets"])), keep=3)]


def _between_ends(lines: list[Line], of_flow: Callable[..., list[str]]) -> list[Column]:
    """What only the captures of both ends can show."""
    flows = [flow for _, flow in lines if flow is not None]
    columns = {
        "lost_packets": Column(
            "lost", of_flow(lambda flow: text.count(flow["lost_packets"])), keep=3
        ),
        "reordered_packets": Column(
            "reordered", of_flow(lambda flow: text.count(flow.get("reordered_packets"))), keep=2
        ),
        "one_way_delay_ms_median": Column("one-way ms", of_flow(_one_way), keep=2),
    }
    return [
        column
        for name, column in columns.items()
        if any(flow.get(name) is not None for flow in flows)
    ]


def _one_way(flow: Row) -> str:
    return text.figure(flow["one_way_delay_ms_median"])


def _percentage(share: float | None) -> str:
    return text.UNKNOWN if share is None else f"{share:.1%}".replace("%", " %")


def _bar(share: float | None) -> str:
    eighths = round((share or 0) * BAR * 8)
    if share and not eighths:
        eighths = 1
    return ("█" * (eighths // 8) + BLOCKS[eighths % 8]).strip()


def _rtt(flow: Row) -> str:
    return text.spread(flow["rtt_ms_mean"], flow["rtt_ms_sigma"])


def _range(flow: Row) -> str:
    if flow["rtt_ms_min"] is None:
        return text.UNKNOWN
    if flow["rtt_ms_p95"] is None:
        return f"from {text.figure(flow['rtt_ms_min'])}"
    return f"{text.figure(flow['rtt_ms_min'])}–{text.figure(flow['rtt_ms_p95'])}"


def _handshake(row: Row) -> str:
    if row["handshake"] != "established":
        return "" if _is_datagrams(row) else str(row["handshake"])
    return text.milliseconds(row["handshake_rtt_ms"])


def _is_datagrams(row: Row) -> bool:
    """Say whether it is of a capture, and no TCP."""
    return bool(row["ended"] == "unknown")


def _ended(row: Row) -> str:
    return "" if _is_datagrams(row) else str(row["ended"])


def _joined(row: Row) -> str:
    joined = row["kind"] == "join" and row["join_time_ms"] is not None
    return text.milliseconds(row["join_time_ms"]) if joined else ""


DOWN_FIRST = {"down": "↓", "up": "↑"}


def print_reasons(
    page: Page,
    connection: Row,
    transfers: list[Row],
    flows: list[Row],
    *,
    path_missing: bool,
    silent_ends: int,
) -> None:
    """Print why figures of the connection are empty, if some are.

    With ``path_missing`` data went over subflows that the captures lack; at ``silent_ends`` nobody
    captured, though somebody might have.
    """
    lines = _reasons(connection, transfers, flows, silent_ends)
    if path_missing:
        lines = [line for line in lines if not line.startswith("out-of-order")]
        known = any(flow["share"] is not None for flow in flows)
        empty = "out-of-order delay stays" if known else "shares and out-of-order delay stay"
        lines.append(
            f"{empty} empty: part of the data went over a subflow that a capture lacks; see the "
            "remark below"
        )
    for reason in lines:
        page.paragraph(reason, first="– ", style="faint")


def _reasons(
    connection: Row, transfers: list[Row], flows: list[Row], silent_ends: int
) -> list[str]:
    """Say why figures are empty."""
    carrying = [flow for flow in flows if flow["data_packets"]]
    if is_datagrams(connection):
        both = connection["vantage"] == "both"
        return [] if both else ["loss, order and delay are known from captures of both ends"]
    lines = []
    no_rtt = [flow["direction"] for flow in carrying if flow["loss_rate_percent"] is None]
    if connection["vantage"] is None and no_rtt:
        reason = (
            "it is not known at which end this was captured",
            "nobody captured at the client",
            "nobody captured",
        )[silent_ends]
        lines.append(f"RTT, loss and out-of-order delay stay empty: {reason}")
    else:
        lines += [
            f"RTT and loss {ARROWS[direction]} are known at the sender of the data: "
            f"give the capture of the {SENDERS[direction]} too"
            for direction in DOWN_FIRST
            if direction in no_rtt
        ]
        lines += [
            _no_order(connection, transfer["direction"])
            for transfer in transfers
            if transfer["out_of_order_delay_ms_mean"] is None
            and sum(flow["direction"] == transfer["direction"] for flow in carrying) > 1
        ]
    return lines


def _no_order(connection: Row, direction: str) -> str:
    """Say why the out-of-order delay is empty."""
    receiver = RECEIVERS[direction]
    if connection["vantage"] in (receiver, "both"):
        return (
            f"out-of-order delay {ARROWS[direction]} stays empty: the capture of the {receiver} "
            "misses some of the data"
        )
    return (
        f"out-of-order delay {ARROWS[direction]} is known at the receiver of the data: "
        f"give the capture of the {receiver} too"
    )
