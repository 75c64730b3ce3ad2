"""Programs that are none of ours over a scenario's paths."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

import polars as pl
import pytest

from engine.machines import Machine, about
from engine.shells import BYTES, PATHS, SERVER, SERVES, Shell, data
from mptcplab.results.run import Run
from requirements import need_tool

LIGHTTPD = """\
server.document-root = "{directory}"
server.port = 80
"""


def test_a_run_is_left_under_its_name(machine: Machine) -> None:
    # Not a pattern, which the neighbour would match.
    shell = Shell(machine)
    for name, count in (("s1p", 2), ("s*p", 1)):
        shell.out = machine.directory / name
        line = "import socket; socket.create_connection(('server', 7000)).recv(1)"
        asks = f'for n in $(seq {count}); do {sys.executable} -c "{line}"; done'
        serves = f'{sys.executable} -c "{SERVES.format(count=count)}"'
        shell.run("sh", "-c", asks, serve=serves)
        assert shell.left.connections.height == count
    assert Run(machine.directory / "s1p").connections.height == 2


@pytest.mark.parametrize("direction", ["up", "down"])
def test_iperf3_each_way(machine: Machine, direction: str) -> None:
    need_tool("iperf3", "mptcpize")
    shell = Shell(machine)
    reverse = ["-R"] if direction == "down" else []
    said = shell.run(
        *("iperf3", "-c", "server", "-t", "2", *reverse), serve="iperf3 -s -1", mptcpize=True
    )
    assert "iperf Done." in said
    assert "Server listening on 5201" in (shell.out / "server.log").read_text()
    run = shell.left
    assert run.connections["mptcp_version"].to_list() == [1, 1]
    transfers = run.transfers.filter(direction=direction)
    # More than one path could.
    assert transfers["bytes"].max() > 20e6 / 8 * 1.1  # type: ignore[operator]
    most = transfers.sort("bytes")["connection"].to_list()[-1]
    shares = run.flows.filter(connection=most, direction=direction)["share"].to_list()
    assert len(shares) == 2
    assert min(shares) > 0.1
    assert f"{shell.out} holds the run" in shell.err


def test_curl_from_lighttpd(host: Machine) -> None:
    need_tool("lighttpd", "curl", "mptcpize")
    shell = Shell(host)
    digest = data(host)
    directory = host.directory
    (directory / "lighttpd.conf").write_text(LIGHTTPD.format(directory=directory / "served"))
    said = shell.run(
        *("curl", "-s", "-o", "got", "-w", "%{http_code} %{remote_ip}", "http://server/data"),
        serve=f"lighttpd -D -f {directory}/lighttpd.conf",
        mptcpize=True,
    )
    assert said == f"200 {SERVER}"
    assert hashlib.sha256((directory / "got").read_bytes()).hexdigest() == digest
    down = shell.left.transfers.filter(direction="down")
    assert BYTES < down["bytes"][0] < BYTES + 1000
    assert shell.left.connections["mptcp_version"].to_list() == [1]
    assert min(shell.left.flows.filter(direction="down")["share"].to_list()) > 0.1


def test_the_http_server_of_python(host: Machine) -> None:
    need_tool("curl", "mptcpize")
    shell = Shell(host)
    digest = data(host)
    said = shell.run(
        *("sh", "-c", "curl -s http://$MPTCPLAB_SERVER:8000/data | sha256sum"),
        serve="python3 -m http.server --directory served",
        mptcpize=True,
    )
    assert said.split()[0] == digest
    assert "GET /data" in (shell.out / "server.log").read_text()


def test_what_is_told_of_it(host: Machine) -> None:
    need_tool("iperf3", "mptcpize")
    shell = Shell(host)
    shell.run(*("iperf3", "-c", "server", "-t", "1"), serve="iperf3 -s -1", mptcpize=True)
    assert {file.name for file in shell.out.iterdir()} == {
        *("scenario.toml", "run.json", "client.pcapng", "server.pcapng", "tables", "server.log")
    }
    record = about(shell.left)
    assert record["engine"] == "kernel"
    assert record["kernel"]["devices"] == host.devices
    assert record["programs"] == {
        "command": ["iperf3", "-c", "server", "-t", "1"],
        "serve": "iperf3 -s -1",
        "mptcpize": True,
        "mptcpize_all": False,
        "status": 0,
    }
    assert record["outcome"]["finished"] is True
    # What the kernel said of sockets that are none of ours.
    for end in ("client", "server"):
        used = record["kernel"]["sockets"][end]
        assert [socket["mptcp"] for socket in used] == [True, True]
        assert all(len(socket["subflows"]) == 2 for socket in used)
    state = shell.left.tables.table("state")
    sent = state.filter(host="client", connection=1).group_by("subflow").agg(pl.col("at_ns").len())
    assert sent.sort("subflow")["subflow"].to_list() == [0, 1]
    assert state.filter(host="client", connection=1)["cwnd_packets"].max() > 10  # type: ignore[operator]
    assert state.filter(connection=1)["connection_sent_bytes"].max() > 500_000  # type: ignore[operator]
    signals = shell.left.tables.table("signals")
    assert "subflow-established" in signals.filter(host="server")["signal"].to_list()


def test_what_is_told_of_it_as_json(host: Machine) -> None:
    shell = Shell(host)
    serves = f'{sys.executable} -c "{SERVES.format(count=1)}"'
    asks = "import socket; print(socket.create_connection(('server', 7000)).recv(1))"
    printed = json.loads(shell.run(sys.executable, "-c", asks, serve=serves, json=True))
    assert shell.err.count("b'x'") == 1
    assert (printed["directory"], printed["status"]) == (str(shell.out), 0)
    assert printed["about"]["programs"]["serve"] == serves
    assert len(printed["tables"]["connections"]) == 1


def test_without_mptcpize_a_program_speaks_what_it_wants(host: Machine) -> None:
    need_tool("curl")
    shell = Shell(host)
    data(host)
    shell.run(
        *("curl", "-so", "got", "http://server:8000/data"),
        serve="python3 -m http.server --directory served",
    )
    assert shell.left.connections["mptcp_version"].to_list() == [None]
    assert about(shell.left)["kernel"]["sockets"]["client"][0]["mptcp"] is False
    assert "the programs did not ask for MPTCP: --mptcpize\n" in shell.err


HINT = "the server's program did not ask for MPTCP: --mptcpize"
# A client that asks for MPTCP, whatever the server does.
ASKS = (
    "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262); "
    f"s.connect(('{SERVER}', 8000)); s.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n'); "
    "print(len(s.recv(1000)) > 0)"
)
WEB = "python3 -m http.server"


def test_a_server_that_did_not_ask_for_mptcp_is_hinted_at(host: Machine) -> None:
    shell = Shell(host)
    assert shell.run(sys.executable, "-c", ASKS, serve=WEB) == "True\n"
    assert HINT in shell.err
    stripped = host.write(
        PATHS.replace('[path.wifi]\nrate = "20 Mbit/s"\ndelay = "5 ms"\nqueue = "60 kB"', STRIPPED)
    )
    more = ("--out", host.directory / "stripped", "--serve", WEB, "--", sys.executable, "-c", ASKS)
    done = host.run("shell", stripped, *more)
    assert "without MP_CAPABLE" in done.stderr
    assert HINT not in done.stderr


def test_programs_that_no_library_reaches_are_hinted_at(host: Machine) -> None:
    """Socket calls of their own, as in Go: here by the number of the system call."""
    own = (
        "import ctypes, socket, platform; "
        "number = {'x86_64': 41, 'aarch64': 198}[platform.machine()]; "
        "s = socket.socket(fileno=ctypes.CDLL(None).syscall(number, 2, 1, 0)); "
        f"s.connect(('{SERVER}', 8000)); s.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n'); "
        "print(len(s.recv(1000)) > 0)"
    )
    shell = Shell(host)
    assert shell.run(sys.executable, "-c", own, serve=WEB, mptcpize=True) == "True\n"
    assert "--mptcpize-all" in shell.err


# A path that would take an answer away, too.
STRIPPED = """\
[path.wifi]
link = "stripping"

