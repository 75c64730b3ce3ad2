"""Probes over loopback."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mptcplab
from experiments.probe.proxy import Proxy
from mptcplab.campaign import definition
from mptcplab.engines.field import preamble, probe_protocol
from mptcplab.probing import (
    data,
    handshake,
    large,
    ports,
    withheld,
)
from mptcplab.probing.client import ProbedPath
from mptcplab.probing.probe import probe
from mptcplab.probing.probes import Probes, blameless
from mptcplab.probing.row import Row
from mptcplab.probing.session import Session, opened
from mptcplab.scenario.scenario import load
from mptcplab.schedule.probing import Probing
from mptcplab.schedule.schedule import planned
from serving import HOST, TIMEOUT_SECONDS, Server, everything, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("probe")) as made:
        yield made


@pytest.fixture
def session(server: Server) -> Iterator[Session]:
    with opened(server.line, server.token, 600) as made:
        yield made


@pytest.fixture
def path(session: Session) -> ProbedPath:
    return ProbedPath(HOST, session)


def sent_to(port: int, data: bytes) -> bytes:
    """Send what may be a preamble and a request; give all that comes until the server closes."""
    with socket.create_connection((HOST, port), TIMEOUT_SECONDS) as connection:
        connection.sendall(data)
        # Who is turned away may already have been reset.
        with suppress(OSError):
            connection.shutdown(socket.SHUT_WR)
        return everything(connection)


# However busy the machine is.
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
ECHO = probe_protocol.line({"do": "echo"})


def test_nothing_is_sent_to_who_has_not_proven_who_it_is(session: Session) -> None:
    port = session.tcp_ports[0]
    good = session.preamble()
    assert sent_to(port, good + ECHO) == probe_protocol.line({"echo": True})
    false = [
        good,
        good[:-1] + bytes([good[-1] ^ 1]),
        preamble.preamble(bytes(16), session.key, 77),
        preamble.preamble(session.run, bytes(32), 77),
        preamble.preamble(session.run, session.key, 2**32 - 1),
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nX-Mptcplab-Proof: zz\r\n\r\n",
        f"GET / HTTP/1.1\r\nX-Mptcplab-Proof: {good.hex()}\r\n\r\n".encode(),
        b"G" * 5000,
    ]
    for raw in false:
        assert sent_to(port, raw + ECHO) == b""


def test_a_preamble_is_taken_once_at_all_ports_together(session: Session) -> None:
    good = session.preamble()
    assert sent_to(session.mptcp_port, good + ECHO) == probe_protocol.line({"echo": True})
    assert sent_to(session.tcp_ports[0], good + ECHO) == b""


def test_a_session_ends_with_its_control_connection(server: Server) -> None:
    with opened(server.line, server.token, 600) as session:
        path = ProbedPath(HOST, session)
        connection = path.connect()
        connection.ask("echo")
    with connection:
        assert everything(connection.socket) == b""
    assert sent_to(session.tcp_ports[0], session.preamble() + ECHO) == b""


@pytest.mark.parametrize(
    "request_",
    [
        {"do": "give", "bytes": 1e12},
        {"do": "wait", "seconds": -1},
        {"do": "take", "bytes": "many"},
        {"do": "take", "bytes": True},
        {"do": "wait"},
        {"do": "shell"},
        {"do": ["echo"]},
        {"do": "echo", "more": 1},
    ],
)
def test_requests_beyond_limits_end_the_connection(
    path: ProbedPath, request_: dict[str, object]
) -> None:
    with path.connect() as connection:
        connection.socket.sendall(probe_protocol.line(request_))
        with pytest.raises(OSError, match="closed|reset"):
            connection.read(1)


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
FIELDS = st.dictionaries(
    st.sampled_from(["do", "seconds", "bytes", "more"]),
    st.sampled_from(list(probe_protocol.MOST)) | VALUES | st.lists(VALUES),
)


@UNHURRIED
@given(st.binary(max_size=300) | FIELDS.map(json.dumps).map(str.encode))
def test_any_line_is_a_request_or_refused(line: bytes) -> None:
    try:
        asked = probe_protocol.read(line)
    except ValueError:
        return
    assert 0 <= asked.amount <= probe_protocol.MOST[asked.do][1]


def test_a_session_has_its_share_of_the_day(tmp_path: Path) -> None:
    with (
        serving(tmp_path, "--per-day", "1 MB") as small,
        opened(small.line, small.token, 600) as session,
        ProbedPath(HOST, session).connect() as connection,
    ):
        connection.ask("give", bytes=4_000_000)
        with pytest.raises(OSError, match="closed|reset"):
            connection.read(4_000_000)


def test_a_path_that_does_not_answer_is_blocked_and_a_server_that_is_gone_unknown(
    tmp_path: Path,
) -> None:
    """The control connection tells the one from the other."""
    with serving(tmp_path) as made, opened(made.line, made.token, 600) as session:
        with socket.socket() as closed:
            closed.bind((HOST, 0))
            session.tcp_ports = [closed.getsockname()[1]]
            (blocked,) = probe(ProbedPath(HOST, session), idle_seconds=0)
            assert (blocked.probe, blocked.verdict) == ("TCP", "blocked")
        made.process.terminate()
        made.process.wait(TIMEOUT_SECONDS)
        (gone,) = probe(ProbedPath(HOST, session), idle_seconds=0)
        assert (gone.probe, gone.verdict) == ("TCP", "unknown")


def test_a_port_that_no_path_reaches_blames_none_and_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who opened one port of two has no network that blocks TCP."""
    one, other = (
        Row(name, "TCP", "blocked", "port 7444", "nothing", "timed out")
        for name in ("wlan0", "lte")
    )
    clear = replace(other, verdict="clear")
    assert blameless([one, clear]) == [one, clear]
    assert Probes([one, clear]).unreached is None
    found = Probes(blameless([one, other]))
    assert {row["verdict"] for row in found.rows} == {"unknown"}
    assert found.unreached == "port 7444 of the server is not reached: open it"
    monkeypatch.setattr("mptcplab.probing.probes.probe_paths", lambda *_: found)
    scenario = tmp_path / "field.toml"
    scenario.write_text(
        'schema = 1\n[transfer]\ndirection = "download"\nsize = "1 MB"\n[path.lte]\n'
        f'interface = "lte"\n[path.wifi]\ninterface = "wlan0"\n[field]\nserver = "h#{"0" * 64}"\n'
    )
    campaign = tmp_path / "weeks.toml"
    campaign.write_text(
        'schema = 1\nengine = "field"\nscenario = "field.toml"\n[[calendar]]\nvisits = 1\n'
        'hours = "06:00-23:00"\nfor_days = 2\n'
    )
    matrix, _ = planned(definition.load(campaign), tmp_path / "out", datetime.now(UTC))
    warned = list[str]()
    probing = Probing(matrix, tmp_path, warned.append)
    # Waiting for a closed port takes half a minute for each path: ever fewer visits do.
    tried = []
    for visit in range(1, 50):
        if probing.is_due(visit):
            tried.append(visit)
            probing.probe(visit)
    assert tried == [1, 3, 7, 15, 31, 47]
    assert warned[0] == f"paths were not probed: {found.unreached}; tried again from visit 3 on"


