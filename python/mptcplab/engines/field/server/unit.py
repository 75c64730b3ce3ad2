"""A unit for systemd: the server as a user of its own, with nothing to write to but its state."""

from __future__ import annotations

import sys

UNIT = """\
[Unit]
Description=mptcplab serve: the other host of MPTCP measurements
After=network-online.target
Wants=network-online.target

[Service]
ExecStart={python} -P -m mptcplab serve --state /var/lib/mptcplab
DynamicUser=yes
StateDirectory=mptcplab
StateDirectoryMode=0700
UMask=0077
# For captures; without it the server measures without them.
AmbientCapabilities=CAP_NET_RAW
CapabilityBoundingSet=CAP_NET_RAW
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


def unit() -> str:
    """Give it for the Python that runs us."""
    return UNIT.format(python=sys.executable).rstrip("\n")
