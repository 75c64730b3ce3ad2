"""Remarks on a run by its plan: split connections, ACKs that came early, budgets spent."""

from __future__ import annotations

from typing import Any

from mptcplab import _core

# The direction of the data that ACKs on each link acknowledge.
ACKNOWLEDGED = {"uplink": "down", "downlink": "up"}
OPPOSITE = {"up": "down", "down": "up"}
ENDS = ("client", "server")
MS = 1e6
MB = 1e6
SPLIT = {
    "diagnostic": "split_connection",
    "message": "the server has a connection of its own, with other sequence numbers: a proxy has "
    "a connection with each end, and data that is acknowledged to one end may not have reached the "
    "other",
}
UNMATCHED = {
    "diagnostic": "ends_unmatched",
    "message": "addresses and sequence numbers differ at the server, and plain TCP has nothing "
    "else to match it by: each end has rows of its own, and what only the sender knows, such as "
    "round-trip times, is in the sender's",
}
UNAWARE = {
    "diagnostic": "server_unaware",
    "message": "the server has no packet of the connection, which carried data: something on the "
    "path answered in its place, such as a cache",
}


def remarks(plan: _core.Plan, tables: _core.Tables) -> list[dict[str, Any]]:
    """Give the remarks on the network of a run that was captured at both ends."""
    planned = plan.table()
    return [*_unmatched(planned, tables), *_early(planned, tables), *_spent(planned, tables)]


def _unmatched(plan: dict[str, Any], tables: _core.Tables) -> list[dict[str, Any]]:
    """Connections of the client with data that have other sequence numbers at the server.

    The analysis has remarks on those with the same addresses at both ends.
    """
    received = {
        row["connection"]: row["bytes"]
        for row in tables.rows("transfers")
        if row["direction"] == "down"
    }
    carried = {row["connection"] for row in tables.rows("transfers") if row["bytes"]}
    split_already = {row["connection"] for row in tables.rows("diagnostics") if _is_split(row)}
    rows = list(tables.rows("connections"))
    servers = {_ends(row): row["connection"] for row in rows if row["vantage"] == "server"}
    clients = [row for row in rows if row["vantage"] == "client" and row["connection"] in carried]
    translated = {ends[2:] for ends in servers.keys() - {_ends(row) for row in clients}}
    kind = SPLIT if _has_proxy(plan) else UNMATCHED
    remarks = []
    for row in clients:
        remark = {"connection": row["connection"]}
        at_server = servers.get(_ends(row))
        if at_server is None:
            remarks.append(remark | (kind if _ends(row)[2:] in translated else UNAWARE))
            continue
        if row["connection"] not in split_already:
            remarks.append(remark | kind)
        all_bytes, sent_bytes = received[row["connection"]], received[at_server]
        if all_bytes > sent_bytes:
            message = (
                f"the server sent {sent_bytes / MB:g} MB of the {all_bytes / MB:g} MB that "
                "arrived: the rest came from a cache on the path"
            )
            count = {"count": all_bytes - sent_bytes}
            remarks.append(remark | count | {"diagnostic": "cache_answered", "message": message})
    return remarks


def _has_proxy(plan: dict[str, Any]) -> bool:
    elements = (
        one for link in plan["links"].values() for acks in ACKNOWLEDGED for one in link[acks]
    )
    return any(one.get("element") == "proxy" for one in elements)


def _is_split(row: dict[str, Any]) -> bool:
    return bool(row["diagnostic"] == "split_connection")


def _early(plan: dict[str, Any], tables: _core.Tables) -> list[dict[str, Any]]:
    """Subflows whose ACKs were held for longer than their round-trip times.

    Only ACKs without data are held: where both ends sent data nothing is known.
    """
    held = {path["name"]: _held(plan["links"][path["link"]]) for path in plan["paths"]}
    if not any(held_ns for each in held.values() for held_ns in each.values()):
        return []
    flows = {
        (row["connection"], row["subflow"], row["direction"]): row for row in tables.rows("flows")
    }
    subflows = list(tables.rows("subflows"))
    # The server's connection comes from the proxy, with the client's address.
    paths = {_ends(subflow): subflow["path"] for subflow in subflows if subflow["path"]}
    rows = []
    for subflow in subflows:
        key = subflow["connection"], subflow["subflow"]
        for direction, held_ns in held.get(paths.get(_ends(subflow)), {}).items():
            median = flows[*key, direction]["rtt_ms_median"]
            one_way = not flows[*key, OPPOSITE[direction]]["data_packets"]
            if median is not None and one_way and median < held_ns / MS:
                message = (
                    f"half of the round-trip times are shorter than {median:.0f} ms, though ACKs "
                    f"were delayed by {held_ns / MS:.0f} ms: something on the path acknowledges in "
                    "the receiver's place, so the connection is split"
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


def _spent(plan: dict[str, Any], tables: _core.Tables) -> list[dict[str, Any]]:
    """Budgets that were spent, with what their paths carried in the end."""
    outcome = tables.outcome() or {}
    manager = plan["transport"]["client"]["mptcp"]["path_manager"]["parameters"]
    action = {"close": "closed", "backup": "made backups"}.get(manager.get("then", "close"))
    paths = {path["name"]: path for path in plan["paths"]}
    subflows = {(row["connection"], row["subflow"]): row["path"] for row in tables.rows("subflows")}
    carried = dict.fromkeys(paths, 0)
    for row in tables.rows("flows"):
        path = subflows[row["connection"], row["subflow"]]
        carried[path] = carried.get(path, 0) + row["bytes"]
    rows = []
    for spent in outcome.get("spent", ()):
        path = paths[spent["path"]]
        if spent["budget"] == "data":
            budget = f"{path['name']} had carried its {path['budget_bytes'] / MB:g} MB"
        else:
            budget = (
                f"all had cost {manager['cost_budget']:g}, and {path['name']} costs "
                f"{path['cost_per_mb']:g} per MB"
            )
        message = (
            f"after {spent['at_s']:.1f} s {budget}: its subflows were {action}; it carried "
            f"{carried[path['name']] / MB:.1f} MB in the end, and the other paths "
            f"{(sum(carried.values()) - carried[path['name']]) / MB:.1f} MB"
        )
        rows.append({"diagnostic": "budget_spent", "message": message})
    return rows


def _ends(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[f"{end}_{what}"] for end in ENDS for what in ("address", "port"))


def _held(link: dict[str, Any]) -> dict[str, int]:
    """Give how long ACKs are held, by the direction of the data that they acknowledge."""
    shared = {one["shared"]: one for acks in ACKNOWLEDGED for one in link[acks] if _is_shared(one)}
    return {
        direction: sum(
            one["delay"]
            for one in (shared.get(one.get("shared"), one) for one in link[acks])
            if one["element"] == "ack-delay"
        )
        for acks, direction in ACKNOWLEDGED.items()
    }


def _is_shared(one: dict[str, Any]) -> bool:
    return "shared" in one and "element" in one
