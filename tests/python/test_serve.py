"""``mptcplab serve`` on this host's loopback: what it serves, and what it does not."""

from __future__ import annotations

import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mptcplab import Error
from mptcplab.api.runs import run
from mptcplab.cli.main import parser
from mptcplab.engines.field import clock, control, preamble, server_line
from mptcplab.engines.field.engine import Field
from mptcplab.engines.field.routes import Route
from mptcplab.scenario.scenario import load
from serving import HOST, REQUEST, TIMEOUT_SECONDS, Server, everything, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("serve")) as made:
        yield made


def test_key_and_token_are_nobody_elses(server: Server) -> None:
    assert {path.name: path.stat().st_mode & 0o777 for path in server.state.iterdir()} | {
        "served.json": 0
    } == {"token": 0o600, "server.pem": 0o600, "served.json": 0}


def test_a_run_over_loopback_is_a_run_like_others(server: Server, tmp_path: Path) -> None:
    scenario = {
        "schema": 1,
        "transfer": {"direction": "download", "size": "3 MB"},
        "path": {"near": {"interface": "lo"}},
        "field": {"server": str(server.line), "token": str(server.state / "token")},
    }
    made = run(scenario, engine="field", out=tmp_path / "run")
    for one in made.runs:
        assert one.outcome["finished"], one.outcome["reason"]
        (down,) = one.transfers.filter(direction="down").iter_rows(named=True)
        assert down["bytes"] == 3_000_000
        assert one.about["field"]["clocks"]["near"]["before"]["answers"] > 0
        # Both ends are this host: their clocks are one.
        near = one.about["field"]["clocks"]["near"]["before"]
        assert abs(near["offset_ns"]) <= near["rtt_ns"] / 2


def test_an_idle_connection_says_at_its_end_that_it_is_there(
    server: Server, tmp_path: Path
) -> None:
    idle = {"application": "idle", "direction": "download", "duration": "1.5 s"}
    scenario = {
        "schema": 1,
        "transfer": idle,
        "path": {"near": {"interface": "lo"}},
        "field": {"server": str(server.line), "token": str(server.state / "token")},
    }
    made = run(scenario, engine="field", out=tmp_path / "run", baselines=False)
    assert made.mptcp.outcome["finished"], made.mptcp.outcome["reason"]
    (down,) = made.mptcp.transfers.filter(direction="down").iter_rows(named=True)
    assert (down["bytes"], down["elapsed_s"] >= 1.5) == (1000, True)


def test_a_wrong_token_is_refused(server: Server) -> None:
    with (
        pytest.raises(Error, match="refuses: wrong token"),
        control.connected(server.line, "x" * 43),
    ):
        pass


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["reno", "mine"], "at the server: congestion control mine: No such file or directory"),
        (["reno"] * 17, "not a list of 16 names at most"),
        (["a name"], "not a list of 16 names at most"),
    ],
)
def test_a_server_says_which_congestion_control_it_cannot_choose(
    server: Server, names: list[str], message: str
) -> None:
    with (
        pytest.raises(Error, match=f"refuses: .*{message}"),
        control.connected(server.line, server.token, names),
    ):
        pass
    with control.connected(server.line, server.token, ["reno"]):
        pass


def test_a_server_is_asked_for_what_all_runs_choose(server: Server) -> None:
    scenario = {
        "schema": 1,
        "transfer": {"direction": "download", "size": "1 kB"},
        "path": {"near": {"interface": "lo"}},
        "field": {"server": str(server.line), "token": str(server.state / "token")},
    }
    _, usual = load(scenario)
    _, other = load(scenario | {"kernel": {"congestion_control": "mine"}})
    engine = Field()
    engine.greet([usual])
    with pytest.raises(Error, match="at the server: congestion control mine"):
        engine.greet([usual, other])
    assert "congestion control mine" in engine.away(other)["near"]


def test_another_server_is_not_trusted(server: Server) -> None:
    other = server_line.ServerLine(HOST, server.line.port, "0" * 64)
    with pytest.raises(Error, match="is another server"), control.connected(other, server.token):
        pass


def test_nothing_is_sent_to_who_does_not_prove_himself(server: Server) -> None:
    with control.connected(server.line, server.token) as connection:
        ready = connection.ask(REQUEST)
        run_, key = bytes.fromhex(ready["run"]), bytes.fromhex(ready["key"])
        good = preamble.preamble(run_, key, 0)
        false = [
            b"GET / HTTP/1.1\r\n\r\n",
            good[:-1] + bytes([good[-1] ^ 1]),
            preamble.preamble(bytes(16), key, 0),
            preamble.preamble(run_, bytes(32), 0),
            preamble.preamble(run_, key, 1),
        ]
        for raw in false:
            with server.connect() as sock:
                sock.sendall(raw)
                assert everything(sock) == b""
        with server.connect() as sock:
            sock.sendall(good)
            # The same once more, while the first is served.
            with server.connect() as again:
                again.sendall(good)
                assert everything(again) == b""
            sock.shutdown(socket.SHUT_WR)
            assert len(everything(sock)) == 100_000
    with server.connect() as sock:
        sock.sendall(good)
        assert everything(sock) == b""