def test_what_never_left_this_host_is_no_fault_of_the_path(
    session: Session, server: Server
) -> None:
    for name, why in (("wlan9", "no interface wlan9"), ("192.0.2.9", "192.0.2.9 is no address of")):
        with pytest.raises(mptcplab.Error, match=why):
            mptcplab.probe(str(server.line), paths=[name], token=str(server.state / "token"))
        # It was there when it began.
        (row,) = probe(ProbedPath(name, session), idle_seconds=0)
        assert (row.verdict, row.evidence.startswith("this host cannot send by it: ")) == (
            "unknown",
            True,
        )


def test_loopback_is_clear(path: ProbedPath) -> None:
    rows = [*handshake.syn_options(path), data.payload(path), data.windows(path)]
    rows += [data.split(path), *large.large_packets(path), *ports.http(path)]
    assert {row.probe for row in rows} >= {"MSS", "SACK", "DSCP", "NAT", "payload", "window"}
    assert [row for row in rows if row.verdict not in ("clear", "unknown")] == []


def test_what_is_sent_is_asked_for_once(path: ProbedPath, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []
    once = data._payload

    def counted(path: ProbedPath) -> Row:
        tries.append(path)
        return once(path)

    monkeypatch.setattr(data, "_payload", counted)
    assert data.payload(path).verdict == "clear"
    assert len(tries) == 1


def test_all_of_a_servers_addresses_are_tried(
    path: ProbedPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = socket.getaddrinfo(HOST, path.port, type=socket.SOCK_STREAM)
    dead = (*there[0][:4], ("127.255.255.254", path.port))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [dead, *there])
    with path.connect() as connection:
        assert connection.ask("echo") == {"echo": True}


@contextmanager
def proxied(session: Session, proxy: Proxy) -> Iterator[ProbedPath]:
    """A path with a proxy before the server's first port."""
    with socket.create_server((HOST, 0)) as listener:
        target = (HOST, session.tcp_ports[0])
        threading.Thread(target=proxy.serve, args=(listener, target), daemon=True).start()
        session.tcp_ports = [listener.getsockname()[1]]
        yield ProbedPath(HOST, session)
        listener.shutdown(socket.SHUT_RDWR)


def test_a_relay_is_a_split_connection(session: Session) -> None:
    """It takes what the server does not read, as proxies do."""
    with proxied(session, Proxy()) as path:
        row = data.split(path)
    assert row.verdict == "altered", row


def test_who_acknowledges_in_this_hosts_place_is_found(
    session: Session, path: ProbedPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The papers' probe: a filter drops the data, so that this host acknowledges nothing."""
    with socket.socket() as any_:
        may_filter = withheld._filtered(any_) is not None
    monkeypatch.setattr(withheld, "SECONDS", 1.0)
    (row,) = withheld.acknowledgements(path)
    assert row.verdict == ("clear" if may_filter else "unknown"), row
    with proxied(session, Proxy()) as path:
        (row,) = withheld.acknowledgements(path)
    assert row.verdict == ("altered" if may_filter else "unknown"), row


def test_without_the_right_to_filter_acknowledgements_expire_at_a_router(
    path: ProbedPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is none, they arrive as ever, and nothing is told."""
    monkeypatch.setattr(withheld, "_filtered", lambda _: None)
    (row,) = withheld.acknowledgements(path)
    assert row.verdict == "unknown", row
    assert "no router before the server" in row.evidence


@pytest.mark.parametrize(
    ("caches", "evidence"), [(True, "a cache answered"), (False, "headers on the way: ")]
)
def test_a_proxy_of_http_is_found(session: Session, caches: bool, evidence: str) -> None:
    proxy = Proxy(caches=caches, header="" if caches else "Via: 1.1 a-box\r\n")
    with proxied(session, proxy) as path:
        (row,) = ports.http(path)
    assert row.verdict == "altered", row
    assert evidence in row.evidence


def test_a_segment_that_the_window_bounds_says_nothing_of_what_was_announced(
    path: ProbedPath,
) -> None:
    """Loopback's MSS is above half of any first window."""
    row = next(row for row in handshake.syn_options(path) if row.probe == "MSS")
    sizes = [int(size) for size in re.findall(r"[0-9]+", f"{row.sent} {row.arrived}")]
    assert sizes[3] < sizes[1], row
    assert row.verdict == "unknown", row


def test_what_is_found_is_a_table(server: Server, tmp_path: Path) -> None:
    token = str(server.state / "token")
    found = mptcplab.probe(str(server.line), paths=[HOST], token=token, idle_seconds=0)
    assert found.table.columns == [
        "path",
        "probe",
        "verdict",
        "sent",
        "arrived",
        "evidence",
        "at_ns",
    ]
    assert set(found.table["verdict"]) <= {"clear", "unknown"}
    for kind, read in (("parquet", pl.read_parquet), ("csv", pl.read_csv)):
        found.write(tmp_path, kind)
        came = read(tmp_path / f"probes.{kind}")
        assert came["probe"].to_list() == [row["probe"] for row in found.rows]
    assert abs(found.rows[0]["at_ns"] - time.time_ns()) < 3600 * 10**9
    load(str(_written(tmp_path, found.scenario())), [])


def _written(directory: Path, text: str) -> Path:
    file = directory / "found.toml"
    file.write_text(text, "utf-8")
    return file
