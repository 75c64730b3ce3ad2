"""Two hosts joined by paths, in namespaces that nobody else sees and that end with the process."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence

from recorder.path import Path

MARK = "MPTCPLAB_RECORDER_ISOLATED"
SCRATCH = pathlib.Path("/run")
SERVER_ADDRESS = "203.0.113.1"
SECOND_SERVER_ADDRESS = "203.0.113.2"
# The papers measured with Reno; also, a namespace may not choose every algorithm the machine has.
CONGESTION_CONTROL = "reno"


def isolate() -> None:
    """Start this program again in namespaces of its own, which end together with this process."""
    if MARK not in os.environ:
        for tool in ("unshare", "setpriv", "ip", "tc", "ethtool", "dumpcap"):
            if shutil.which(tool) is None:
                sys.exit(f"needs {tool}")
        os.environ[MARK] = "1"
        # Whatever ends this process, Ctrl-C included, ends the rest: the kernel tells unshare,
        # which by itself would sit out a SIGTERM.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        isolation = "--net --mount --pid --fork --kill-child --mount-proc"
        command = f"setpriv --pdeathsig KILL unshare {isolation}".split()
        command += [sys.executable, *sys.argv]
        sys.exit(subprocess.run(command, start_new_session=True).returncode)
    # Named namespaces are mounts below /run/netns; on a tmpfs of ours they stay our own.
    run(f"mount -t tmpfs tmpfs {SCRATCH}")


def build(paths: Sequence[Path], second_server_address: bool) -> None:
    """Make the hosts `client` and `server`, each with one interface per path, named after it."""
    for host in ("client", "server"):
        run(f"ip netns add {host}")
        run(f"ip -n {host} link set lo up")
        on(host, f"sysctl -qw net.ipv4.tcp_congestion_control={CONGESTION_CONTROL}")
        on(host, "sysctl -qw net.mptcp.enabled=1 net.ipv6.conf.default.disable_ipv6=1")
        run(f"ip -n {host} mptcp limits set subflow 8 add_addr_accepted 8")
    run(f"ip -n server addr add {SERVER_ADDRESS}/32 dev lo")
    for number, path in enumerate(paths, start=1):
        _join(number, path)
    if second_server_address:
        run(f"ip -n server addr add {SECOND_SERVER_ADDRESS}/32 dev lo")
        run(f"ip -n server mptcp endpoint add {SECOND_SERVER_ADDRESS} signal")


def _join(number: int, path: Path) -> None:
    name, net = path.name, number * 16
    address = {"client": f"192.0.2.{net + 2}", "server": f"192.0.2.{net + 1}"}
    mac = {"client": f"02:00:00:00:{number:02x}:02", "server": f"02:00:00:00:{number:02x}:01"}
    if path.rtt_ms is None:
        run(f"ip link add {name} netns client type veth peer {name} netns server")
        _limit_rate("client", path, path.up_mbps)
        _limit_rate("server", path, path.down_mbps)
    else:
        for host in address:
            end = far_end(path, host)
            run(f"ip link add {name} netns {host} type veth peer {end}")
            run(f"sysctl -qw net.ipv6.conf.{end}.disable_ipv6=1")
            run(_without_offloads(end))
            run(f"ip link set {end} up")
    for host, other in (("client", "server"), ("server", "client")):
        on(host, _without_offloads(name))
        run(f"ip -n {host} link set {name} address {mac[host]} up")
        run(f"ip -n {host} addr add {address[host]}/28 dev {name}")
        # No ARP, which would add a round trip at moments of its own choosing.
        run(f"ip -n {host} neigh replace {address[other]} lladdr {mac[other]} dev {name}")
    if number == 1:
        run(f"ip -n client route add default via {address['server']} dev {name}")
        return
    run(f"ip -n client route add 192.0.2.{net}/28 dev {name} table {number}")
    run(f"ip -n client route add default via {address['server']} dev {name} table {number}")
    run(f"ip -n client rule add from {address['client']} table {number}")
    run(f"ip -n client mptcp endpoint add {address['client']} dev {name} subflow")


def far_end(path: Path, host: str) -> str:
    """The forwarder's interface that faces the host on this path."""
    return f"{path.name}-{host[0]}"


def _limit_rate(host: str, path: Path, mbps: float) -> None:
    limit = f"rate {mbps}mbit burst 32kb limit {path.queue_bytes}"
    run(f"tc -n {host} qdisc replace dev {path.name} root tbf {limit}")


def _without_offloads(interface: str) -> str:
    return f"ethtool -K {interface} gro off gso off tso off tx off rx off"


def on(host: str, command: str) -> None:
    run(f"ip netns exec {host} {command}")


def run(command: str) -> None:
    done = subprocess.run(
        command.split(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        print(f"{command}: {done.stdout.strip()}", file=sys.stderr)
        sys.exit(done.returncode)
