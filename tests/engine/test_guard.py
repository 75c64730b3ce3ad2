"""The guard's program: it leaves paths that are bad and no others, and the host as it was."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import time

import pytest

from engine.guarded import LTE, WIFI, Lab, refuses
from engine.machines import Machine
from mptcplab.machine import programs
from ordinary import NOBODY
from requirements import missing, need_kernel_namespaces, need_tool

# Long enough for it to have asked over both paths.
LEARNS_SECONDS = 2
PAUSES_SECONDS = 4
# One of so many has the number of an earlier one.
NAMESPACES = 100
# A small part of what a router on the Internet's border has.
ROUTES = 100_000
MEMORY_KB = 10_000
FLAPS = 100
# What the guard's configuration of routes is part of.
ROUTING = ("rule", "-6 rule", "route show table all")


def test_leaves_a_path_that_is_silent_and_comes_back(hosts: Lab) -> None:
    before = hosts.configuration()
    hosts.fetch()
    guard = hosts.guard()
    assert f"{WIFI} (wifi), {LTE} (lte)" in guard.begins
    time.sleep(LEARNS_SECONDS)
    hosts.lose(WIFI)
    evidence = guard.decides("suspended", WIFI)["evidence"]
    assert "nothing came for" in evidence
    assert "0 of" in evidence
    assert [one.split()[0] for one in hosts.endpoints()] == [LTE]
    hosts.find(WIFI)
    guard.decides("resumed", WIFI)
    said = guard.end()
    assert "1 suspended, 1 resumed; endpoints are as they were found" in said
    assert hosts.configuration() == before
    assert not hosts.state.exists()


def test_connections_may_come_later(hosts: Lab) -> None:
    guard = hosts.guard()
    time.sleep(2 * PAUSES_SECONDS)
    hosts.fetch()
    time.sleep(LEARNS_SECONDS)
    hosts.lose(WIFI)
    guard.decides("suspended", WIFI)


def test_puts_back_what_is_still_bad_when_it_ends(hosts: Lab) -> None:
    before = hosts.configuration()
    hosts.fetch()
    guard = hosts.guard()
    time.sleep(LEARNS_SECONDS)
    hosts.lose(WIFI)
    guard.decides("suspended", WIFI)
    assert hosts.configuration() != before
    guard.end()
    assert hosts.configuration() == before


def test_leaves_alone_what_is_idle(hosts: Lab) -> None:
    hosts.fetch(size=100_000, pause=PAUSES_SECONDS / 2)
    guard = hosts.guard()
    time.sleep(3 * PAUSES_SECONDS)
    assert [row for row in guard.rest() if row["signal"] == "guard-suspended"] == []
    guard.end()


def test_takes_over_what_a_killed_one_left(hosts: Lab) -> None:
    before = hosts.configuration()
    hosts.fetch()
    first = hosts.guard()
    time.sleep(LEARNS_SECONDS)
    hosts.lose(WIFI)
    first.decides("suspended", WIFI)
    first.kill()
    second = hosts.guard()
    assert f"{WIFI} (wifi, left by an earlier guard)" in second.begins
    time.sleep(LEARNS_SECONDS)
    assert [one.split()[0] for one in hosts.endpoints()] == [LTE]
    second.kill()
    third = hosts.guard()
    hosts.find(WIFI)
    third.decides("resumed", WIFI)
    assert hosts.configuration() == before
    third.end()
    assert hosts.configuration() == before


def test_each_namespace_has_a_list_of_its_own(tmp_path: pathlib.Path) -> None:
    need_kernel_namespaces()
    if os.geteuid() != 0:
        missing("needs root, for namespaces of its own")
    within = 'mount --bind "$0" /run && readlink /proc/self/ns/net && exec "$1"'
    words = ["unshare", "--net", "--mount", "sh", "-c", within, str(tmp_path), programs.guard()]
    numbers: list[str] = []
    locks = set()
    # Linux soon gives the number of one that has ended to another.
    while len(set(numbers)) == len(numbers):
        assert len(numbers) < NAMESPACES
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as guard:
            assert guard.stdout is not None
            assert guard.stderr is not None
            numbers.append(guard.stdout.readline().decode())
            assert b"watches" in guard.stderr.readline()
            locks |= {lock.name for lock in tmp_path.glob("mptcplab-guard/*.lock")}
            guard.terminate()
    assert len(locks) == len(numbers)
    # Those that ended left nothing.
    assert list(tmp_path.glob("mptcplab-guard/*")) == []


def test_whose_number_is_taken_gets_another(hosts: Lab) -> None:
    hosts.fetch()
    guard = hosts.guard()
    time.sleep(LEARNS_SECONDS)
    hosts.lose(WIFI)
    guard.decides("suspended", WIFI)
    hosts.ip("client", "mptcp endpoint add 10.0.3.2 id 1 signal")
    hosts.find(WIFI)
    guard.decides("resumed", WIFI)
    assert "endpoints are as they were found" in guard.end()
    assert [one.split()[:3] for one in hosts.endpoints()] == [
        [WIFI, "id", "3"],
        [LTE, "id", "2"],
        ["10.0.3.2", "id", "1"],
    ]


def test_there_is_one_at_a_time(hosts: Lab) -> None:
    first = hosts.guard()
    done = subprocess.run(hosts.words(), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        2,
        "mptcplab-guard: another guard is at work here: end that one first\n",
    )
    # Who only observes disturbs nobody.
    hosts.guard("--observe").end()
    first.end()
    hosts.guard().end()


def test_what_others_remove_stays_removed(hosts: Lab) -> None:
    hosts.fetch()
    guard = hosts.guard()
    time.sleep(LEARNS_SECONDS)
    hosts.ip("client", "mptcp endpoint delete id 2")
    time.sleep(LEARNS_SECONDS)
    guard.end()
    assert [one.split()[0] for one in hosts.endpoints()] == [WIFI]


def test_an_interface_may_come_back_as_another(hosts: Lab) -> None:
    before = hosts.endpoints()
    hosts.fetch()
    guard = hosts.guard()
    time.sleep(LEARNS_SECONDS)
    hosts.lose(LTE)
    hosts.ip("client", "link del dev lte")
    # The address is gone, and the endpoint with it.
    assert guard.decides("suspended", LTE)["evidence"] == "the host lost its address"
    assert [one.split()[0] for one in hosts.endpoints()] == [WIFI]
    hosts.attach("lte")
    hosts.find(LTE)
    guard.decides("resumed", LTE)
    guard.end()
    # It names the interface, not the index that was.
    assert hosts.endpoints() == before


def test_two_hundred_connections_of_several_programs(hosts: Lab) -> None:
    before = hosts.configuration()
    guard = hosts.guard()
    hosts.fetch(200, size=1000, pause=0.5)
    time.sleep(LEARNS_SECONDS)
    hosts.lose(WIFI)
    guard.decides("suspended", WIFI)
    assert guard.resident_kb() < MEMORY_KB
    hosts.find(WIFI)
    guard.decides("resumed", WIFI)
    guard.end()
    assert hosts.configuration() == before


def test_what_it_could_not_hear_does_no_harm(hosts: Lab) -> None:
    before = hosts.configuration()
    hosts.fetch()
    guard = hosts.guard()
    time.sleep(LEARNS_SECONDS)
    guard.process.send_signal(signal.SIGSTOP)
    lines = [f"address {verb} 198.51.100.1/32 dev lo\n" for verb in ("add", "del")]
    batch = [*hosts.enter("client"), "ip", "-batch", "-"]
    subprocess.run(batch, input="".join(lines * 2000), text=True, check=True)
    # The kernel drops what a socket has no room for (the column Drops).
    sockets = subprocess.run(
        [*hosts.enter("client"), "cat", "/proc/net/netlink"], capture_output=True, text=True
    )
    assert any(int(line.split()[8]) for line in sockets.stdout.splitlines()[1:]), sockets.stdout
    guard.process.send_signal(signal.SIGCONT)
    time.sleep(LEARNS_SECONDS)
    hosts.lose(WIFI)
    guard.decides("suspended", WIFI)
    hosts.find(WIFI)
    guard.decides("resumed", WIFI)
    guard.end()
    assert hosts.configuration() == before


def test_repairs_routes_and_leaves_none(hosts: Lab) -> None:
    # As after DHCP on two interfaces: two default routes, of which one counts, and no rules.
    for number, name in enumerate(("wifi", "lte"), 1):
        hosts.ip("client", f"rule del lookup {number}")
        hosts.ip("client", f"route add default via 10.0.{number}.1 dev {name} metric {number}00")
    before = [hosts.configuration()[shown] for shown in ROUTING]
    guard = hosts.guard("--routes")
    for address, gateway in ((WIFI, "10.0.1.1 dev wifi"), (LTE, "10.0.2.1 dev lte")):
        assert f"what comes from {address} goes by table" in guard.says()
        assert f"via {gateway}" in hosts.ip("client", f"route get 198.51.100.1 from {address}")
    # Its interface goes, and comes back with another index.
    hosts.ip("client", "link del dev lte")
    hosts.waits(lambda: LTE not in hosts.ip("client", "rule"))
    hosts.attach("lte")
    hosts.ip("client", "route add default via 10.0.2.1 dev lte metric 200")
    hosts.waits(lambda: LTE in hosts.ip("client", "rule"))
    assert "via 10.0.2.1 dev lte" in hosts.ip("client", f"route get 198.51.100.1 from {LTE}")
    # Who is killed leaves them to the next, which removes them even if it keeps none itself.
    guard.kill()
    hosts.guard()
    assert [hosts.configuration()[shown] for shown in ROUTING] == before


GATEWAYS = {
    "IPv4": (WIFI, "10.0.1.0/24", "10.0.1.1", ""),
    "IPv6": ("2001:db8::2", "2001:db8::/64", "2001:db8::1", "-6 "),
}


def hide_gateway(hosts: Lab, version: str) -> str:
    """Delete the gateway's own route, without which none through it can be copied.

    Gives what brings it back.
    """
    address, network, gateway, family = GATEWAYS[version]
    if version == "IPv4":
        hosts.ip("client", "rule del lookup 1")
    else:
        on = [*hosts.enter("client"), "sysctl", "-q", "net.ipv6.conf.wifi.disable_ipv6=0"]
        subprocess.run(on, check=True)
        hosts.ip("client", f"address add {address}/64 dev wifi nodad")
        hosts.ip("client", f"mptcp endpoint add {address} dev wifi subflow")
    hosts.ip("client", f"{family}route add default via {gateway} dev wifi metric 100")
    own = next(
        line
        for line in hosts.ip("client", f"{family}route show dev wifi").splitlines()
        if line.startswith(network)
    )
    hosts.ip("client", f"{family}route del {network} dev wifi")
    return f"{family}route add {own.split(' metric')[0]} dev wifi"


@pytest.mark.parametrize("version", GATEWAYS)
def test_a_gateway_that_is_not_there_yet_does_not_end_it(hosts: Lab, version: str) -> None:
    back = hide_gateway(hosts, version)
    address, _, _, family = GATEWAYS[version]
    guard = hosts.guard("--routes")
    said = iter(guard.says, "")
    assert any("cannot be made, and will be tried again" in line for line in said)
    assert address not in hosts.ip("client", f"{family}rule")
    hosts.ip("client", back)
    assert any(f"what comes from {address} goes by table" in line for line in said)
    assert address in hosts.ip("client", f"{family}rule")
    guard.end()
    assert address not in hosts.ip("client", f"{family}rule")
    assert "proto 113" not in hosts.configuration()["route show table all"]


def test_a_rule_goes_with_its_route_and_the_other_version_stays(hosts: Lab) -> None:
    # Both versions have one table.
    back = hide_gateway(hosts, "IPv6")
    hosts.ip("client", "rule del lookup 1")
    hosts.ip("client", "route add default via 10.0.1.1 dev wifi metric 100")
    address, network, *_ = GATEWAYS["IPv6"]
    guard = hosts.guard("--routes")
    hosts.waits(lambda: WIFI in hosts.ip("client", "rule"))
    assert address not in hosts.ip("client", "-6 rule")
    hosts.ip("client", back)
    hosts.waits(lambda: address in hosts.ip("client", "-6 rule"))
    # What was made is lost, and cannot be made again.
    own = next(line for line in hosts.ip("client", "-6 rule").splitlines() if address in line)
    table = own.split("lookup")[1].split()[0]
    hosts.ip("client", f"-6 route del {network} dev wifi")
    hosts.ip("client", f"-6 route del default dev wifi table {table}")
    hosts.waits(lambda: address not in hosts.ip("client", "-6 rule"))
    assert WIFI in hosts.ip("client", "rule")
    guard.end()
    assert "proto 113" not in hosts.configuration()["route show table all"]


def test_interfaces_that_come_and_go_do_not_end_it(hosts: Lab) -> None:
    for number, name in enumerate(("wifi", "lte"), 1):
        hosts.ip("client", f"rule del lookup {number}")
        hosts.ip("client", f"route add default via 10.0.{number}.1 dev {name} metric {number}00")
    guard = hosts.guard("--routes")
    lines = [
        f"address {verb} 10.0.2.2/24 dev lte\n"
        + "route add default via 10.0.2.1 dev lte metric 200\n" * more
        for _ in range(FLAPS)
        for verb, more in (("del", 0), ("add", 1))
    ]
    batch = [*hosts.enter("client"), "ip", "-force", "-batch", "-"]
    for part in lines:
        subprocess.run(batch, input=part, text=True, check=True)
    for _ in range(FLAPS // 2):
        hosts.ip("client", "link set lte down")
        hosts.ip("client", "link set lte up")
    hosts.ip("client", "route add default via 10.0.2.1 dev lte metric 200")
    hosts.waits(lambda: LTE in hosts.ip("client", "rule"))
    hosts.ip("client", "link del dev lte")
    hosts.waits(lambda: LTE not in hosts.ip("client", "rule"))
    assert "endpoints are as they were found" in guard.end()
    assert "proto 113" not in hosts.configuration()["route show table all"]


@pytest.mark.parametrize("more", [[], ["--routes"]])
def test_routes_that_are_no_business_of_its_are_not_read(hosts: Lab, more: list[str]) -> None:
    before = hosts.endpoints()
    lines = "".join(
        f"route add {20 + (n >> 16)}.{n >> 8 & 255}.{n & 255}.0/24 dev lo\n" for n in range(ROUTES)
    )
    batch = [*hosts.enter("client"), "ip", "-batch", "-"]
    subprocess.run(batch, input=lines, text=True, check=True)
    guard = hosts.guard(*more)
    time.sleep(LEARNS_SECONDS)
    assert guard.resident_kb() < MEMORY_KB
    guard.end()
    assert hosts.endpoints() == before


def test_rules_of_others_stay(hosts: Lab) -> None:
    before = hosts.configuration()
    guard = hosts.guard("--routes")
    assert f"{WIFI} has a rule that is not ours (table 1, rule 1): it stays" in guard.says()
    guard.end()
    assert hosts.configuration() == before


def test_observes_routes_only(hosts: Lab) -> None:
    hosts.ip("client", "rule del lookup 1")
    hosts.ip("client", "route add default via 10.0.1.1 dev wifi")
    before = hosts.configuration()
    guard = hosts.guard("--observe", "--routes")
    # LTE has a rule of its own, which is told first.
    assert LTE in guard.says()
    assert f"what comes from {WIFI} would go by table" in guard.says()
    assert "nothing was touched" in guard.end()
    assert hosts.configuration() == before


def test_observes_only(hosts: Lab) -> None:
    before = hosts.configuration()
    hosts.fetch()
    guard = hosts.guard("--observe")
    assert "only reports what it would do" in guard.begins
    time.sleep(LEARNS_SECONDS)
    hosts.lose(WIFI)
    guard.decides("suspended", WIFI)
    assert hosts.endpoints() == before["mptcp endpoint"]
    hosts.find(WIFI)
    guard.decides("resumed", WIFI)
    assert "nothing was touched" in guard.end()
    assert hosts.configuration() == before
    assert not hosts.state.exists()


def test_says_what_it_lacks(hosts: Lab, tmp_path: pathlib.Path) -> None:
    need_tool("setpriv")
    # Where others may not look, they may not run it either.
    copy = pathlib.Path("/var/tmp") / f"{tmp_path.name}-{os.getpid()}-guard"
    copy.write_bytes(pathlib.Path(programs.guard()).read_bytes())
    copy.chmod(0o755)
    try:
        words = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
        done = subprocess.run(
            [*hosts.enter("client"), *words, str(copy)], capture_output=True, text=True
        )
    finally:
        copy.unlink()
    assert (done.returncode, done.stderr) == (
        2,
        "mptcplab-guard: this needs CAP_NET_ADMIN: run it as root\n",
    )
    for setting, says in (
        ("net.mptcp.pm_type=1", "connections that begin now do not use endpoints"),
        ("net.mptcp.enabled=0", "MPTCP is switched off here"),
    ):
        subprocess.run([*hosts.enter("client"), "sysctl", "-qw", setting], check=True)
        guard = hosts.guard()
        assert says in guard.begins
        guard.end()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--paramters"], "unknown argument --paramters; try --help"),
        (["--parameters", '{"probes": 0}'], "--parameters: probes is not a whole number"),
        (["--parameters", "[]"], "--parameters: not a table"),
        (["--state"], "--state needs a file"),
        (["--state", "/proc/none/kept.json"], "/proc/none/kept.json: "),
    ],
)
def test_refuses_what_makes_no_sense(words: list[str], said: str) -> None:
    refuses(words, said)


def test_nobody_has_to_read_what_it_says() -> None:
    unread, written = os.pipe()
    os.close(unread)
    with os.fdopen(written, "wb") as gone:
        assert subprocess.run([programs.guard(), "--help"], stdout=gone).returncode == 0
        assert subprocess.run([programs.guard(), b"\xff"], stderr=gone).returncode == 2


def test_a_run_with_the_kernel_shows_what_it_decided(host: Machine) -> None:
    run = host.emulate(SCENARIO, "--no-baselines")["mptcp"]
    decided = run.signals.filter(host="client")
    times = {
        name: decided.filter(signal=f"guard-{name}")["at_s"].to_list()
        for name in ("suspended", "resumed")
    }
    # Wi-Fi is silent from 2 s to 5 s.
    assert any(2 < at_s < 5 for at_s in times["suspended"]), times
    assert any(at_s > 5 for at_s in times["resumed"]), times


def test_a_run_with_the_kernel_leaves_a_path_for_its_signal(host: Machine) -> None:
    scenario = SCENARIO.partition("[[timeline]]")[0] + WEAK
    done = host.emulate(scenario, "--no-baselines", "--set", "transfer.duration=4s")
    decided = done["mptcp"].signals.filter(host="client", signal="guard-suspended")
    assert decided["evidence"].to_list() == ["its radio hears -85 dBm only"]


WEAK = """\
path_manager_parameters = { leave_below = -80 }
[[timeline]]
at = "1 s"
path = "wifi"
verb = "signal"
dbm = -85
"""
# What comes while a path is lost is far less than a receive buffer: where memory is full then,
# Linux 6.18 now and then delivers nothing any more, with a guard or without.
SCENARIO = """\
schema = 1
[transfer]
direction = "download"
application = "constant-bit-rate"
rate = "500 kbit/s"
duration = "8 s"
[path.wifi]
rate = "20 Mbit/s"
delay = "10 ms"
[path.lte]
rate = "20 Mbit/s"
delay = "25 ms"
[mptcp]
path_manager = "guard"
[[timeline]]
at = "2 s"
path = "wifi"
verb = "blackout"
[[timeline]]
at = "5 s"
path = "wifi"
verb = "restore"
"""
