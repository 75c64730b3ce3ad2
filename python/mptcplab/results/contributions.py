"""What each path brought to a transfer over several, and what that cost, in a sentence."""

from __future__ import annotations

from typing import Any

from mptcplab.labels import text
from mptcplab.results import run_metrics
from mptcplab.results.comparison import Comparison
from mptcplab.results.run import Run
from mptcplab.results.serving import served

Row = dict[str, Any]


def contributions(comparison: Comparison) -> str | None:
    """Say what each path carried, beside what it does alone, and how long data waited.

    This is what the gain of throughput is made of: ``None`` where something else counts.
    """
    mptcp, best = comparison.mptcp, comparison.best_path
    transfer = mptcp.transfer
    if transfer is None or comparison.gain is None or best is None or served(comparison):
        return None
    if transfer["response_time_ms_mean"] is not None:
        return None
    if not (flows := _by_path(mptcp, transfer)):
        return None
    *first, last = (_brought(comparison, path, own) for path, own in flows.items())
    carried = f"of {text.rate(transfer['throughput_mbps'])}, {', '.join(first)} and {last}"
    waited = transfer["out_of_order_delay_ms_mean"]
    if not waited:
        return carried
    alone = (comparison.baselines[best].transfer or {}).get("out_of_order_delay_ms_mean")
    beside = "" if alone is None else f" (over {best} alone {text.milliseconds(alone)})"
    return f"{carried}; data waited {text.milliseconds(waited)} on average for earlier data{beside}"


def _by_path(run: Run, transfer: Row) -> dict[str, list[Row]]:
    """Group the flows that carried data by path; empty of one path, or if some have no name."""
    rows = run.tables.rows("subflows", connection=transfer["connection"])
    paths = {row["subflow"]: row["path"] for row in rows}
    found: dict[str, list[Row]] = {path: [] for path in run.scenario["path"]}
    for flow in run_metrics.of_transfer(run.tables.rows("flows"), transfer):
        if flow["throughput_mbps"]:
            found.setdefault(paths[flow["subflow"]], []).append(flow)
    return found if len(found) > 1 and found.keys() == run.scenario["path"].keys() else {}


def _brought(comparison: Comparison, path: str, flows: list[Row]) -> str:
    """Say what a path carried, in Mbit/s, and how long its round trips took."""
    # Flows of QUIC count what it adds and resends, too: their shares go with the application's.
    is_quic = comparison.mptcp.about.get("protocol") == "quic"
    if is_quic:
        carried, rate = text.percent(100 * sum(flow["share"] for flow in flows)), text.rate
    else:
        carried, rate = text.figure(sum(flow["throughput_mbps"] for flow in flows)), text.figure
    parts = [text.clean(path), "carried", carried if flows else "nothing"]
    if (run := comparison.baselines.get(path)) is not None:
        alone = rate(run.throughput_mbps) if run.outcome["finished"] else "not finished"
        parts.append(f"(alone {alone})")
    if len(flows) == 1 and (rtt := flows[0]["rtt_ms_mean"]) is not None:
        parts.append(f"at an RTT of {text.milliseconds(rtt)}")
    return " ".join(parts)
