"""Programs that are none of ours over a scenario's paths."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from engine.leftovers import Watch, kill
from engine.machines import Machine, about
from engine.terminal import Terminal
from mptcplab.results.run import Run
from requirements import need_tool

PATHS = """\
schema = 1

[transfer]
direction = "download"
size = "1 MB"

[path.wifi]
rate = "20 Mbit/s"
delay = "5 ms"
queue = "60 kB"

[path.lte]
rate = "10 Mbit/s"
delay = "15 ms"
queue = "60 kB"

[kernel]
congestion_control = "reno"

[run]
sample = "20 ms"
"""
LIGHTTPD = """\
server.document-root = "{directory}"
server.port = 80
"""
SERVER = "10.9.0.1"
# Types a program that says when it runs; what is typed is printed, too.
LONG = """sh -c "echo be''gun; exec sleep 100"\n"""
BYTES = 3_000_000
# Accepts so many connections, a byte each.
SERVES = (
    "import socket; s = socket.create_server(('', 7000)); "
    "[s.accept()[0].send(b'x') for _ in range({count})]"
)


class Shell:
    """``mptcplab shell`` in a scenario."""

    def __init__(self, machine: Machine, scenario: str = PATHS) -> None:
        self.machine = machine
        self.file = machine.write(scenario)
        self.out = machine.directory / "out"

    def words(self, *words: str, **options: str | bool) -> list[object]:
        """Give the arguments."""
        given: list[object] = ["shell", self.file, "--out", self.out]
        for name, value in options.items():
            given += [f"--{name}"] if value is True else [f"--{name}", value]
        return [*given, "--", *words] if words else given

    def run(self, *words: str, status: int = 0, **options: str | bool) -> str:
        """Run a program; gives what it printed."""
        done = self.machine.run(*self.words(*words, **options))
        assert done.returncode == status, done.stderr
        self.err = done.stderr
        return done.stdout

    @property
    def left(self) -> Run:
        """The run that it left."""
        return Run(self.out)


def data(machine: Machine) -> str:
    """Write a file that a server may serve, and give its digest."""
    directory = machine.directory / "served"
    directory.mkdir()
    content = random.Random(1).randbytes(BYTES)
    (directory / "data").write_bytes(content)
    return hashlib.sha256(content).hexdigest()


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


@pytest.mark.parametrize("way", ["up", "down"])
def test_iperf3_each_way(machine: Machine, way: str) -> None:
    need_tool("iperf3", "mptcpize")
    shell = Shell(machine)
    reverse = ["-R"] if way == "down" else []
    said = shell.run(
        *("iperf3", "-c", "server", "-t", "2", *reverse), serve="iperf3 -s -1", mptcpize=True
    )
    assert "iperf Done." in said
    assert "Server listening on 5201" in (shell.out / "server.log").read_text()
    run = shell.left
    assert run.connections["mptcp_version"].to_list() == [1, 1]
    transfers = run.transfers.filter(direction=way)
    # More than one path could.
    assert transfers["bytes"].max() > 20e6 / 8 * 1.1  # type: ignore[operator]
    most = transfers.sort("bytes")["connection"].to_list()[-1]
    shares = run.flows.filter(connection=most, direction=way)["share"].to_list()
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
    told = json.loads(shell.run(sys.executable, "-c", asks, serve=serves, json=True))
    assert shell.err.count("b'x'") == 1
    assert (told["directory"], told["status"]) == (str(shell.out), 0)
    assert told["about"]["programs"]["serve"] == serves
    assert len(told["tables"]["connections"]) == 1


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


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["sh", "-c", "exit 3"], 3),
        (["sh", "-c", "kill -TERM $$"], 128 + signal.SIGTERM),
        (["no-such-program"], 127),
        (["/etc/passwd"], 126),
    ],
)
def test_the_status_of_the_program_is_ours(host: Machine, words: list[str], status: int) -> None:
    shell = Shell(host)
    shell.run(*words, status=status)
    assert about(shell.left)["programs"]["status"] == status
    assert about(shell.left)["outcome"]["finished"] is False


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
    words = (sys.executable, "-c", send)
    shell.run(*words, serve=f'{sys.executable} -c "{serve}"')
    captures = [shell.out / f"{end}.pcapng" for end in ("client", "server")]
    for capture in (*captures, shell.out / "server.log"):
        assert capture.stat().st_mode & 0o777 == 0o600
    assert shell.left.connections.height == 1
    # The timeline begins before the program does.
    assert -shell.left.outcome["elapsed_ns"] / 1e9 < shell.left.began_s < 0
    assert not any(secret.encode() in capture.read_bytes() for capture in captures)
    options: Any = {"full-payload": True, "force": True}
    shell.run(*words, serve=f'{sys.executable} -c "{serve}"', **options)
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


def test_a_server_that_does_not_start(host: Machine) -> None:
    shell = Shell(host)
    shell.run("true", serve="echo no licence; exit 5", status=2)
    assert shell.err == (
        "mptcplab: the server's program ended with status 5 before the client's began: no licence\n"
    )
    assert not shell.out.exists()


def test_a_server_that_does_not_want_to_end(host: Machine) -> None:
    begun = time.monotonic()
    Shell(host).run("true", serve="trap '' TERM; while true; do sleep 1; done")
    assert time.monotonic() - begun < 30


def test_a_place_that_is_taken(host: Machine) -> None:
    shell = Shell(host)
    shell.run("true")
    shell.run("true", status=2)
    assert "--out" in shell.err
    shell.run("false", force=True, status=1)
    assert about(shell.left)["programs"]["command"] == ["false"]


def test_each_has_a_place_of_its_own(host: Machine) -> None:
    for _ in range(2):
        assert host.run("shell", "wifi-lte", "--", "true").returncode == 0
    assert sorted(path.name for path in (host.directory / "runs").iterdir()) == [
        "wifi-lte-shell-1",
        "wifi-lte-shell-2",
    ]


def test_several_at_once_have_a_place_each(host: Machine) -> None:
    file = host.write(PATHS)
    # Until there are two of them.
    meet = "until [ $(ls -dA runs/*shell-* runs/.*shell-* 2>&- | wc -l) = 2 ]; do sleep 0.1; done"
    words = ("shell", file, "--", "timeout", "30", "sh", "-c", f"echo here; {meet}")
    with host.start(*words) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "here\n"
        assert host.run(*words).returncode == 0
        assert first.wait() == 0
    left = sorted(path.name for path in (host.directory / "runs").iterdir())
    assert left == ["scenario-shell-1", "scenario-shell-2"]


def test_two_runs_are_not_written_to_one_place(host: Machine) -> None:
    file = host.write(PATHS.replace('size = "1 MB"', 'duration = "3 s"'))
    words = ("run", file, "--engine", "kernel", "--no-baselines", "--out", host.directory / "out")
    with host.start(*words) as first:
        while not list((host.directory / "out").glob(".*mptcp/client.pcapng")):
            assert first.poll() is None
            time.sleep(0.05)
        second = host.run(*words, "--set", "transfer.duration=1 s")
        assert second.returncode == 2
        assert second.stderr.count("\n") == 1
        assert "is being written by somebody else" in second.stderr
        first.communicate()
    assert first.returncode == 0
    assert Run(host.directory / "out" / "mptcp").outcome["finished"]


def test_a_terminal(machine: Machine) -> None:
    """A shell, one within it, and what is typed there."""
    shell = Shell(machine)
    environment = os.environ | {"SHELL": "/bin/sh", "PS1": "$ "}
    with Terminal(machine.command(*shell.words()), machine.directory, environment) as terminal:
        assert "at the client of scenario" in terminal.read("$ ")
        assert "job control" not in terminal.said
        # Ctrl-C is for the program on the terminal.
        terminal.write(LONG)
        terminal.read("begun")
        terminal.write("\x03")
        terminal.read("$ ")
        assert "130" in terminal.ask("echo status $?")
        # Ctrl-Z is for the shell, which goes on.
        terminal.write(LONG)
        terminal.read("begun")
        terminal.write("\x1a")
        terminal.read("$ ")
        assert "Stopped" in terminal.ask("jobs")
        terminal.ask("kill -KILL %1")
        # It does not end while it takes a job to be stopped.
        until = time.monotonic() + 120
        while "Stopped" in terminal.ask("jobs"):
            assert time.monotonic() < until
        terminal.write("sh\n")
        assert "nested 10.9.0.1" in terminal.ask("echo nested $MPTCPLAB_SERVER")
        terminal.write("exit 4\n")
        assert "status 4" in terminal.ask("echo status $?")
        terminal.write("exit 7\n")
        assert terminal.wait() == 7
    assert about(shell.left)["programs"]["status"] == 7


def test_ctrl_c_ends_the_program_and_leaves_the_run(host: Machine) -> None:
    shell = Shell(host)
    program = "import time; print('begun', flush=True); time.sleep(100)"
    words = shell.words(sys.executable, "-c", program)
    with Terminal(host.command(*words), host.directory) as terminal:
        terminal.read("begun")
        terminal.write("\x03")
        assert terminal.wait() == 130
    assert about(shell.left)["programs"]["status"] == 130


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_program_and_leaves_the_run(host: Machine, number: int) -> None:
    shell = Shell(host)
    program = "import time; print('begun', flush=True); time.sleep(1000)"
    words = host.command(*shell.words(sys.executable, "-c", program))
    with subprocess.Popen(words, cwd=host.directory, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        process.send_signal(number)
        assert process.wait() == 128 + number
    assert about(shell.left)["programs"]["status"] == 128 + number
    assert (shell.out / "client.pcapng").exists()


def test_nothing_outlives_us(machine: Machine) -> None:
    shell = Shell(machine)
    watch = Watch(machine.directory)
    words = machine.command(*shell.words("sleep", "1000", serve="python3 -m http.server 1000"))
    with Terminal(words, machine.directory, watch.environment) as terminal:
        until = time.monotonic() + 120
        while not (sleeps := sleepers(watch)) and time.monotonic() < until:
            time.sleep(0.05)
        assert sleeps
        kill(terminal.process)
        assert terminal.wait() == -signal.SIGKILL
    assert watch.found() == []
    assert not shell.out.exists()


def sleepers(watch: Watch) -> list[int]:
    """The client's program."""
    found = []
    for process in watch.processes():
        try:
            words = Path("/proc", str(process), "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"sleep", b"1000"]:
            found.append(process)
    return found
