"""``mptcplab doctor --field`` in a namespace with two uplinks: what it finds, does and undoes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# Two uplinks with gateways; that of lte is known to a table alone that nobody looks into.
NETWORK = """\
set -e
sysctl -q -w net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0
ip link set lo up
for path in wifi:1 lte:2; do
  name=${path%:*} number=${path#*:}
  ip link add $name type veth peer name far$number
  ip link set far$number up
  ip address add 10.0.$number.2/24 dev $name
  ip link set $name up
done
ip route add default via 10.0.1.1 dev wifi metric 100
ip route add default via 10.0.2.1 dev lte table 17
ip mptcp limits set subflow 0 add_addr_accepted 1
sysctl -q -w net.mptcp.enabled=0
# Their states and link-local addresses come when the kernel finds time.
for name in wifi lte; do
  until ip -6 address show dev $name up | grep -q "state UP" && ip -6 address show dev $name |
    grep -q fe80; do sleep 0.05; done
done
"""
CONFIGURATION = """\
for what in address route rule; do ip $what show; ip -6 $what show; done
ip route show table 17; ip mptcp endpoint show; ip mptcp limits show; sysctl net.mptcp
"""
# Sets up or undoes, and is killed at the so many-th command or line of the journal.
PROGRAM = """\
import os, pathlib, signal, sys
from mptcplab.engines.field import set_up, uplinks

journal, what, left = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])

def counted(function):
    def call(*arguments, **more):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **more)
    return call

set_up._run, os.fsync = counted(set_up._run), counted(os.fsync)
if what == "undo":
    set_up.undo(journal)
else:
    found = uplinks.examine(["wifi", "lte"], "203.0.113.1", 7443)
    set_up.set_up(found.steps, journal)
"""
STEPS = 4


class Network:
    """A network namespace of its own, in which commands are run one after the other."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        (directory / "program.py").write_text(PROGRAM)
        self._holder = subprocess.Popen(
            ["unshare", "--net", "--mount", "sh", "-c", f"{NETWORK}\necho up; exec sleep 600"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._holder.stdout is not None
        if self._holder.stdout.readline() != "up\n":
            self.close()
            pytest.fail("the network cannot be made")

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        within = ["nsenter", f"--target={self._holder.pid}", "--net", "--"]
        return subprocess.run(
            [*within, *map(str, arguments)], check=False, capture_output=True, text=True
        )

    def configuration(self) -> str:
        return self.run("sh", "-c", CONFIGURATION).stdout

    def program(self, what: str, killed_at: int = 0) -> int:
        arguments = (self.directory / "program.py", self.directory / "journal", what, killed_at)
        done = self.run(sys.executable, *arguments)
        assert done.returncode in (0, -9), done.stderr
        return done.returncode

    def close(self) -> None:
        self._holder.kill()
        self._holder.communicate()


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    if os.geteuid():
        pytest.skip("networks are set up by root")
    made = Network(tmp_path)
    yield made
    made.close()


def test_it_says_what_is_missing_and_changes_nothing(network: Network) -> None:
    before = network.configuration()
    arguments = ("doctor", "--field", "203.0.113.1", "--interface", "wifi", "--interface", "lte")
    done = network.run(sys.executable, "-m", "mptcplab", *arguments, "--interface", "usb0")
    assert done.returncode == 1, done.stderr
    assert network.configuration() == before
    for line in (
        "fine     wifi route        by 10.0.1.1",
        "missing  lte route         none in the main table  → sudo ip -4 route add default via "
        "10.0.2.1 dev lte metric 4096",
        "missing  lte endpoint      none  → sudo ip mptcp endpoint add 10.0.2.2 dev lte subflow",
        "missing  MPTCP             disabled  → sudo sysctl -q -w net.mptcp.enabled=1",
        "missing  MPTCP limits      0 more subflows, and 2 are needed  → sudo ip mptcp limits set "
        "subflow 8 add_addr_accepted 8",
        "missing  usb0 interface    there is none  → connect it, or name another one",
    ):
        assert line in done.stdout


# A host that is known by addresses of both versions.
KNOWN = """\
import socket
from mptcplab.engines.field import uplinks

known = [(socket.AF_INET, 0, 0, "", ("203.0.113.1", 7443)),
         (socket.AF_INET6, 0, 0, "", ("{ipv6}", 7443, 0, 0))]
socket.getaddrinfo = lambda *_, **more: known
found = uplinks.examine(["wifi", "lte"], "server", 7443)
print("\\n".join(one.line() for one in found.checks))
"""


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (
            "2001:db8::1",
            "joins by lte need a server that announces 2001:db8::1. To mend it: at the server: "
            "sudo ip mptcp endpoint add 2001:db8::1 signal",
        ),
        (
            "64:ff9b::203.0.113.1",
            "Linux does not join across a NAT64 by itself. To mend it: have the server reached by "
            "one version of IP on both paths",
        ),
    ],
)
def test_it_says_what_joins_between_versions_need(network: Network, server: str, said: str) -> None:
    network.run("ip", "address", "del", "10.0.2.2/24", "dev", "lte")
    network.run("ip", "address", "add", "2001:db8:2::2/64", "dev", "lte", "nodad")
    network.run("ip", "mptcp", "limits", "set", "subflow", "8", "add_addr_accepted", "0")
    done = network.run(sys.executable, "-c", KNOWN.format(ipv6=server))
    assert f"lte join: lte has IPv6, wifi IPv4; {said}\n" in done.stdout, done.stderr
    # Without it nothing that is announced is of use.
    assert "MPTCP limits: addresses that the server announces are not taken. To mend" in done.stdout