[link.stripping]
uplink = [{ element = "delay", delay = "5 ms" }]
downlink = [{ element = "strip-options" }, { element = "delay", delay = "5 ms" }]
"""


def test_without_any_connection_that_is_said_once(host: Machine) -> None:
    shell = Shell(host)
    shell.run("true")
    assert "there was no connection" in shell.err
    assert "TCP" not in shell.err
    # One time of a hundred there was nothing.
    assert "later than set" not in shell.err


def test_a_command_without_two_dashes_is_told_of_them(host: Machine) -> None:
    done = host.run("shell", "wifi-lte", "--mptcpize", "iperf3", "-c", "server")
    assert done.returncode == 2
    assert done.stderr == (
        "mptcplab shell: unrecognized arguments: iperf3 -c server; put -- before the command; "
        "see mptcplab shell --help\n"
    )


def test_a_program_knows_where_it_is(host: Machine) -> None:
    shell = Shell(host)
    names = ["HOST", "SCENARIO", "PATHS", "SERVER", "SERVERS"]
    echoes = "; ".join(f"echo $MPTCPLAB_{name}" for name in names)
    look = "ip -brief -4 address; getent hosts client-lte"
    said = shell.run("sh", "-c", f"{echoes}; pwd; {look}").splitlines()
    assert said[:6] == [*("client", "scenario", "wifi lte", SERVER, SERVER, str(host.directory))]
    addresses = said[6:-1]
    seen = {line.partition("@")[0].split()[0]: line.split()[2] for line in addresses}
    assert seen == {"lo": "127.0.0.1/8", "wifi": "10.0.1.2/24", "lte": "10.0.2.2/24"}
    assert said[-1].split()[0] == "10.0.2.2"


def test_names_are_known_or_not_without_asking_anybody(machine: Machine) -> None:
    shell = Shell(machine)
    look = "getent ahosts server; getent ahostsv6 server; getent hosts nowhere.example"
    said = shell.run("sh", "-c", f"{look}; echo status $?").splitlines()
    assert said[-1] == "status 2"
    found = {line.split()[0] for line in said[:-1]}
    # What stands for it where IPv6 is asked for and there is none.
    assert found <= {SERVER, f"::ffff:{SERVER}"}
    assert SERVER in found
    passed = about(shell.left)["emulator"]["links"].values()
    assert [link["up"]["packets"] for link in passed] == [0, 0]


def test_programs_have_no_rights_over_the_machine(machine: Machine) -> None:
    shell = Shell(machine)
    device = machine.directory / "device"
    probe = f"cat /proc/self/uid_map; mknod {device} b 8 0 2>&1 || echo refused; whoami"
    said = shell.run("sh", "-c", probe)
    assert "4294967295" not in said
    assert said.splitlines()[-2:] == ["refused", "root"]
    assert not device.exists()
    warned = "you are root: the programs may write to all files of root" in shell.err
    assert warned == machine.kind.startswith("root")


def test_captures_hold_nothing_of_what_programs_send(host: Machine) -> None:
    shell = Shell(host)
    secret = "Basic-c2VjcmV0-c2VjcmV0"
    send = f"import socket; socket.create_connection(('{SERVER}', 80)).sendall(b'{secret}')"
    serve = "import socket; socket.create_server(('', 80)).accept()[0].recv(100)"
    arguments = (sys.executable, "-c", send)
    shell.run(*arguments, serve=f'{sys.executable} -c "{serve}"')
    captures = [shell.out / f"{end}.pcapng" for end in ("client", "server")]
    for capture in (*captures, shell.out / "server.log"):
        assert capture.stat().st_mode & 0o777 == 0o600
    assert shell.left.connections.height == 1
    # The timeline begins before the program does.
    assert -shell.left.outcome["elapsed_ns"] / 1e9 < shell.left.began_s < 0
    assert not any(secret.encode() in capture.read_bytes() for capture in captures)
    options: Any = {"full-payload": True, "force": True}
    shell.run(*arguments, serve=f'{sys.executable} -c "{serve}"', **options)
    assert all(secret.encode() in capture.read_bytes() for capture in captures)


def test_the_paths_live_by_the_timeline(host: Machine) -> None:
    shell = Shell(
        host,
        PATHS
        + """
[[timeline]]
at = "2 s"
path = "lte"
verb = "detach"

[[timeline]]
at = "4 s"
path = "lte"
verb = "attach"
""",
    )
    has = "ip -brief -4 address show lte | grep -q ."
    until = "do sleep 0.05; done"
    # Whoever is root there may do without endpoints, or make others.
    steps = f"ip mptcp endpoint flush; {has} && echo there; while {has}; {until}; echo gone; "
    steps += f"until {has}; {until}; echo back"
    said = shell.run("timeout", "60", "sh", "-c", steps)
    assert said.split() == ["there", "gone", "back"]
