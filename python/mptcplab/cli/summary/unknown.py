"""Why figures are empty, in a line."""

from __future__ import annotations

from mptcplab.cli.summary.page import Page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Row = dict[str, Any]

SENDER = {"up": "client", "down": "server"}
RECEIVER = {"up": "server", "down": "client"}
ARROWS = {"down": "↓", "up": "↑"}


def print_reasons(
    page: Page, connection: Row, transfers: list[Row], flows: list[Row], *, path_missing: bool
) -> None:
    """Print why figures of the connection are empty, if some are.

    With ``path_missing`` data went over subflows that the captures lack.
    """
    lines = reasons(connection, transfers, flows)
    if path_missing:
        lines = [line for line in lines if not line.startswith("out-of-order")]
        lines.append(
            "shares and out-of-order delay stay empty: part of the data went over a subflow that "
            "the captures lack; see the remark below"
        )
    for reason in lines:
        page.words(reason, first="– ", style="faint")


def reasons(connection: Row, transfers: list[Row], flows: list[Row]) -> list[str]:
    """Say why figures are empty."""
    carrying = [flow for flow in flows if flow["data_packets"]]
    lines = []
    no_rtt = [flow["direction"] for flow in carrying if flow["loss_rate_percent"] is None]
    if connection["vantage"] is None and no_rtt:
        lines.append(
            "RTT, loss and out-of-order delay stay empty: it cannot be told at which end this "
            "was captured"
        )
    else:
        lines += [
            f"RTT and loss {ARROWS[direction]} are known at the sender of the data: "
            f"give the capture of the {SENDER[direction]} too"
            for direction in ARROWS
            if direction in no_rtt
        ]
        lines += [
            f"out-of-order delay {ARROWS[transfer['direction']]} is known at the receiver of the "
            f"data: give the capture of the {RECEIVER[transfer['direction']]} too"
            for transfer in transfers
            if transfer["out_of_order_delay_ms_mean"] is None
            and sum(flow["direction"] == transfer["direction"] for flow in carrying) > 1
        ]
    return lines
