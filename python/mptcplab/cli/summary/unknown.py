"""Why figures are empty, in a line."""

from __future__ import annotations

from mptcplab.cli.summary.page import Page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Row = dict[str, Any]

SENDER = {"up": "client", "down": "server"}
RECEIVER = {"up": "server", "down": "client"}


def print_reasons(
    page: Page, connection: Row, transfers: list[Row], subflows: list[Row], flows: list[Row]
) -> None:
    """Print why figures of the connection are empty, if some are."""
    for reason in reasons(connection, transfers, subflows, flows):
        page.words(reason, first="– ", style="faint")


def reasons(
    connection: Row, transfers: list[Row], subflows: list[Row], flows: list[Row]
) -> list[str]:
    """Say why figures are empty."""
    carrying = [flow for flow in flows if flow["data_packets"]]
    at_sender = {flow["direction"] for flow in carrying if flow["loss_rate_percent"] is None}
    at_receiver = {
        transfer["direction"]
        for transfer in transfers
        if transfer["bytes"] and transfer["out_of_order_delay_ms_mean"] is None
    }
    if connection["vantage"] is None and at_sender:
        return [
            "RTT, loss and out-of-order delay stay empty: it cannot be told at which end this was "
            "captured"
        ]
    lines = [
        f"{_named(direction)}: RTT and loss are known at the sender of the data, "
        f"give the capture of the {SENDER[direction]} too"
        for direction in sorted(at_sender)
    ]
    lines += [
        f"{_named(direction)}: out-of-order delay is known at the receiver of the data, "
        f"give the capture of the {RECEIVER[direction]} too"
        for direction in sorted(at_receiver)
        if len(subflows) > 1
    ]
    if any(flow["merged_segments"] for flow in carrying):
        lines.append(
            "segments were merged by the capturing host's offloads: packets are counted in MSS "
            "equivalents (ethtool -K … gro off tso off avoids it)"
        )
    return lines


def _named(direction: str) -> str:
    return {"up": "↑", "down": "↓"}[direction]
