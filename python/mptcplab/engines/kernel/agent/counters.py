"""Counters of the kernel in this network namespace, named as ``nstat`` names them."""

from __future__ import annotations

from pathlib import Path

# Which groups of counters stand in which file.
FILES = {"netstat": ("TcpExt", "MPTcpExt"), "snmp": ("Tcp",)}
# What stands among them and counts nothing.
SETTINGS = {"TcpRtoAlgorithm", "TcpRtoMin", "TcpRtoMax", "TcpMaxConn"}


def read() -> dict[str, int]:
    """Read them; a kernel without MPTCP has none of its."""
    found = {}
    for file, groups in FILES.items():
        lines = Path("/proc/net", file).read_text("ascii").splitlines()
        # Two lines each: names, values.
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            group, *words = names.split()
            if group.rstrip(":") in groups:
                pairs = zip(words, values.split()[1:], strict=True)
                found.update({group.rstrip(":") + name: int(value) for name, value in pairs})
    return {name: value for name, value in found.items() if name not in SETTINGS}
