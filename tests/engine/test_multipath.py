"""Programs that no library reaches get MPTCP where they ask for TCP."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engine.machines import Machine
from engine.shells import SERVER, Shell
from mptcplab.machine import multipath
from requirements import missing, need_root, need_tool

# Asks for TCP, connects, and reads all that comes.
PROGRAM = """
#include <arpa/inet.h>
#include <stdio.h>
#include <unistd.h>
int main(int count, char **arguments)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(7000) };
	int own = socket(AF_INET, SOCK_STREAM, 0);
	static char room[65536];
	long bytes = 0, part;

	inet_pton(AF_INET, arguments[count - 1], &to.sin_addr);
	if (connect(own, (void *)&to, sizeof(to)))
		return 1;
	while ((part = read(own, room, sizeof(room))) > 0)
		bytes += part;
	printf("%ld\\n", bytes);
	return 0;
}
"""
BYTES = 1_000_000
SERVES = f"import socket; socket.create_server(('', 7000)).accept()[0].sendall(bytes({BYTES}))"

# Asks for a socket, is told of a signal after 0.2 s, and is answered after 0.5 s.
SLOWLY = """
import fcntl, os, signal, socket, sys, time
sys.path.insert(0, sys.argv[1])
import multipath

def take(listener, request, given):
    done = ioctl(listener, request, given)
    if request == multipath.RECEIVE:
        time.sleep(0.5)
    return done

ioctl, fcntl.ioctl = fcntl.ioctl, take
ours, theirs = socket.socketpair()
if os.fork() == 0:
    theirs.close()
    multipath.serve(ours)
    os._exit(0)
ours.close()
listener = multipath.listen()
socket.send_fds(theirs, [b"x"], [listener])
os.close(listener)
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.2)
print(socket.socket().getsockopt(socket.SOL_SOCKET, 38))
"""

# Asks for a socket of who is ended while it is asked, and then for another.
ORPHANED = """
import os, signal, socket, sys, time
sys.path.insert(0, sys.argv[1])
import multipath

ours, theirs = socket.socketpair()
beside = os.fork()
if beside == 0:
    theirs.close()
    multipath._answer = lambda *_: time.sleep(60)
    multipath.serve(ours)
    os._exit(0)
ours.close()
listener = multipath.listen()
socket.send_fds(theirs, [b"x"], [listener])
if os.fork() == 0:
    os.close(listener)
    time.sleep(0.5)
    os.kill(beside, signal.SIGKILL)
    os._exit(0)
os.close(listener)
for _ in range(2):
    try:
        socket.socket()
    except OSError as error:
        print(error.strerror)
"""


@pytest.fixture
def static(machine: Machine) -> str:
    """A program without a dynamic loader."""
    need_tool("gcc")
    source, made = machine.directory / "ask.c", machine.directory / "ask"
    source.write_text(PROGRAM)
    done = subprocess.run(["gcc", "-static", "-o", made, source], capture_output=True, text=True)
    if done.returncode:
        missing("needs the C library as an archive: apt install libc6-dev")
    made.chmod(0o755)
    return str(made)


def test_a_static_program_has_mptcp_over_both_paths(machine: Machine, static: str) -> None:
    serve = f'{sys.executable} -c "{SERVES}"'
    shell = Shell(machine)
    assert shell.run(static, SERVER, serve=serve, **{"mptcpize-all": True}) == f"{BYTES}\n"
    assert shell.left.connections["mptcp_version"].to_list() == [1]
    assert len(shell.left.flows.filter(direction="down")) == 2
    # A library does not reach it.
    plain = Shell(machine)
    plain.run(static, SERVER, serve=serve, mptcpize=True, force=True)
    assert plain.left.connections["mptcp_version"].to_list() == [None]


def test_programs_keep_their_status_and_their_children(host: Machine) -> None:
    options = {"mptcpize-all": True, "force": True}
    Shell(host).run("sh", "-c", "wait; exit 3", status=3, **options)
    said = Shell(host).run("sh", "-c", "ls /proc/$$/task/$$/children; echo", **options)
    assert "ls" not in said.strip().split()[1:]
    Shell(host).run("nonsense", status=127, **options)


def test_a_signal_ends_no_question() -> None:
    need_root()
    done = subprocess.run(
        [sys.executable, "-c", SLOWLY, str(Path(multipath.__file__).parent)],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.stdout == f"{multipath.IPPROTO_MPTCP}\n", done.stderr


def test_no_question_waits_for_who_is_gone() -> None:
    need_root()
    done = subprocess.run(
        [sys.executable, "-c", ORPHANED, str(Path(multipath.__file__).parent)],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.stdout == "Function not implemented\n" * 2, done.stderr
