"""What connections and their subflows are called."""

from __future__ import annotations

from collections import Counter
from typing import Any

from mptcplab.labels import text

Row = dict[str, Any]

# The ends of a direction's data.
SENDERS = {"up": "client", "down": "server"}
RECEIVERS = {"up": "server", "down": "client"}
# Protocols beside TCP; ``unknown`` is one that a file of another tool does not name.
OTHERS = {"udp": "UDP", "quic": "QUIC", "unknown": "protocol unknown"}
# What runs over several paths and over one, by the ``protocol`` of ``[transfer]``.
CANDIDATES = {
    "tcp": ("MPTCP", "TCP over {}"),
    "quic": ("MPQUIC", "QUIC over {}"),
    None: ("several paths", "{} alone"),
}
# Numbers of QUIC's versions that have another name (RFC 9369, RFC 9000 section 15).
QUIC_2, QUIC_DRAFT = 0x6B3343CF, 0xFF0000
# Connections of captures that are so far apart have a clock each.
APART_S = 86_400.0


def begins_s(connection: Row) -> float:
    """Give what a connection's times in words count from: seconds from the first packet of all."""
    start_s: float = connection["start_s"]
    return start_s if start_s >= APART_S else 0.0


def is_mptcp(connection: Row) -> bool:
    """Say whether a connection speaks MPTCP, or did before it fell back to TCP."""
    # Tables written before the column was there.
    known = connection.get("protocol")
    return connection["mptcp_version"] is not None if known is None else known == "mptcp"


def is_datagrams(connection: Row) -> bool:
    """Say whether a connection's packets are datagrams in captures."""
    is_one = connection.get("protocol") in ("udp", "quic")
    return is_one and connection.get("source") is None


def protocol(connection: Row) -> str:
    """Name what a connection speaks, with its version."""
    version = connection["mptcp_version"]
    if version is not None:
        return f"MPTCP v{version}"
    if is_mptcp(connection):
        return "MPTCP, version unknown"
    if (version := connection.get("quic_version")) is not None:
        return f"QUIC {_quic(version)}"
    return OTHERS.get(str(connection.get("protocol")), "plain TCP")


def _quic(version: int) -> str:
    if version >> 8 == QUIC_DRAFT:
        return f"draft {version & 0xFF}"
    version = 2 if version == QUIC_2 else version
    return f"v{version}" if version < 1 << 16 else f"version {version:#x}"


def candidate(protocol: str | None, path: str | None) -> str:
    """Name what runs over several paths, or over one alone; ``None`` is runs of all protocols."""
    multipath, single = CANDIDATES[protocol]
    return multipath if path is None else single.format(text.clean(path))


def single(protocol: str) -> str:
    """Name what baselines run, whatever their path."""
    return "QUIC" if protocol == "quic" else "plain TCP"


def delivered(transfer: Row) -> str:
    """Give a direction's bytes; a lower bound if a path is missing from the captures."""
    is_floor = transfer["elapsed_s"] and transfer["throughput_mbps"] is None
    return f"{'at least ' if is_floor else ''}{text.size(transfer['bytes'])}"


def carried(flow: Row) -> bool:
    """Say whether a flow carried data; other tools do not all count packets."""
    packets = flow["data_packets"]
    return bool(flow["bytes"] if packets is None else packets)


def names_of(subflows: list[Row]) -> dict[int, str]:
    """Name every subflow by its path, or else by what distinguishes its addresses."""
    paths = Counter(row["path"] for row in subflows)
    servers = {(row["server_address"], row["server_port"]) for row in subflows}
    plain = {row["subflow"]: _addresses(row, len(servers) > 1, ports=False) for row in subflows}
    often = Counter(plain.values())

    def name(row: Row) -> str:
        path = row["path"]
        if len(subflows) == 1 or paths[path] == 1:
            return text.clean(path) if path else plain[row["subflow"]]
        ports = often[plain[row["subflow"]]] > 1
        addresses = _addresses(row, len(servers) > 1, ports) if ports else plain[row["subflow"]]
        return text.clean(f"{path} {addresses}") if path else addresses

    return {row["subflow"]: name(row) for row in subflows}


def _addresses(row: Row, both: bool, ports: bool) -> str:
    client = text.endpoint(row["client_address"], row["client_port"] if ports else None)
    server = text.endpoint(row["server_address"], row["server_port"] if ports else None)
    return f"{client} → {server}" if both else client
