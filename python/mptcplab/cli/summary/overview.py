"""Many connections: the largest ones, a line each, and what they come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from mptcplab.analysis import Measured
from mptcplab.cli.summary.page import Column, Page, draw
from mptcplab.labels import text
from mptcplab.labels.connections import begins_s, is_mptcp, protocol

Row = dict[str, Any]

TOP = 15


def print_overview(page: Page, tables: Measured, count: int, *, analyze: str = "") -> None:
    """Print the totals and the largest connections; ``analyze`` is the command that shows one."""
    moved = _moved(tables)
    connections = tables.rows(
        "connections",
        columns=["connection", "protocol", "mptcp_version", "subflows", "fallback", "ended"],
    )
    _print_totals(page, count, connections, moved)
    largest = [number for number, _ in _total(moved).most_common(TOP)]
    page.line()
    draw(page, _columns(tables, largest, moved))
    page.paragraph(
        f"the {len(largest)} largest of {text.count(count)}; "
        f"{f'{analyze} --connection N'.lstrip()} shows one in full, --csv and --parquet write all",
        style="faint",
    )


def _moved(tables: Measured) -> dict[str, Counter[int]]:
    moved = {"up": Counter[int](), "down": Counter[int]()}
    for row in tables.rows("transfers", columns=["connection", "direction", "bytes"]):
        moved[row["direction"]][row["connection"]] = row["bytes"]
    return moved


def _total(moved: dict[str, Counter[int]]) -> Counter[int]:
    total = moved["up"].copy()
    # Adding them by + would drop keys whose count is 0.
    total.update(moved["down"])
    return total


def _print_totals(
    page: Page, count: int, connections: Iterable[Row], moved: dict[str, Counter[int]]
) -> None:
    kinds = Counter[str]()
    endings = Counter[str]()
    subflows = fallbacks = 0
    for row in connections:
        kinds[protocol(row)] += 1
        endings[row["ended"]] += 1
        subflows += row["subflows"]
        fallbacks += row["fallback"] is not None
    page.line(page.style(f"{text.count(count)} connections", "strong"))
    facts = [f"{text.count(number)} {kind}" for kind, number in kinds.most_common()]
    facts.append(text.plural(subflows, "subflow"))
    if fallbacks:
        facts.append(f"{text.count(fallbacks)} fell back to TCP")
    facts += [f"{text.count(number)} {ending}" for ending, number in endings.most_common()]
    page.facts(facts)
    page.facts(
        f"{arrow} {text.size(moved[direction].total())}"
        for direction, arrow in (("up", "↑"), ("down", "↓"))
    )


def _columns(tables: Measured, numbers: list[int], moved: dict[str, Counter[int]]) -> list[Column]:
    wanted = set(numbers)
    rows = {
        row["connection"]: row
        for row in tables.rows(
            "connections",
            columns=[
                "connection",
                "client_address",
                "client_port",
                "server_address",
                "server_port",
                "protocol",
                "mptcp_version",
                "subflows",
                "start_ns",
                "start_s",
                "duration_s",
                "ended",
            ],
        )
        if row["connection"] in wanted
    }
    shown = [rows[number] for number in numbers]
    return [
        Column("connection", [str(number) for number in numbers]),
        Column(
            "client",
            [text.endpoint(r["client_address"], r["client_port"]) for r in shown],
            left=True,
        ),
        Column(
            "server",
            [text.endpoint(r["server_address"], r["server_port"]) for r in shown],
            left=True,
        ),
        Column("MPTCP", [_version(row) for row in shown], keep=5),
        Column("subflows", [text.count(row["subflows"]) for row in shown], keep=6),
        Column("↑ bytes", [text.size(moved["up"][number]) for number in numbers]),
        Column("↓ bytes", [text.size(moved["down"][number]) for number in numbers]),
        Column("start", [_start(row) for row in shown], keep=3),
        Column("duration", [text.seconds(row["duration_s"]) for row in shown], keep=4),
        Column("ended", [row["ended"] for row in shown], left=True, keep=2),
    ]


def _start(row: Row) -> str:
    return text.date(row["start_ns"]) if begins_s(row) else text.at(row["start_s"])


def _version(row: Row) -> str:
    if row["mptcp_version"] is None:
        return "yes" if is_mptcp(row) else text.UNKNOWN
    return f"v{row['mptcp_version']}"
