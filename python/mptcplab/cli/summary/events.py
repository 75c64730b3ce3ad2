"""What happened on a connection, line by line."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from mptcplab import _core
from mptcplab.cli.summary import text
from mptcplab.cli.summary.page import Page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Row = dict[str, Any]

# So common that they are counted, not listed: the subflows' table tells of them.
COUNTED = frozenset({"retransmission", "reinjection", "gap_filled", "duplicate"})
# What deserves a second look.
GRAVE = frozenset(
    {
        "join_refused",
        "join_unanswered",
        "join_failed",
        "fallback",
        "reset",
        "mp_fail",
        "mp_fastclose",
        "mp_tcprst",
        "outage",
        "gap",
        "timeout",
    }
)


def print_events(page: Page, tables: _core.Tables, connection: int, *, limit: int | None) -> None:
    """Print what happened, at most ``limit`` lines of it."""
    rows = tables.rows("events", connection=connection)
    told = (row for row in rows if row["event"] not in COUNTED)
    for row in islice(told, limit):
        page.words(
            describe(row),
            first=f"{text.at(row['at_s']):>10}  ",
            style="warning" if row["event"] in GRAVE else "",
        )
    more = Counter(row["event"] for row in told)
    if more:
        kinds = ", ".join(f"{text.count(number)} × {kind}" for kind, number in more.most_common())
        page.words(
            f"… and {kinds}; --connection {connection} lists all", first=" " * 12, style="faint"
        )


def describe(row: Row) -> str:
    """Put an event in words."""
    words = [row["event"].replace("_", " ")]
    if row["subflow"] is not None:
        words.append(f"on subflow {row['subflow']}")
    if row["address_id"] is not None:
        words.append(f"address {row['address_id']}")
    if row["address"] is not None:
        words.append(text.endpoint(row["address"], row["port"]))
    if row["bytes"] is not None:
        words.append(text.size(row["bytes"]))
    if row["duration_ms"] is not None:
        words.append(f"for {text.milliseconds(row['duration_ms'])}")
    if row["direction"] is not None:
        words.append({"up": "(from the client)", "down": "(from the server)"}[row["direction"]])
    line = " ".join(words)
    return f"{line}: {text.clean(row['detail'])}" if row["detail"] else line
