"""Probes over loopback, and what they found over emulated links."""

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
from experiments.probe import carriers
from experiments.probe.cases import CASES
from experiments.probe.proxy import Proxy
from experiments.probe.run import KEPT
from experiments.probe.table import BEGIN, PAGE, table, wrong
from mptcplab.campaign import sheet
from mptcplab.engines.field import preamble, probe_protocol
from mptcplab.probing import (
    announce,
    data,
    handshake,
    idle,
    join,
    large,
    ports,
    scenario,
    syn,
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
    matrix, _ = planned(sheet.load(campaign), tmp_path / "out", datetime.now(UTC))
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


@UNHURRIED
@given(st.integers(537, 9000), st.integers(500, 9000))
def test_the_largest_segment_is_found_in_few_rounds(full: int, hole: int) -> None:
    rounds = []

    def fits(sizes: list[int]) -> list[bool]:
        rounds.append(sizes)
        assert len(sizes) <= large.AT_A_TIME
        return [size <= hole for size in sizes]

    found = large.largest(fits, full)
    assert found == (min(hole, full - 1) if hole >= large.LEAST_MSS else None)
    # 16 sizes at a time, so a round leaves a 17th, and each costs a time-out.
    assert len(rounds) <= 5


@pytest.mark.parametrize("mss", [1357, 1372, 1428])
def test_the_limits_of_the_papers_networks_come_out(mss: int) -> None:
    """Section 3.2: what carriers let through of segments of 1460."""
    assert large.largest(lambda sizes: [size <= mss for size in sizes], 1460) == mss


def test_a_syn_is_read() -> None:
    """Of a Linux client, with MP_CAPABLE of version 1, as TCP_SAVED_SYN gave it."""
    ip = bytes.fromhex("4528004412340000 3f06 0000 0a000102 0a090001".replace(" ", ""))
    options = bytes.fromhex(
        "020405b4 0402080a 00000001 00000000 0103030a 1e040101".replace(" ", "")
    )
    tcp = (
        bytes.fromhex("c350 1f90 00000001 00000000 b0c2 faf0 0000 0000".replace(" ", "")) + options
    )
    read = syn.parse(ip + tcp)
    assert (read.mss, read.ttl, read.dscp, read.mp_capable) == (1460, 63, 10, True)
    assert read.asks_for_ecn
    assert read.unknown == []


@pytest.mark.parametrize(
    ("answered", "verdict", "arrived"),
    [
        ({2: True, 5: True}, "clear", "5 s"),
        ({2: True, 5: True, 8: False}, "blocked", "5 s"),
        ({2: True, 5: False, 8: True}, "unknown", ""),
        ({2: False, 5: False}, "unknown", ""),
        # Where nothing else was answered either, a silence says nothing.
        ({2: True, 5: None, 8: False}, "blocked", "2 s"),
        ({2: True, 5: None, 8: True}, "clear", "8 s"),
        ({2: True, 5: None}, "unknown", "2 s"),
        ({2: None, 5: None}, "unknown", "0 s"),
    ],
)
def test_idle_times_are_bracketed(
    answered: dict[float, bool | None], verdict: str, arrived: str
) -> None:
    row = idle.judged("wifi", "idle, server speaks", answered)
    assert (row.verdict, row.arrived) == (verdict, arrived)


FORGOTTEN = Row("wifi", "idle, server speaks", "blocked", "30 s", "16 s", "")
KEPT_30_S = Row("wifi", "idle, server speaks", "clear", "30 s", "30 s", "")


def test_the_longest_interval_of_keep_alives_that_helps_is_told() -> None:
    answered: dict[float, bool] = {1: True, 8: True, 10: False, 15: False}
    row = idle.kept_alive("wifi", 30.0, answered, silent=FORGOTTEN)
    assert (row.verdict, row.arrived) == ("clear", "every 8 s")
    assert scenario.recommended([row, FORGOTTEN]) == {"keep-alive": "every 8 s"}
    assert idle.kept_alive("wifi", 30.0, {1: False}, silent=FORGOTTEN).verdict == "blocked"


@pytest.mark.parametrize(
    ("answered", "silent"),
    [
        # Nothing is forgotten without them: something else was in the way.
        ({1: False, 8: False}, KEPT_30_S),
        ({1: True, 8: False}, KEPT_30_S),
        # One that is more frequent did not help.
        ({1: False, 8: True, 15: False}, FORGOTTEN),
    ],
)
def test_keep_alives_are_not_judged_by_what_they_cannot_cause(
    answered: dict[float, bool], silent: Row
) -> None:
    assert idle.kept_alive("wifi", 30.0, answered, silent=silent).verdict == "unknown"


def test_a_server_that_goes_meanwhile_has_forgotten_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Longer silences end after it has gone, as if there were a time-out."""
    monkeypatch.setattr(idle, "STEPS", (1, 4))
    with serving(tmp_path) as made, opened(made.line, made.token, 600) as session:
        gone = threading.Timer(2.5, made.process.terminate)
        gone.start()
        rows = list(idle.silence(ProbedPath(HOST, session), 6.0))
        made.process.wait(TIMEOUT_SECONDS)
    assert {row.verdict for row in rows} == {"unknown"}, rows


def test_silences_of_an_hour_are_bracketed() -> None:
    steps = [float(step) for step in idle.STEPS]
    assert steps == sorted(steps)
    assert (steps[0], steps[-1]) == (2, 4000)
    row = idle.judged("wifi", "idle, client speaks", {step: step <= 1800 for step in steps})
    assert row.evidence == "forgotten between 1800 and 2400 s"
    # Twice for each, both ways and with keep-alives, and what else is probed meanwhile.
    assert 3 * idle.TIMES * len(steps) + 2 * large.AT_A_TIME * large.TIMES < 256


ADDRESS = announce.Tried(sent=1, taken=0, received=1, others=0)
LOST = replace(ADDRESS, received=0)
SILENT = announce.Tried(sent=0, taken=0, received=0, others=0)


@pytest.mark.parametrize(
    ("tries", "verdict"),
    [
        ([ADDRESS, ADDRESS, ADDRESS], "clear"),
        ([ADDRESS, LOST, ADDRESS], "clear"),
        ([LOST, LOST, LOST], "blocked"),
        # A single one is not sent again for two minutes.
        ([LOST, SILENT, SILENT], "unknown"),
        # Other programs' are counted, too, ...
        ([LOST, replace(LOST, received=1), LOST], "unknown"),
        ([replace(ADDRESS, others=1)] * 3, "unknown"),
        # ... but not among what the connection itself took.
        ([replace(ADDRESS, taken=1, others=1), LOST, LOST], "clear"),
    ],
)
def test_addresses_that_are_announced_arrive_or_are_taken_out(
    tries: list[announce.Tried], verdict: str
) -> None:
    row = announce.judged("wifi", "ADD_ADDR down", tries)
    assert row.verdict == verdict, row
    taken = 'option = "add-addr"' in " ".join(scenario.elements([row]))
    assert taken == (verdict == "blocked")


JOINED = join.Tried(left=True, joined=True, syns=1, others=0)
REFUSED = replace(JOINED, joined=False)
STRIPPED = replace(REFUSED, syns=0)


@pytest.mark.parametrize(
    ("tries", "verdict"),
    [
        ([JOINED] * 3, "clear"),
        # Whoever else joins there: ours did.
        ([replace(JOINED, syns=5, others=3)] * 3, "clear"),
        ([JOINED, STRIPPED, JOINED], "unknown"),
        ([STRIPPED] * 3, "blocked"),
        ([REFUSED] * 3, "altered"),
        # Another program's SYNs hide that ours are taken out.
        ([replace(REFUSED, others=1)] * 3, "unknown"),
        ([REFUSED, STRIPPED, STRIPPED], "unknown"),
        # This host joins nothing, whatever other programs on it do.
        ([replace(STRIPPED, left=False)] * 3, "unknown"),
        ([STRIPPED, STRIPPED, replace(STRIPPED, left=False)], "unknown"),
    ],
)
def test_joins_are_judged_by_what_is_the_connections_own(
    tries: list[join.Tried], verdict: str
) -> None:
    row = join.judged("lte", tries)
    assert row.verdict == verdict, row


def test_a_segment_that_the_window_bounds_says_nothing_of_what_was_announced(
    path: ProbedPath,
) -> None:
    """Loopback's MSS is above half of any first window."""
    row = next(row for row in handshake.syn_options(path) if row.probe == "MSS")
    sizes = [int(size) for size in re.findall(r"[0-9]+", f"{row.sent} {row.arrived}")]
    assert sizes[3] < sizes[1], row
    assert row.verdict == "unknown", row


def test_a_port_that_lets_mptcp_through_is_recommended() -> None:
    rows = [
        Row("wifi", "MP_CAPABLE", "altered", "version 1", "none", ""),
        Row("wifi", "port 80", "clear", "2, 3, 4, 8", "2, 3, 4, 8", ""),
        Row("wifi", "port 443", "altered", "2, 3, 4, 8", "2, 3, 4, 8, 30", ""),
    ]
    assert scenario.recommended(rows) == {"port": "443, where MP_CAPABLE arrives"}


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


def test_a_table_as_csv_holds_no_formula_and_steers_nothing(tmp_path: Path) -> None:
    """What others on the way wrote is text in a spreadsheet, too, and the same in Parquet."""
    texts = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "a=b", "\x1b[2J\x9b2J", "\u202ex\u2028", "é-"]
    found = Probes([Row("", "options", "altered", one, one, one, 0) for one in texts])
    for kind in ("parquet", "csv"):
        found.write(tmp_path, kind)
    assert pl.read_parquet(tmp_path / "probes.parquet")["evidence"].to_list() == texts
    wanted = ["'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\ufffdx", "a=b"]
    wanted += ["\ufffd[2J\ufffd2J", "\ufffdx\ufffd", "é-"]
    for name in ("sent", "arrived", "evidence"):
        assert pl.read_csv(tmp_path / "probes.csv")[name].to_list() == wanted


