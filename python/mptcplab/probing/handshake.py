"""What becomes of a SYN and its answer, and of the first bytes after them."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from mptcplab.engines.field import sockets
from mptcplab.probing import syn
from mptcplab.probing.client import Connection, ProbedPath
from mptcplab.probing.row import ALTERED, BLOCKED, CLEAR, UNKNOWN, Row

TRIES = 3
DATA_BYTES = 50_000
SMALL_MSS = 536
# Of the whole host: SYN/ACKs with MP_CAPABLE.
ANSWERED = "MPCapableSYNACKRX"
DSCP = 10  # AF11: a class that hosts have no use for by themselves
SETTINGS = Path("/proc/sys/net/ipv4")
# Linux's first time-out of a SYN, less what its clock may err; after two it tries without MPTCP.
SYN_TIMEOUT_MS = 900.0


def syn_options(path: ProbedPath) -> Iterator[Row]:
    """Compare the SYN that was sent with the one that the server's kernel saved."""
    with path.connect(tos=DSCP << 2) as connection:
        reply = connection.ask("look")
        tcp_info = sockets.tcp_info(connection.socket)
        local = connection.socket.getsockname()[:2]
    arrived = syn.parse(bytes.fromhex(reply["syn"]))
    yield _mss(path, tcp_info, reply, arrived)
    options = {
        "window scale": ("tcp_window_scaling", syn.SCALE),
        "SACK": ("tcp_sack", syn.SACK),
        "time stamps": ("tcp_timestamps", syn.TIMESTAMPS),
    }
    for probe, (setting, kind) in options.items():
        yield _option(path, probe, _setting(setting), kind in arrived.options)
    yield _ecn(path, arrived)
    same = arrived.dscp == DSCP
    yield Row(path.name, "DSCP", CLEAR if same else ALTERED, str(DSCP), str(arrived.dscp), "SYN")
    hops = f"{arrived.routers} routers, if it began as {arrived.began_with}"
    sent = int(_setting("ip_default_ttl") or 0)
    changed = bool(sent) and arrived.ttl > sent
    yield Row(path.name, "TTL", ALTERED if changed else CLEAR, str(sent), str(arrived.ttl), hops)
    if arrived.unknown:
        kinds = ", ".join(map(str, arrived.unknown))
        yield Row(path.name, "other options", ALTERED, "none", kinds, "kinds in the SYN")
    yield from _translated(path, local, reply["peer"])


def _mss(
    path: ProbedPath, tcp_info: sockets.TcpInfo, reply: dict[str, Any], arrived: syn.Syn
) -> Row:
    timestamps = sockets.TIMESTAMPS_BYTES if tcp_info.options & sockets.TIMESTAMPS else 0
    # The kernel's figures leave room for time stamps.
    ours, theirs = tcp_info.advertised_mss + timestamps, reply["advertised_mss"] + timestamps
    down = tcp_info.send_mss + timestamps
    # Linux sends no segment that is larger than half of the peer's window.
    announced = min(theirs, ours)
    expected = min(announced, (tcp_info.send_window or theirs * 2) // 2)
    sent, received = f"{ours} up, {theirs} down", f"{arrived.mss} up, {down} down"
    lowered = arrived.mss is None or arrived.mss < ours or down < expected
    if not lowered and down < announced:
        reason = "SYN; this host sends no segment above half the server's window, announced or not"
        return Row(path.name, "MSS", UNKNOWN, sent, received, reason)
    verdict = ALTERED if lowered else CLEAR
    return Row(path.name, "MSS", verdict, sent, received, "SYN and SYN/ACK")


def _option(path: ProbedPath, probe: str, setting: str | None, arrived: bool) -> Row:
    sent = setting not in (None, "0")
    received = "yes" if arrived else "no"
    if not sent:
        return Row(path.name, probe, UNKNOWN, "no", received, "this host does not send it")
    return Row(path.name, probe, CLEAR if arrived else ALTERED, "yes", received, "SYN")


def _ecn(path: ProbedPath, arrived: syn.Syn) -> Row:
    received = "yes" if arrived.asks_for_ecn else "no"
    if _setting("tcp_ecn") != "1":
        evidence = "this host does not ask for it: net.ipv4.tcp_ecn"
        return Row(path.name, "ECN", UNKNOWN, "no", received, evidence)
    return Row(path.name, "ECN", CLEAR if arrived.asks_for_ecn else ALTERED, "yes", received, "SYN")


def _translated(path: ProbedPath, local: Any, peer: Any) -> Iterator[Row]:
    ours, theirs = (_end(*end) for end in (local, peer))
    if ours == theirs:
        evidence = "the server sees this host's own address and port"
        yield Row(path.name, "NAT", CLEAR, ours, theirs, evidence)
        return
    port = "port kept" if local[1] == peer[1] else "port changed"
    yield Row(path.name, "NAT", ALTERED, ours, theirs, f"{port}; {_mapping(path)}")


def _mapping(path: ProbedPath) -> str:
    """Say whether a NAT maps a local port to one port for two ports of the server."""
    with suppress(OSError):
        with path.connect() as first:
            port = first.socket.getsockname()[1]
            seen = first.ask("look")["peer"][1]
            with path.connect(port=path.session.mptcp_port, local_port=port) as second:
                other = second.ask("look")["peer"][1]
        return "one port for all destinations" if seen == other else "a port for each destination"
    return "mapping for other destinations not known"


def _end(address: str, port: int) -> str:
    return f"{address.removeprefix('::ffff:')}:{port}"


def multipath(path: ProbedPath) -> Iterator[Row]:
    """Follow MPTCP from the SYN to the data."""
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP).close()
    except OSError:
        evidence = "this host's kernel has no MPTCP"
        yield from (
            Row(path.name, probe, UNKNOWN, "", "", evidence)
            for probe in ("MP_CAPABLE", "MP_CAPABLE answer", "DSS")
        )
        return
    yield (asked := _mp_capable(path))
    yield from _answered(path, asked)


