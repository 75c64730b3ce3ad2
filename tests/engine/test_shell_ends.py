"""How ``mptcplab shell`` ends, whatever ends it, and where its runs go."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.leftovers import Watch, kill
from engine.machines import Machine, about
from engine.shells import PATHS, Shell
from engine.terminal import Terminal
from mptcplab.results.run import Run

# Types a program that says when it runs; what is typed is printed, too.
LONG = """sh -c "echo be''gun; exec sleep 100"\n"""


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["sh", "-c", "exit 3"], 3),
        (["sh", "-c", "kill -TERM $$"], 128 + signal.SIGTERM),
        (["no-such-program"], 127),
        (["/etc/passwd"], 126),
    ],
)
def test_the_status_of_the_program_is_ours(
    host: Machine, arguments: list[str], status: int
) -> None:
    shell = Shell(host)
    shell.run(*arguments, status=status)
    assert about(shell.left)["programs"]["status"] == status
    assert about(shell.left)["outcome"]["finished"] is False


def test_a_server_that_does_not_start(host: Machine) -> None:
    shell = Shell(host)
    shell.run("true", serve="echo no licence; exit 5", status=2)
    assert shell.err == (
        "mptcplab: the server's program ended with status 5 before the client's began: no licence\n"
    )
    assert not shell.out.exists()


def test_a_server_that_does_not_want_to_end(host: Machine) -> None:
    Shell(host).run("true", serve="trap '' TERM; while true; do sleep 1; done")


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
    arguments = ("shell", file, "--", "timeout", "30", "sh", "-c", f"echo here; {meet}")
    with host.start(*arguments) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "here\n"
        assert host.run(*arguments).returncode == 0
        assert first.wait() == 0
    left = sorted(path.name for path in (host.directory / "runs").iterdir())
    assert left == ["scenario-shell-1", "scenario-shell-2"]


def test_two_runs_are_not_written_to_one_place(host: Machine) -> None:
    file = host.write(PATHS.replace('size = "1 MB"', 'duration = "3 s"'))
    arguments = (
        "run",
        file,
        "--engine",
        "kernel",
        "--no-baselines",
        "--out",
        host.directory / "out",
    )
    with host.start(*arguments) as first:
        while not list((host.directory / "out").glob(".*mptcp/client.pcapng")):
            assert first.poll() is None
            time.sleep(0.05)
        second = host.run(*arguments, "--set", "transfer.duration=1 s")
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
    arguments = shell.words(sys.executable, "-c", program)
    with Terminal(host.command(*arguments), host.directory) as terminal:
        terminal.read("begun")
        terminal.write("\x03")
        assert terminal.wait() == 130
    assert about(shell.left)["programs"]["status"] == 130


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_program_and_leaves_the_run(host: Machine, number: int) -> None:
    shell = Shell(host)
    program = "import time; print('begun', flush=True); time.sleep(1000)"
    arguments = host.command(*shell.words(sys.executable, "-c", program))
    with subprocess.Popen(arguments, cwd=host.directory, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        process.send_signal(number)
        assert process.wait() == 128 + number
    assert about(shell.left)["programs"]["status"] == 128 + number
    assert (shell.out / "client.pcapng").exists()


def test_nothing_outlives_us(machine: Machine) -> None:
    shell = Shell(machine)
    watch = Watch(machine.directory)
    arguments = machine.command(*shell.words("sleep", "1000", serve="python3 -m http.server 1000"))
    with Terminal(arguments, machine.directory, watch.environment) as terminal:
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
            arguments = Path("/proc", str(process), "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if arguments[:2] == [b"sleep", b"1000"]:
            found.append(process)
    return found