def _written(directory: Path, text: str) -> Path:
    file = directory / "found.toml"
    file.write_text(text, "utf-8")
    return file


def test_what_was_found_over_links_is_what_stands_there() -> None:
    kept = json.loads(KEPT.read_text("utf-8"))
    assert kept.keys() == {case.name for case in CASES}
    assert wrong(kept) == []
    assert table(kept) in PAGE.read_text("utf-8").partition(BEGIN)[2]


def test_what_the_papers_tell_of_their_carriers_was_found_on_the_studys_links() -> None:
    kept = carriers.read()
    assert kept.keys() == {one.name for one in carriers.CARRIERS}
    for carrier in carriers.CARRIERS:
        assert kept[carrier.name].keys() == carriers.PARTS.keys()
        for part, found in kept[carrier.name].items():
            assert carriers.wrong(carrier, part, found.probes, found.minute_seconds) == []
    assert carriers.table(kept) in PAGE.read_text("utf-8").partition(carriers.BEGIN)[2]


def test_what_was_found_is_a_scenario(tmp_path: Path) -> None:
    kept = json.loads(KEPT.read_text("utf-8"))
    for case in CASES:
        # Where a host did not ask for what a box takes away, it is not known once.
        several = [[Row(**row) for row in one] for one in kept[case.name]]
        file = tmp_path / "found.toml"
        for rows in several:
            file.write_text(scenario.toml(rows), "utf-8")
            load(str(file), [])
        if case.found_by:
            found = any(scenario.elements(rows) for rows in several)
            assert found or case.found_by == ("payload",), case.name
