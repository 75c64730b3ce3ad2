"""What agents wrote down, as tables: numbered as the analysis of the same packets has it."""

from __future__ import annotations

import json
from ipaddress import ip_address
from pathlib import Path

from mptcplab import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any, TypeAlias

    Row: TypeAlias = dict[str, Any]
    # Client's address and port, server's address and port.
    Ends: TypeAlias = tuple[str, int, str, int]

CLIENT, SERVER = "client", "server"


class Numbers:
    """Connections, subflows and seconds of an analysis.

    ``private`` gives the address that the client has itself for each by which the server knows it,
    where that is another.
    """

    def __init__(self, tables: _core.Tables, private: Mapping[str, str] | None = None) -> None:
        self._private = private or {}
        columns = ["connection", "client_token", "server_token", "start_ns", "start_s"]
        connections = list(tables.rows("connections", columns=columns))
        self._origin_ns = 0
        if connections:
            first = connections[0]
            self._origin_ns = first["start_ns"] - round(first["start_s"] * 1e9)
        self._connections = {
            (host, row[f"{host}_token"]): row["connection"]
            for row in connections
            for host in (CLIENT, SERVER)
            if row[f"{host}_token"] is not None
        }
        self._subflows = {
            _ends(
                row["client_address"], row["client_port"], row["server_address"], row["server_port"]
            ): (
                row["connection"],
                row["subflow"],
            )
            for row in tables.rows("subflows")
            if row["client_address"] is not None and row["server_address"] is not None
        }

    def state(self, samples: Iterable[Path]) -> _core.Table:
        """Make the table ``state`` of files of samples; those of unknown subflows are left out."""
        rows = []
        for row in _lines(samples):
            del row["token"]
            found = self._subflow(row["host"], row.pop("local"), row.pop("remote"))
            if found is not None:
                connection, subflow = found
                rows.append(row | {"connection": connection, "subflow": subflow, **self._time(row)})
        rows.sort(key=lambda row: (row["connection"], row["at_ns"], row["host"], row["subflow"]))
        return _core.rows("state", json.dumps(rows))

    def signals(self, events: Iterable[Path]) -> _core.Table:
        """Make the table ``signals`` of files of events."""
        rows = []
        for row in _lines(events):
            connection = self._connections.get((row["host"], row.get("token")))
            local = row.get("local_address"), row.get("local_port")
            remote = row.get("remote_address"), row.get("remote_port")
            found = None if None in local + remote else self._subflow(row["host"], local, remote)
            # What is said of a connection as a whole is of no subflow.
            about = found[1] if found and row["signal"].startswith("subflow-") else None
            rows.append(row | {"connection": connection, "subflow": about, **self._time(row)})
        rows.sort(key=lambda row: (row["at_ns"], row["host"]))
        return _core.rows("signals", json.dumps(rows))

    def _time(self, row: Row) -> Row:
        return {"at_s": (row["at_ns"] - self._origin_ns) / 1e9}

    def _subflow(self, host: str, local: Any, remote: Any) -> tuple[int, int] | None:
        client, server = (local, remote) if host == CLIENT else (remote, local)
        address = self._private.get(client[0], client[0])
        return self._subflows.get(_ends(address, client[1], *server))


def counters(files: Iterable[Path]) -> _core.Table:
    """Make the table ``counters``."""
    return _core.rows("counters", json.dumps(list(_lines(files))))


def _lines(files: Iterable[Path]) -> Iterator[Row]:
    for path in files:
        with path.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def _ends(client_address: str, client_port: int, server_address: str, server_port: int) -> Ends:
    return (
        str(ip_address(client_address)),
        client_port,
        str(ip_address(server_address)),
        server_port,
    )
