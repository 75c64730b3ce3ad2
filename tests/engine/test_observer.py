"""What agents write down of the kernel, beside what the kernel's own tools say of it."""

from __future__ import annotations

import json
import pathlib
import re
import sys
import time
from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest

import mptcplab
from agents import PORT, Loopback, files, lines, loopback
from mptcplab import _core
from mptcplab.engines.kernel.measured import Numbers, counters
from requirements import need_kernel_namespaces, need_tool

CLIENTS = ["10.0.1.2", "10.0.2.2", "fd00:0:3::2"]
SERVER = "127.0.0.1"
# Half a megabyte, time to look, and again.
THINKING = {"application": "request-response", "direction": "down", "requests": 2}
THINKING |= {"request_bytes": 1000, "response_bytes": 500_000, "think_ns": 1_500_000_000}


# Prints what a connection of two subflows says of itself, once it has come to rest.
ASKED = f"""
import socket, time
from mptcplab.engines.kernel.agent import diagnosis
def made():
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
with made() as listener, made() as client:
    listener.bind(("{SERVER}", {PORT}))
    listener.listen()
    client.bind(("{CLIENTS[0]}", 0))
    client.connect(("{SERVER}", {PORT}))
    with listener.accept()[0] as server:
        server.send(bytes(1000))
        client.recv(1000, socket.MSG_WAITALL)
        time.sleep(0.3)
        reader = diagnosis.Reader()
        print(reader.read(client))
        diagnosis.FULL_INFO = 99
        print(reader.read(client))
"""


@pytest.fixture
def namespace() -> Iterator[Loopback]:
    """A second address of the client, which is a backup."""
    need_kernel_namespaces()
    need_tool("ss", "nstat")
    with loopback() as made:
        for address in CLIENTS:
            made.run(f"ip address add {address} dev lo" + (" nodad" if ":" in address else ""))
        made.run("ip mptcp limits set subflow 4 add_addr_accepted 4")
        made.run(f"ip mptcp endpoint add {CLIENTS[1]} dev lo subflow backup")
        yield made


class Watched:
    """A transfer over two subflows, what was written down of it, and what others saw."""

    def __init__(self, namespace: Loopback, directory: pathlib.Path) -> None:
        job = {"transfer": THINKING, "mptcp": True, "sample_ns": 50_000_000}
        self.files = {host: files(directory, host) for host in ("client", "server")}
        with namespace.start("ip", "mptcp", "monitor") as monitor:
            try:
                self._transfer(namespace, job)
            finally:
                monitor.terminate()
            assert monitor.stdout is not None
            self.monitor = monitor.stdout.read()

    def _transfer(self, namespace: Loopback, job: dict[str, Any]) -> None:
        server = namespace.agent({**job, **self.files["server"], "listen": [SERVER, PORT]})
        connect = {"local": [CLIENTS[0], 0], "remote": [SERVER, PORT]}
        client = namespace.agent({**job, **self.files["client"], "connect": connect})
        server.go()
        client.go()
        time.sleep(0.75)
        # The kernel rests.
        self.ss_ns = time.time_ns()
        self.ss = namespace.run("ss -tinMOH")
        self.did = {"client": client.done(), "server": server.done()}
        self.nstat = namespace.run("nstat --zeros --noupdate --ignore --json")

    def lines(self, host: str, what: str) -> list[dict[str, Any]]:
        """What it wrote down."""
        return lines(self.files[host][what])


@pytest.fixture
def watched(namespace: Loopback, tmp_path: pathlib.Path) -> Watched:
    return Watched(namespace, tmp_path)


def test_samples_are_what_ss_says(watched: Watched) -> None:
    said = {}
    for line in watched.ss.splitlines():
        fields = line.split()
        if fields[0] == "tcp":
            local, remote = (re.sub("%.*:", ":", word) for word in fields[4:6])
            said[local, remote] = line
    assert len(said) == 4
    for host in ("client", "server"):
        then = known(watched.lines(host, "samples"), watched.ss_ns)
        assert len(then) == 2
        for sample in then:
            compare(said[end(sample)], sample)