def _mp_capable(path: ProbedPath) -> Row:
    """See MP_CAPABLE in the SYN at a listener of TCP, whose kernel keeps SYNs."""
    seen, late, mirrored = [], [], False
    for _ in range(TRIES):
        try:
            with path.connect(mptcp=True) as connection:
                reply = connection.ask("look")
                seen.append(syn.parse(bytes.fromhex(reply["syn"])))
                late.append(connection.connect_ms >= SYN_TIMEOUT_MS)
                mirrored |= sockets.speaks_mptcp(connection.socket) is True
        except OSError as error:
            return Row(path.name, "MP_CAPABLE", UNKNOWN, "version 1", "", f"no connection: {error}")
    if mirrored:
        evidence = "a server without MPTCP seemed to speak it: the option is sent back on the path"
        return Row(path.name, "MP_CAPABLE", ALTERED, "version 1", "mirrored", evidence)
    arrived = sum(one.mp_capable for one in seen)
    evidence = f"in {arrived} of {TRIES} SYNs"
    if arrived == TRIES:
        return Row(path.name, "MP_CAPABLE", CLEAR, "version 1", "version 1", evidence)
    if arrived == 0 and all(late):
        evidence += "; each was answered only when it was sent again without"
        return Row(path.name, "MP_CAPABLE", BLOCKED, "version 1", "none", evidence)
    if any(late):
        evidence += "; SYNs were lost, after which Linux sends them without"
        return Row(path.name, "MP_CAPABLE", UNKNOWN, "version 1", "", evidence)
    garbled = any(syn.MPTCP in one.options or one.unknown for one in seen)
    received = "another option" if garbled else "none"
    return Row(path.name, "MP_CAPABLE", ALTERED, "version 1", received, evidence)


def _answered(path: ProbedPath, asked: Row) -> list[Row]:
    """See whether the handshake and the data after it stay MPTCP, at a listener of MPTCP."""
    answer, data = "MP_CAPABLE answer", "DSS"
    if asked.verdict != CLEAR:
        return [
            Row(path.name, probe, UNKNOWN, "", "", "no MP_CAPABLE arrives")
            for probe in (answer, data)
        ]
    clear, failure = None, ""
    for _ in range(TRIES):
        answered = sockets.counter(ANSWERED) or 0
        try:
            # Small segments: what large ones meet is another probe's.
            with path.connect(
                port=path.session.mptcp_port, mptcp=True, mss=SMALL_MSS
            ) as connection:
                clear = Row(path.name, answer, CLEAR, "MPTCP", "MPTCP", "the SYN/ACK had it")
                if not sockets.speaks_mptcp(connection.socket):
                    if (sockets.counter(ANSWERED) or 0) > answered:
                        evidence = "the client fell back right after the handshake"
                        return [clear, Row(path.name, data, ALTERED, "MPTCP", "TCP", evidence)]
                    verdict = UNKNOWN if connection.connect_ms >= SYN_TIMEOUT_MS else ALTERED
                    evidence = "the client fell back after the SYN/ACK"
                    return [
                        Row(path.name, answer, verdict, "MPTCP", "TCP", evidence),
                        Row(path.name, data, UNKNOWN, "", "", "the connection is TCP"),
                    ]
                return [clear, _data(path, connection)]
        except OSError as error:
            failure = str(error)
    if clear is None:
        evidence = f"no connection to port {path.session.mptcp_port}: {failure}"
        return [Row(path.name, probe, UNKNOWN, "", "", evidence) for probe in (answer, data)]
    evidence = f"data did not arrive, {TRIES} times: {failure}"
    return [clear, Row(path.name, data, BLOCKED, "MPTCP", "nothing", evidence)]


def _data(path: ProbedPath, connection: Connection) -> Row:
    payload = bytes(DATA_BYTES)
    connection.ask("take", bytes=len(payload), payload=payload)
    theirs = connection.ask("look")["mptcp"]
    ours = sockets.speaks_mptcp(connection.socket)
    ends = (("client", ours), ("server", theirs))
    received = ", ".join(f"{end} {'MPTCP' if speaks else 'TCP'}" for end, speaks in ends)
    verdict = CLEAR if ours and theirs else ALTERED
    evidence = f"after {DATA_BYTES // 1000} kB of data"
    return Row(path.name, "DSS", verdict, "MPTCP", received, evidence)


def _setting(name: str) -> str | None:
    try:
        return (SETTINGS / name).read_text("ascii").strip()
    except OSError:
        return None