def test_echoes_answer_their_own_run_alone_and_no_longer_than_asked(server: Server) -> None:
    with control.connected(server.line, server.token) as connection:
        ready = connection.ask(REQUEST)
        run_, key = bytes.fromhex(ready["run"]), bytes.fromhex(ready["key"])
        route = Route("lo", HOST, HOST)
        found = clock.offset(route, server.line.port, run_, key, 5)
        assert found is not None
        assert found.answers == 5
        assert clock.offset(route, server.line.port, run_, bytes(32), 2) is None
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.connect((HOST, server.line.port))
            sock.settimeout(TIMEOUT_SECONDS)
            asked = preamble.Echo(run_, 9, 1).packed(key)
            sock.send(b"?" * 1000)
            sock.send(asked)
            answer = sock.recv(1 << 16)
            assert len(answer) == len(asked)
            # An answer that comes back is not answered again.
            sock.send(answer)
            sock.send(preamble.Echo(run_, 10, 1).packed(key))
            echo = preamble.read_echo(sock.recv(1 << 16))
            assert echo is not None
            assert (echo.sequence, echo.sent_ns) == (10, 1)
    # The next one is served when that is over.
    server.transfer()
    assert clock.offset(route, server.line.port, run_, key, 2) is None


def test_who_kills_it_in_the_middle_of_a_run_gains_nothing(tmp_path: Path) -> None:
    with (
        serving(tmp_path, "--per-day", "1 MB", ends=-signal.SIGKILL) as killed,
        control.connected(killed.line, killed.token) as connection,
    ):
        connection.ask(REQUEST)
        killed.process.kill()
    with (
        serving(tmp_path, "--per-day", "1 MB") as again,
        pytest.raises(Error, match="carried all that it may today"),
    ):
        again.transfer()


def test_a_port_that_is_taken_says_what_helps(server: Server, tmp_path: Path) -> None:
    port = str(server.line.port)
    arguments = ["serve", "--address", HOST, "--port", port, "--state", str(tmp_path)]
    command = [sys.executable, "-m", "mptcplab", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "name another port (--port" in done.stderr


def test_an_echo_is_answered_once(server: Server) -> None:
    hold_echoes(server)


def test_echoes_of_both_versions_are_answered_where_it_listens_everywhere(tmp_path: Path) -> None:
    with serving(tmp_path, address="::") as everywhere:
        for host in (HOST, "::1"):
            hold_echoes(everywhere, host)


def hold_echoes(server: Server, host: str = HOST) -> None:
    """Hold a server to answering each once, from the address that was asked."""
    with control.connected(server.line, server.token) as connection:
        ready = connection.ask(REQUEST)
        run_, key = bytes.fromhex(ready["run"]), bytes.fromhex(ready["key"])
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.connect((host, server.line.port))
            sock.settimeout(TIMEOUT_SECONDS)
            for sequence in (3, 3, 4, 2**32 - 1, 5):
                sock.send(preamble.Echo(run_, sequence, 1).packed(key))
            answers = [preamble.read_echo(sock.recv(1 << 16)) for _ in range(3)]
            assert [one and one.sequence for one in answers] == [3, 4, 5]


def test_a_unit_keeps_all_options() -> None:
    arguments = ["serve", "--systemd", "--name", "lab.example.org", "--address", "fe80::1%eth0"]
    arguments += ["--port", "443", "--port", "8443", "--rate", "200 Mbit/s", "--per-run", "500MB"]
    arguments += ["--per-day", "30GB"]
    command = [sys.executable, "-m", "mptcplab", *arguments, "--clients", "3"]
    unit = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    (line,) = (line for line in unit.splitlines() if line.startswith("ExecStart="))
    read = shlex.split(line.removeprefix("ExecStart=").replace("%%", "%"))
    asked = parser().parse_args(read[4:])
    assert (asked.name, asked.address, asked.port) == (
        "lab.example.org",
        ["fe80::1%eth0"],
        [443, 8443],
    )
    assert (asked.rate, asked.per_run, asked.per_day) == (200 * 10**6, 500 * 10**6, 30 * 10**9)
    assert (asked.clients, asked.state) == (3, "/var/lib/mptcplab")
    assert "AmbientCapabilities=CAP_NET_RAW CAP_NET_BIND_SERVICE" in unit
