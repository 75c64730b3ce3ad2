"""Programs that ask for TCP get MPTCP where mptcpize is not installed, too."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from engine.machines import Machine
from engine.shells import BYTES, Shell, data
from mptcplab._core import Error
from mptcplab.engines import for_programs
from mptcplab.engines.engine import Programs
from mptcplab.machine import preload
from mptcplab.results.record import run_programs
from mptcplab.scenario.scenario import load
from requirements import need_tool

IPPROTO_MPTCP = 262
FLAGS = socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC
FAMILIES = (socket.AF_INET, socket.AF_INET6)
STREAMS = [
    (family, socket.SOCK_STREAM | flags, protocol)
    for family in FAMILIES
    for flags in (0, socket.SOCK_NONBLOCK, socket.SOCK_CLOEXEC, FLAGS)
    for protocol in (0, socket.IPPROTO_TCP)
]
OTHERS = [
    *((family, socket.SOCK_STREAM, IPPROTO_MPTCP) for family in FAMILIES),
    *((family, socket.SOCK_DGRAM | FLAGS, 0) for family in FAMILIES),
    *((family, socket.SOCK_STREAM, socket.IPPROTO_UDP) for family in FAMILIES),
    *((socket.AF_UNIX, kind, 0) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)),
    (socket.AF_NETLINK, socket.SOCK_RAW, 0),
    (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP),
    # No such family, no such kind.
    (255, socket.SOCK_STREAM, 0),
    (socket.AF_INET, 15, 0),
]
# Says of sockets what they became: kind, protocol, flags; or the error.
ASK = """
import ctypes, fcntl, json, os, socket, sys
library = ctypes.CDLL(None, use_errno=True)
became = []
for words in json.loads(sys.argv[1]):
    number = library.socket(*words)
    if number < 0:
        became.append([ctypes.get_errno()])
        continue
    options = socket.SO_TYPE, socket.SO_PROTOCOL
    with socket.socket(fileno=number) as made:
        said = [made.getsockopt(socket.SOL_SOCKET, option) for option in options]
    number = library.socket(*words)
    flags = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_NONBLOCK, fcntl.fcntl(number, fcntl.F_GETFD)
    became.append([*said, *flags])
print(json.dumps(became))
"""
NO_MPTCP = 'sysctl -qw net.mptcp.enabled=0 && exec "$@"'


@pytest.fixture(autouse=True)
def without_mptcpize(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All programs of this machine but one."""
    with TemporaryDirectory(prefix="mptcplab-test-", dir="/var/tmp") as made:
        others = Path(made)
        others.chmod(0o755)
        directories = [Path(directory) for directory in os.environ["PATH"].split(":")]
        shared = {directory for directory in directories if (directory / "mptcpize").exists()}
        for program in {
            file.name: file for directory in shared for file in directory.iterdir()
        }.values():
            if program.name != "mptcpize":
                (others / program.name).symlink_to(program)
        seen = (others if directory in shared else directory for directory in directories)
        monkeypatch.setenv("PATH", ":".join(map(str, seen)))
        yield


def test_programs_at_both_ends_get_mptcp(machine: Machine) -> None:
    need_tool("curl")
    shell = Shell(machine)
    digest = data(machine)
    said = shell.run(
        *("sh", "-c", "curl -s http://server:8000/data | sha256sum"),
        serve="python3 -m http.server --directory served",
        mptcpize=True,
    )
    assert said.split()[0] == digest
    assert shell.left.connections["mptcp_version"].to_list() == [1]
    down = shell.left.flows.filter(direction="down")
    assert down["bytes"].sum() > BYTES
    assert len(down) == 2
    assert min(down["share"].to_list()) > 0.1


def test_nothing_but_tcp_is_changed(host: Machine) -> None:
    asked = [*STREAMS, *OTHERS]
    arguments = (sys.executable, "-c", ASK, json.dumps(asked))
    plain = json.loads(Shell(host).run(*arguments))
    given = json.loads(Shell(host).run(*arguments, mptcpize=True, force=True))
    assert {(kind, protocol) for kind, protocol, *_ in plain[: len(STREAMS)]} == {
        (socket.SOCK_STREAM, socket.IPPROTO_TCP)
    }
    assert given == [
        *([kind, IPPROTO_MPTCP, *flags] for kind, _, *flags in plain[: len(STREAMS)]),
        *plain[len(STREAMS) :],
    ]


def test_a_kernel_that_refuses_mptcp_gives_tcp(host: Machine) -> None:
    need_tool("curl", "sysctl")
    arguments = (sys.executable, "-c", ASK, json.dumps([*STREAMS, *OTHERS]))
    without = ("sh", "-c", NO_MPTCP, "sh")
    plain = json.loads(Shell(host).run(*without, *arguments))
    given = json.loads(Shell(host).run(*without, *arguments, mptcpize=True, force=True))
    assert given == plain
    shell = Shell(host)
    data(host)
    shell.run(
        *(*without, "curl", "-so", "got", "http://server:8000/data"),
        serve="python3 -m http.server --directory served",
        mptcpize=True,
        force=True,
    )
    assert (host.directory / "got").stat().st_size == BYTES
    assert shell.left.connections["mptcp_version"].to_list() == [None]


def test_what_is_preloaded_already_stays_first(
    host: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = ("sh", "-c", "echo $LD_PRELOAD")
    assert Shell(host).run(*look, mptcpize=True) == f"{preload.LIBRARY}\n"
    # Any library will do.
    monkeypatch.setenv("LD_PRELOAD", "libm.so.6")
    said = Shell(host).run(*look, mptcpize=True, force=True)
    assert said == f"libm.so.6:{preload.LIBRARY}\n"


def test_without_either_it_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preload, "LIBRARY", tmp_path / "libpreload.so")
    name, scenario = load("wifi-lte", [])
    out = tmp_path / "out"
    with pytest.raises(Error, match=r"^--mptcpize cannot be done here: mptcpize: not installed"):
        run_programs(for_programs(), scenario, out, Programs(["true"], mptcpize=True), name=name)
    assert not out.exists()
