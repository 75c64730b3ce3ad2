"""What a run shows of its way to who knows how it was made: held ACKs, and who was watched."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab import _core

# Which data is acknowledged by what travels this way.
ACKNOWLEDGED = {"uplink": "down", "downlink": "up"}
OTHER = {"up": "down", "down": "up"}
ENDS = ("client", "server")
MS = 1e6
SPLIT = {
    "diagnostic": "split_connection",
    "message": "the server has a connection of its own, with other sequence numbers: a proxy on "
    "the way has one with each end, and what one end is told arrived the other may lack",
}
UNAWARE = {
    "diagnostic": "server_unaware",
    "message": "the server has no packet of the connection, which carried data: somebody on the "
    "way answered in its place, as a cache does",
}


def remarks(plan: str, tables: _core.Tables) -> list[dict[str, Any]]:
    """Give the remarks on the way, of a run that was captured at both ends."""
    return [*_apart(tables), *_early(json.loads(plan), tables)]


def _apart(tables: _core.Tables) -> list[dict[str, Any]]:
    """Connections of the client that had data and that the server does not know as these."""
    carried = {row["connection"] for row in tables.rows("transfers") if row["bytes"]}
    rows = list(tables.rows("connections"))
    known = {_server(row) for row in rows if row["vantage"] == "server"}
    return [
        {"connection": row["connection"]} | (SPLIT if _server(row) in known else UNAWARE)
        for row in rows
        if row["vantage"] == "client" and row["connection"] in carried
    ]


def _server(row: dict[str, Any]) -> tuple[str, int]:
    return row["server_address"], row["server_port"]


def _early(plan: dict[str, Any], tables: _core.Tables) -> list[dict[str, Any]]:
    """Subflows whose ACKs were held for longer than their senders waited for them.

    Only ACKs without data are held: where both ends sent data nothing can be told.
    """
    held = {path["name"]: _held(plan["links"][path["link"]]) for path in plan["paths"]}
    if not any(way for each in held.values() for way in each.values()):
        return []
    flows = {
        (row["connection"], row["subflow"], row["direction"]): row for row in tables.rows("flows")
    }
    subflows = list(tables.rows("subflows"))
    # The server's own connection comes from the proxy, in the client's name.
    paths = {_ends(subflow): subflow["path"] for subflow in subflows if subflow["path"]}
    rows = []
    for subflow in subflows:
        key = subflow["connection"], subflow["subflow"]
        for direction, nanos in held.get(paths.get(_ends(subflow)), {}).items():
            median = flows[*key, direction]["rtt_ms_median"]
            alone = not flows[*key, OTHER[direction]]["data_packets"]
            if median is not None and alone and median < nanos / MS:
                message = (
                    f"half of the round-trip times are shorter than {median:.0f} ms, though ACKs "
                    f"were held for {nanos / MS:.0f} ms: somebody on the way acknowledges in the "
                    "receiver's place, and the connection is split"
                )
                rows.append(
                    {
                        "connection": key[0],
                        "subflow": key[1],
                        "diagnostic": "acknowledged_early",
                        "message": message,
                    }
                )
    return rows


def _ends(subflow: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(subflow[f"{end}_{what}"] for end in ENDS for what in ("address", "port"))


def _held(link: dict[str, Any]) -> dict[str, int]:
    """Say for how long ACKs are held, by the direction of the data that they acknowledge."""
    shared = {one["shared"]: one for way in ACKNOWLEDGED for one in link[way] if _is_shared(one)}
    return {
        direction: sum(
            one["delay"]
            for one in (shared.get(one.get("shared"), one) for one in link[way])
            if one["element"] == "ack-delay"
        )
        for way, direction in ACKNOWLEDGED.items()
    }


def _is_shared(one: dict[str, Any]) -> bool:
    return "shared" in one and "element" in one
