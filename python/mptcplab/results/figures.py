"""The figures of a run, from its tables."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    import polars as pl

    Row = dict[str, Any]

# Those of the transfer, as ``transfers`` has them.
OF_TRANSFER = (
    "throughput_mbps",
    "bytes",
    "elapsed_s",
    "rtt_ms_mean",
    "rtt_ms_median",
    "rtt_ms_p95",
    "rtt_ms_p99",
    "out_of_order_delay_ms_mean",
    "out_of_order_delay_ms_p95",
    "out_of_order_delay_ms_p99",
    "reinjected_bytes",
    "coefficient_of_variation",
    "longest_gap_ms",
)
FIGURES = (*OF_TRANSFER, "loss_rate_percent")
COUNTS = ("bytes", "reinjected_bytes")


def of(transfers: list[Row], flows: list[Row], direction: str) -> Row:
    """Give all figures of the transfer in a direction; all are empty where there is none."""
    own = transfer(transfers, direction)
    if own is None:
        return dict.fromkeys(FIGURES)
    return {
        **{name: own[name] for name in OF_TRANSFER},
        "loss_rate_percent": loss_rate_percent(of_transfer(flows, own)),
    }


def transfer(transfers: Iterable[Row], direction: str) -> Row | None:
    """Give the row of the transfer: of its direction and of the connection with most bytes."""
    rows = (row for row in transfers if row["direction"] == direction)
    return max(rows, key=lambda row: row["bytes"] or 0, default=None)


def of_transfer(flows: Iterable[Row], own: Row) -> list[Row]:
    """Give the flows of a transfer, of all its subflows in its direction."""
    keys = ("connection", "direction")
    return [flow for flow in flows if all(flow[key] == own[key] for key in keys)]


def loss_rate_percent(flows: Iterable[Row]) -> float | None:
    """Give retransmitted data packets / data packets over all subflows."""
    known = [flow for flow in flows if flow["retransmitted_packets"] is not None]
    packets = sum(flow["data_packets"] for flow in known)
    resent = sum(flow["retransmitted_packets"] for flow in known)
    return 100 * resent / packets if packets else None


def schema() -> dict[str, type[pl.DataType]]:
    """Give the type of each figure in frames."""
    import polars as pl

    return {name: pl.UInt64 if name in COUNTS else pl.Float64 for name in FIGURES}
