"""Logs of ``ip -ts mptcp monitor`` (iproute2): what a kernel reported to path managers."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from mptcplab.sources.contents import Connection, Contents, End, Row
from mptcplab.sources.file import File

EVENT = re.compile(
    r"^(?:\[(?P<at>\d{4}-\d\d-\d\dT[\d:.]+)\] )?\[ *(?P<event>[A-Z][A-Z_]+)(?: (?P<number>\d+))?\]"
    r"(?P<rest>.*)$"
)
VALUE = re.compile(r"(\w+)=(\S+)")
SIGNALS = {
    "CREATED": "created",
    "ESTABLISHED": "established",
    "CLOSED": "closed",
    "ANNOUNCED": "announced",
    "REMOVED": "removed",
    "SF_ESTABLISHED": "subflow-established",
    "SF_CLOSED": "subflow-closed",
    "SF_PRIO": "subflow-priority",
    "LISTENER_CREATED": "listener-created",
    "LISTENER_CLOSED": "listener-closed",
}
# include/uapi/linux/mptcp.h: MPTCP_PM_EV_FLAG_SERVER_SIDE; newer kernels say server_side as well.
SERVER_SIDE = 1 << 1
MILLI = 10**6


class IpMptcp:
    """Connections by their tokens, with what was reported of them."""

    name = "ip-mptcp"
    title = "ip -ts mptcp monitor (iproute2)"
    reads = (
        "every event → signals; CREATED, SF_ESTABLISHED and CLOSED → connections and subflows, a "
        "connection per token of a host"
    )
    empty = "everything about data; the version of MPTCP"

    def matches(self, file: File) -> bool:
        """Say whether its first lines are events."""
        first = file.head.splitlines()[:1]
        return bool(first) and (found := EVENT.match(first[0])) is not None and _is_known(found)

    def read(self, file: File) -> Contents:
        contents = Contents(self.name, file)
        rows = []
        for number, line in enumerate(file.text().splitlines(), 1):
            found = EVENT.match(line)
            if found is None or not _is_known(found):
                raise ValueError("is no event of ip mptcp monitor", number)
            if found["at"] is None:
                raise ValueError("has no time: log with ip -ts mptcp monitor", number)
            rows.append(_event(found))
        if not rows:
            raise ValueError("holds no event")
        # One says it, and its token has all of them.
        servers = {row["token"] for row in rows if row.pop("is_server")}
        for row in rows:
            row["host"] = "server" if row["token"] in servers else "client"
        for token in dict.fromkeys(row["token"] for row in rows if row["token"] is not None):
            _add(contents, [row for row in rows if row["token"] == token])
        for row in rows:
            contents.add("signals", **row)
        contents.remark("supposed_clock", "its times have no zone, and are taken as UTC")
        return contents


def _is_known(found: re.Match[str]) -> bool:
    return found["event"] in SIGNALS or (
        found["event"] == "UNKNOWN" and found["number"] is not None
    )


def _event(found: re.Match[str]) -> Row:
    values = dict(VALUE.findall(found["rest"]))
    moment = datetime.fromisoformat(found["at"]).replace(tzinfo=UTC)
    flags = int(values.get("flags", "0"), 16)
    token = values.get("token")
    row: Row = {
        "at_ns": int(moment.timestamp()) * 10**9 + moment.microsecond * 1000,
        "signal": SIGNALS.get(found["event"], f"other {found['number']}"),
        "token": None if token is None else int(token, 16),
        "local_address_id": _number(values, "locid"),
        "remote_address_id": _number(values, "remid"),
        "local_address": values.get("saddr4", values.get("saddr6")),
        "local_port": _number(values, "sport"),
        "remote_address": values.get("daddr4", values.get("daddr6")),
        "remote_port": _number(values, "dport"),
        "backup": None if "backup" not in values else values["backup"] != "0",
        "error": values.get("error"),
        "reset_reason": values.get("reset_reason"),
        "is_server": bool(flags & SERVER_SIDE) or "server_side" in found["rest"].split(),
    }
    return row


def _number(values: dict[str, str], name: str) -> int | None:
    return int(values[name]) if name in values else None


def _add(contents: Contents, rows: list[Row]) -> None:
    """Add the connection of a token, as its host saw it."""
    opened = [row for row in rows if row["signal"] in ("created", "subflow-established")]
    if not opened:
        return
    first, host = opened[0], rows[0]["host"]
    closed = rows[-1]["signal"] == "closed"
    client, server = _ends(first)
    times = [row["at_ns"] for row in rows]
    jumped = times != sorted(times)
    connection = contents.connection(
        "mptcp",
        start_ns=min(times),
        end_ns=max(times),
        client=client,
        server=server,
        began="handshake" if first["signal"] == "created" else "midway",
        ended="closed" if closed else "open",
        vantage=host,
        **{f"{host}_token": first["token"]},
    )
    if jumped:
        contents.jumped(connection)
    numbers = {
        _ends(row): _subflow(connection, row, closed=closed, jumped=jumped) for row in opened
    }
    for row in rows:
        row["connection"] = connection.number
        row["subflow"] = numbers.get(_ends(row))


def _subflow(connection: Connection, row: Row, *, closed: bool, jumped: bool) -> int:
    client, server = _ends(row)
    is_join = row["signal"] == "subflow-established"
    is_timed = is_join and not jumped
    ids = {
        "client": "local_address_id" if row["host"] == "client" else "remote_address_id",
        "server": "remote_address_id" if row["host"] == "client" else "local_address_id",
    }
    return connection.subflow(
        start_ns=row["at_ns"],
        client_address=client[0],
        client_port=client[1],
        server_address=server[0],
        server_port=server[1],
        kind="join" if is_join else "initial",
        handshake="established",
        join_time_ms=(row["at_ns"] - connection.start_ns) / MILLI if is_timed else None,
        backup=bool(row["backup"]),
        ended="fin" if closed else "open",
        **{f"{side}_address_id": row[column] for side, column in ids.items() if is_join},
    )


def _ends(row: Row) -> tuple[End, End]:
    near = (row["local_address"], row["local_port"])
    far = (row["remote_address"], row["remote_port"])
    return (near, far) if row["host"] == "client" else (far, near)


SOURCE = IpMptcp()