def compare(line: str, sample: dict[str, Any]) -> None:
    def number(pattern: str) -> float:
        found = re.search(rf"(?:^|\s){pattern}(?:\s|$)", line)
        return float(found[1]) if found else 0

    assert line.split()[6] == sample["congestion_control"], line
    assert number(r"cwnd:(\d+)") == sample["cwnd_packets"]
    assert number(r"ssthresh:(\d+)") == sample.get("ssthresh_packets", 0)
    assert number(r"rtt:([\d.]+)/[\d.]+") == pytest.approx(sample["srtt_ms"])
    assert number(r"rtt:[\d.]+/([\d.]+)") == pytest.approx(sample["rttvar_ms"])
    assert number(r"rto:([\d.]+)") == pytest.approx(sample["timeout_ms"])
    assert number(r"minrtt:([\d.]+)") == pytest.approx(sample["min_rtt_ms"])
    assert number(r"pacing_rate (\d+)bps") == pytest.approx(sample["pacing_mbps"] * 1e6, rel=1e-6)
    assert number(r"delivery_rate (\d+)bps") == pytest.approx(
        sample.get("delivery_mbps", 0) * 1e6, rel=1e-6
    )
    assert number(r"bytes_sent:(\d+)") == sample["sent_bytes"]
    assert number(r"bytes_received:(\d+)") == sample["received_bytes"]
    assert number(r"busy:(\d+)ms") == pytest.approx(sample["busy_ms"], abs=1)
    # Either capital stands for a backup.
    assert ("B" in flags(line) or "b" in flags(line)) == sample["backup"]
    assert sample["in_flight_packets"] == sample["queued_bytes"] == 0
    assert sample["congestion_state"] == "open"


def flags(line: str) -> str:
    found = re.search(r"tcp-ulp-mptcp flags:(\w+)", line)
    assert found
    return found[1]


def test_nothing_is_said_twice_of_a_silence(watched: Watched) -> None:
    """Half a second into 1.5 s of silence nothing changes any more; it is looked at every 50 ms."""
    for host in ("client", "server"):
        rest = {"from": watched.ss_ns - 100_000_000, "to": watched.ss_ns + 400_000_000}
        times = {sample["at_ns"] for sample in watched.lines(host, "samples")}
        assert not [at for at in times if rest["from"] < at < rest["to"]]


def test_what_is_asked_in_parts_is_the_same(
    namespace: Loopback,
) -> None:
    with namespace.start(sys.executable, "-c", ASKED) as asked:
        whole, parts = asked.communicate()[0].splitlines()
    assert whole == parts
    assert whole.count("snd_cwnd") == 2


def test_what_a_connection_knows(watched: Watched) -> None:
    tokens = {int(token, 16) for token in re.findall(r" token:(\w+) ", watched.ss)}
    for host, sent in [("client", 1000), ("server", 500_000)]:
        samples = watched.lines(host, "samples")
        assert {sample["token"] for sample in samples} <= tokens
        middle = known(samples, watched.ss_ns)[0]
        assert middle["connection_sent_bytes"] == sent
        assert middle["connection_acknowledged_bytes"] == sent
        assert middle["unacknowledged_bytes"] == 0
        assert not middle["fallback"]
        (used,) = watched.did[host]["sockets"]
        assert used["token"] == middle["token"]
        assert len(used["subflows"]) == 2
        assert all(subflow["congestion_control"] for subflow in used["subflows"])


def test_others_are_watched_as_well(namespace: Loopback, tmp_path: pathlib.Path) -> None:
    """An agent that watches writes what those that transfer write of themselves."""
    job = {"transfer": THINKING, "mptcp": True, "sample_ns": 50_000_000}
    written = {host: files(tmp_path, host) for host in ("client", "server", "watcher")}
    watching = {"transfer": {"application": "watching"}, "sample_ns": 50_000_000}
    watcher = namespace.agent({**watching, **written["watcher"]})
    server = namespace.agent({**job, **written["server"], "listen": [SERVER, PORT]})
    connect = {"local": [CLIENTS[0], 0], "remote": [SERVER, PORT]}
    client = namespace.agent({**job, **written["client"], "connect": connect})
    for agent in (watcher, server, client):
        agent.go()
    did = client.done(), server.done()
    watcher.say("stop")
    seen = {used["token"]: used for used in watcher.done()["sockets"]}
    # Amid the time to think nothing changes.
    rest_ns = did[0]["started_ns"] + 750_000_000
    watched = {
        end(sample): sample for sample in known(lines(written["watcher"]["samples"]), rest_ns)
    }
    compared = 0
    for host, done in zip(("client", "server"), did, strict=True):
        (used,) = done["sockets"]
        both = seen[used["token"]]["subflows"], used["subflows"]
        assert sorted(both[0], key=str) == sorted(both[1], key=str)
        for sample in known(lines(written[host]["samples"]), rest_ns):
            changed = {"host": "watcher", "at_ns": watched[end(sample)]["at_ns"]}
            assert watched[end(sample)] == sample | changed
            compared += 1
    assert compared == len(watched) == 4