def test_a_source_rule_serves_as_well_as_a_route(network: Network) -> None:
    network.run("ip", "rule", "add", "from", "10.0.2.2", "table", "17")
    arguments = ("doctor", "--field", "203.0.113.1", "--interface", "wifi", "--interface", "lte")
    done = network.run(sys.executable, "-m", "mptcplab", *arguments)
    assert "fine     lte route         by 10.0.2.1" in done.stdout
    assert "fine     lte source rule   what has its address leaves by it" in done.stdout


def test_setting_up_leaves_nothing_to_set_up_and_undoing_no_trace(network: Network) -> None:
    before = network.configuration()
    assert network.program("set-up") == 0
    between = network.configuration()
    assert "10.0.2.2 id 1 subflow dev lte" in between
    assert "default via 10.0.2.1 dev lte metric 4096" in between
    assert "net.mptcp.enabled = 1" in between
    # Again, and there is nothing to do.
    assert network.program("set-up") == 0
    assert network.configuration() == between
    assert len((network.directory / "journal").read_text().splitlines()) == STEPS
    assert network.program("undo") == 0
    assert network.configuration() == before
    assert not (network.directory / "journal").exists()


def test_whenever_it_is_killed_undoing_leaves_no_trace(network: Network) -> None:
    before = network.configuration()
    for moment in range(1, 2 * STEPS + 1):
        assert network.program("set-up", moment) == -9
        # Undoing is killed as well.
        network.program("undo", 1 + moment % 3)
        assert network.program("undo") == 0
        assert network.configuration() == before


def test_an_interface_that_is_gone_keeps_nothing_else_from_being_undone(network: Network) -> None:
    wifi = "ip mptcp endpoint show; ip mptcp limits show; sysctl net.mptcp"
    before = network.run("sh", "-c", wifi).stdout
    assert network.program("set-up") == 0
    network.run("ip", "link", "delete", "lte")
    assert network.program("undo") == 0
    assert network.run("sh", "-c", wifi).stdout == before
    assert not (network.directory / "journal").exists()


def test_what_others_have_changed_since_is_left_to_them(network: Network) -> None:
    assert network.program("set-up") == 0
    network.run("ip", "mptcp", "limits", "set", "subflow", "3", "add_addr_accepted", "2")
    network.run("sysctl", "-q", "-w", "net.mptcp.enabled=0")
    assert network.program("undo") == 0
    assert network.run("ip", "mptcp", "limits", "show").stdout.split() == [
        *("add_addr_accepted", "2"),
        *("subflows", "3"),
    ]


def test_a_step_that_others_took_first_is_not_undone(network: Network) -> None:
    arguments = ["ip", "mptcp", "endpoint", "add", "10.0.2.2", "dev", "lte", "subflow"]
    network.run(*arguments)
    before = network.configuration()
    step = {"kind": "endpoint", "address": "10.0.2.2"}
    program = (
        "import pathlib, sys\n"
        "from mptcplab import Error\n"
        "from mptcplab.engines.field import set_up, uplinks\n"
        "journal = pathlib.Path(sys.argv[1])\n"
        "try:\n"
        f"    set_up.set_up([uplinks.Step({arguments}, {step})], journal)\n"
        "except Error as error:\n"
        "    print(error)\n"
    )
    done = network.run(sys.executable, "-c", program, network.directory / "journal")
    assert "ip mptcp endpoint add" in done.stdout, done.stderr
    assert network.program("undo") == 0
    assert network.configuration() == before
