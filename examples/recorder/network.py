"""Two hosts joined by paths, in namespaces that nobody outside sees and that end with the process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from recorder.path import Path

MARK = "MPTCPLAB_RECORDER_ISOLATED"
SERVER_ADDRESS = "203.0.113.1"
SECOND_SERVER_ADDRESS = "203.0.113.2"
# The papers measured with Reno; also, a namespace may not choose every algorithm the machine has.
CONGESTION_CONTROL = "reno"


def isolate() -> None:
    """Start this program again in namespaces of its own; the kernel ends all of it when it dies."""
    if MARK not in os.environ:
        kinds = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        os.environ[MARK] = "1"
        os.execvp("unshare", ["unshare", *kinds, sys.executable, *sys.argv])
    # Named namespaces are mounts below /run/netns: on a tmpfs of ours no name reaches the machine's.
    run("mount", "-t", "tmpfs", "tmpfs", "/run")


def build(paths: Sequence[Path], second_server_address: bool) -> None:
    """Make the hosts `client` and `server`, each with one interface per path, named like the path."""
    for host in ("client", "server"):
        run("ip", "netns", "add", host)
        run("ip", "-n", host, "link", "set", "lo", "up")
        settings = {
            "net.mptcp.enabled": "1",
            "net.ipv4.tcp_congestion_control": CONGESTION_CONTROL,
            "net.ipv6.conf.default.disable_ipv6": "1",
        }
        on(host, "sysctl", "-qw", *(f"{name}={value}" for name, value in settings.items()))
        run("ip", "-n", host, "mptcp", "limits", "set", "subflow", "8", "add_addr_accepted", "8")
    run("ip", "-n", "server", "addr", "add", f"{SERVER_ADDRESS}/32", "dev", "lo")
    for number, path in enumerate(paths, start=1):
        _join(number, path)
    if second_server_address:
        run("ip", "-n", "server", "addr", "add", f"{SECOND_SERVER_ADDRESS}/32", "dev", "lo")
        run("ip", "-n", "server", "mptcp", "endpoint", "add", SECOND_SERVER_ADDRESS, "signal")


def _join(number: int, path: Path) -> None:
    name, network = path.name, f"192.0.2.{number * 16}"
    ends = {"client": f"192.0.2.{number * 16 + 2}", "server": f"192.0.2.{number * 16 + 1}"}
    macs = {"client": f"02:00:00:00:{number:02x}:02", "server": f"02:00:00:00:{number:02x}:01"}
    if path.rtt_ms is None:
        run("ip", "link", "add", name, "netns", "client", "type", "veth", "peer", name, "netns", "server")
        _limit_rate("client", path, path.up_mbps)
        _limit_rate("server", path, path.down_mbps)
    else:
        for host in ends:
            end = far_end(path, host)
            run("ip", "link", "add", name, "netns", host, "type", "veth", "peer", end)
            run("sysctl", "-qw", f"net.ipv6.conf.{end}.disable_ipv6=1")
            _without_offloads([], end)
            run("ip", "link", "set", end, "up")
    for host, other in (("client", "server"), ("server", "client")):
        _without_offloads(["ip", "netns", "exec", host], name)
        run("ip", "-n", host, "link", "set", name, "address", macs[host])
        run("ip", "-n", host, "addr", "add", f"{ends[host]}/28", "dev", name)
        run("ip", "-n", host, "link", "set", name, "up")
        # No ARP, which would add a round trip at moments of its own choosing.
        run("ip", "-n", host, "neigh", "replace", ends[other], "lladdr", macs[other], "dev", name)
    if number == 1:
        run("ip", "-n", "client", "route", "add", "default", "via", ends["server"], "dev", name)
        return
    table = str(number)
    for route in (["default", "via", ends["server"]], [f"{network}/28"]):
        run("ip", "-n", "client", "route", "add", *route, "dev", name, "table", table)
    run("ip", "-n", "client", "rule", "add", "from", ends["client"], "table", table)
    run("ip", "-n", "client", "mptcp", "endpoint", "add", ends["client"], "dev", name, "subflow")


def far_end(path: Path, host: str) -> str:
    """The forwarder's interface that faces the host on this path."""
    return f"{path.name}-{host[0]}"


def _limit_rate(host: str, path: Path, mbps: float) -> None:
    limit = ["rate", f"{mbps}mbit", "burst", "32kb", "limit", str(path.queue_bytes)]
    run("tc", "-n", host, "qdisc", "replace", "dev", path.name, "root", "tbf", *limit)


def _without_offloads(prefix: list[str], interface: str) -> None:
    names = ("gro", "gso", "tso", "tx", "rx")
    switches = [word for name in names for word in (name, "off")]
    run(*prefix, "ethtool", "-K", interface, *switches)


def on(host: str, *command: str) -> None:
    run("ip", "netns", "exec", host, *command)


def run(*command: str) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stdout.strip() or done.returncode}")