@pytest.mark.parametrize("both", [False, True])
def test_subflows_of_ipv6_join_where_both_versions_are_asked_for(
    namespace: Loopback, tmp_path: pathlib.Path, both: bool
) -> None:
    """The server announces an address of IPv6 on a connection of IPv4."""
    namespace.run("ip mptcp endpoint flush")
    namespace.run(f"ip mptcp endpoint add {CLIENTS[2]} dev lo signal")
    job = {"transfer": THINKING, "mptcp": True, "sample_ns": 50_000_000}
    written = files(tmp_path, "client")
    server = namespace.agent({**job, "listen": ["::", PORT]})
    connect = {"local": None, "remote": [SERVER, PORT], "both_versions": both}
    client = namespace.agent({**job, **written, "connect": connect})
    server.go()
    client.go()
    assert client.done()["bytes_received"] == server.done()["bytes_sent"]
    remotes = {sample["remote"][0] for sample in lines(written["samples"])}
    assert remotes == ({SERVER, CLIENTS[2]} if both else {SERVER})


def known(samples: list[dict[str, Any]], at_ns: int) -> list[dict[str, Any]]:
    """What was known of each subflow at a time: what is missing did not change."""
    before = sorted((one for one in samples if one["at_ns"] <= at_ns), key=lambda one: one["at_ns"])
    return list({end(one): one for one in before}.values())


def end(sample: dict[str, Any]) -> tuple[str, str]:
    local, remote = (":".join(map(str, sample[end])) for end in ("local", "remote"))
    return local, remote


def test_samples_of_plain_tcp(namespace: Loopback, tmp_path: pathlib.Path) -> None:
    transfer = {"application": "bulk", "direction": "up", "duration_ns": 300_000_000}
    job = {"transfer": transfer, "sample_ns": 20_000_000}
    written = files(tmp_path, "client")
    server = namespace.agent({**job, "listen": ["::1", PORT]})
    connect = {"local": None, "remote": ["::1", PORT]}
    client = namespace.agent({**job, **written, "connect": connect})
    server.go()
    client.go()
    assert client.done()["bytes_sent"] == server.done()["bytes_received"]
    samples = lines(written["samples"])
    assert len(samples) >= 5
    for sample in samples:
        assert {sample["local"][0], sample["remote"][0]} == {"::1"}
        assert sample["congestion_control"] in ("reno", "cubic", "bbr")
        assert sample["timeout_ms"] >= 200
        assert sample["peer_window_bytes"] > 0
        assert sample["token"] is None
        assert "backup" not in sample
        assert "connection_sent_bytes" not in sample
    times = [sample["at_ns"] for sample in samples]
    assert times == sorted(times)


def test_events_are_those_of_the_monitor(watched: Watched) -> None:
    names = {
        "CREATED": "created",
        "ESTABLISHED": "established",
        "CLOSED": "closed",
        "SF_ESTABLISHED": "subflow-established",
        "SF_CLOSED": "subflow-closed",
    }
    # "[       CREATED] token=… …"
    seen = re.findall(r"\[ *(\w+)\] token=(\w+)", watched.monitor)
    rows = watched.lines("server", "events")
    known = [(row["signal"], row["token"]) for row in rows if row["signal"] in names.values()]
    said = [(names[name], int(token, 16)) for name, token in seen if name in names]
    # The server's agent began before, and ended before the last of the client's.
    assert known == said[: len(known)]
    assert known[0][0] == "created"
    (joined,) = (
        row
        for row in watched.lines("server", "events")
        if row["signal"] == "subflow-established" and row["remote_address"] == CLIENTS[1]
    )
    assert joined["local_address"] == SERVER
    assert joined["local_port"] == PORT
    assert joined["backup"]
    assert joined["remote_address_id"] == 1


