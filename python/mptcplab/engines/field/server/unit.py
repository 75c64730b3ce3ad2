"""A unit for systemd: the server as a user of its own, with nothing to write to but its state."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence

UNIT = """\
[Unit]
Description=mptcplab serve: the other host of MPTCP measurements
After=network-online.target
Wants=network-online.target

[Service]
ExecStart={command}
DynamicUser=yes
StateDirectory=mptcplab
StateDirectoryMode=0700
UMask=0077
# CAP_NET_RAW is for captures; without it the server measures without them.
AmbientCapabilities={capabilities}
CapabilityBoundingSet={capabilities}
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK AF_PACKET
MemoryMax=1G
TasksMax=64
Restart=on-failure

[Install]
WantedBy=multi-user.target
"""


STATE = "/var/lib/mptcplab"
# From here on anybody may listen (net.ipv4.ip_unprivileged_port_start).
ORDINARY_PORTS = 1024


def unit(options: Sequence[str], ports: Sequence[int]) -> str:
    """Give it for the Python that runs us, with these further options of ``mptcplab serve``."""
    command = [sys.executable, "-P", "-m", "mptcplab", "serve", "--state", STATE, *options]
    capabilities = ["CAP_NET_RAW"]
    if any(port < ORDINARY_PORTS for port in ports):
        capabilities.append("CAP_NET_BIND_SERVICE")
    return UNIT.format(
        # What systemd would expand (systemd.service(5), "Command lines").
        command=shlex.join(command).replace("%", "%%").replace("$", "$$"),
        capabilities=" ".join(capabilities),
    ).rstrip("\n")