def test_counters_are_those_of_nstat(watched: Watched) -> None:
    wanted = {name: int(value) for name, value in json.loads(watched.nstat)["kernel"].items()}
    for host in ("client", "server"):
        rows = {row["counter"]: row for row in watched.lines(host, "counters")}
        assert rows["MPTcpExtMPCapableSYNTX"]["after"] == 1
        assert rows["MPTcpExtMPJoinSynAckRx"]["after"] == 1
        # It leaves out what goes up and down.
        assert rows.keys() - wanted.keys() <= {"TcpCurrEstab"}
        for name in rows.keys() & wanted.keys():
            before, after = rows[name]["before"], rows[name]["after"]
            assert before <= after <= wanted[name], name
            # TCP's may go on until the last has left.
            if name.startswith("MPTcpExt"):
                assert after == wanted[name], name


def test_numbers_are_those_of_the_analysis(tmp_path: pathlib.Path, download: list[str]) -> None:
    analysis = mptcplab.analyze(download)
    subflows = analysis.subflows.to_dicts()
    (connection,) = analysis.connections.to_dicts()
    assert len(subflows) == 2
    samples, events = tmp_path / "samples", tmp_path / "events"
    second = connection["start_ns"] + 10**9
    rows = []
    for row in reversed(subflows):
        client = [row["client_address"], row["client_port"]]
        server = [row["server_address"], row["server_port"]]
        rows.append({"host": "client", "local": client, "remote": server})
        # The server knows the client by another address.
        public = ["192.0.2.7", client[1]]
        rows.append({"host": "server", "local": server, "remote": public})
    rows.append({"host": "client", "local": ["192.0.2.9", 1], "remote": ["192.0.2.9", 2]})
    figures = {"timeout_ms": 200.0, "backoffs": 0, "retransmitted_packets": 0}
    write(samples, [{**row, **figures, "token": None, "at_ns": second} for row in rows])
    event = {"host": "server", "signal": "subflow-closed", "token": connection["server_token"]}
    event |= {"local_address": server[0], "local_port": server[1]}
    event |= {"remote_address": client[0], "remote_port": client[1]}
    closed = {"host": "server", "signal": "closed", "token": connection["server_token"]}
    unknown = {"host": "client", "signal": "closed", "token": 1}
    write(events, [{**row, "at_ns": second} for row in (event, closed, unknown)])

    private = {"192.0.2.7": client[0]}
    assert client[0] == subflows[0]["client_address"]
    numbers = Numbers(_core.analyze(download), private)
    state = pl.DataFrame(numbers.state([samples]))
    keys = state.select("connection", "subflow", "host", "at_s").rows()
    start = connection["start_s"]
    assert keys == [
        (0, 0, "client", pytest.approx(start + 1)),
        (0, 1, "client", pytest.approx(start + 1)),
        (0, 0, "server", pytest.approx(start + 1)),
        # No such subflow is known, but one is left at either end.
        (0, 1, "server", pytest.approx(start + 1)),
    ]
    signals = pl.DataFrame(numbers.signals([events]))
    assert signals.select("connection", "subflow", "signal").rows() == [
        (None, None, "closed"),
        (0, 0, "subflow-closed"),
        (0, None, "closed"),
    ]


def test_rows_from_elsewhere(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "a", [{"host": "client", "counter": "TcpInSegs", "before": 1, "after": 2}])
    assert pl.DataFrame(counters([tmp_path / "a"])).rows() == [("client", "TcpInSegs", 1, 2)]
    for name in _core.Tables.NAMES:
        table = pl.DataFrame(_core.rows(name, "[]"))
        assert table.height == 0
        described = next(columns for table, _, columns in _core.columns() if table == name)
        assert table.columns == [column[0] for column in described]
    with pytest.raises(mptcplab.Error, match=r"counters, row 1, column before: must not be empty"):
        _core.rows("counters", '[{"host": "client", "counter": "a"}]')


def write(path: pathlib.Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
