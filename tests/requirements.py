"""What a test needs from the machine. What is missing skips it, or fails it where all must run."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
from functools import cache

import pytest

from mptcplab.machine import programs

# The package of Debian and Ubuntu that holds a tool, where its name is another.
PACKAGES = {
    "dumpcap": "wireshark-common",
    "gpsfake": "gpsd-clients",
    "editcap": "wireshark-common",
    "mergecap": "wireshark-common",
    "ip": "iproute2",
    "llvm-strip": "llvm",
    "setcap": "libcap2-bin",
    "ss": "iproute2",
    "sysctl": "procps",
    "tc": "iproute2",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "nstat": "iproute2",
    "setpriv": "util-linux",
}
SHARED = pathlib.Path(__file__).resolve().parents[2] / "shared"
SHARED_CAPTURES = SHARED / "captures"
SHARED_TRACES = SHARED / "traces"


def missing(reason: str) -> None:
    """Skip the test; with MPTCPLAB_REQUIRE=all (as in continuous integration) fail it."""
    if os.environ.get("MPTCPLAB_REQUIRE") == "all":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def need_tool(*tools: str) -> None:
    """Every one of the programs."""
    for tool in tools:
        if shutil.which(tool) is None:
            missing(f"needs {tool}: apt install {PACKAGES.get(tool, tool)}")


def need_compiler_of_controllers() -> None:
    """What scripts/controllers calls."""
    need_tool("clang", "llvm-strip")
    if not pathlib.Path("/usr/include/bpf/bpf_helpers.h").exists():
        missing("needs bpf/bpf_helpers.h: apt install libbpf-dev")


def need_quic() -> None:
    """The program that carries data over QUIC, and what the kernel engine needs."""
    need_kernel_namespaces()
    if not programs.QUIC.exists():
        missing("needs mptcplab-quic: make quic")


def need_root() -> None:
    """The right to make network namespaces and to capture in them."""
    if os.geteuid() != 0:
        missing("needs root")


def need_kernel_mptcp() -> None:
    """A kernel that speaks MPTCP, and the right and the tools to record it."""
    need_root()
    need_tool("unshare", "setpriv", "ip", "tc", "ethtool", "dumpcap")
    if not _makes_namespaces():
        missing("needs network namespaces and MPTCP in the kernel")


def need_kernel_namespaces() -> None:
    """A kernel that speaks MPTCP, in namespaces that anybody may make."""
    need_tool("unshare", "nsenter", "ip", "sysctl")
    if not _makes_namespaces():
        missing("needs network namespaces and MPTCP in the kernel")


def need_kernel_tun() -> None:
    """A kernel that speaks MPTCP, and TUN devices in namespaces of their own."""
    need_tool("unshare", "setpriv", "ip", "ss", "sysctl")
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        missing("needs /dev/net/tun")
    if not _makes_namespaces():
        missing("needs network namespaces and MPTCP in the kernel")


def need_capture(name: str) -> pathlib.Path:
    """A capture of others, which cannot ship with the project: beside it, or nowhere."""
    file = SHARED_CAPTURES / name
    if not SHARED_CAPTURES.exists():
        pytest.skip(f"needs captures of others in {SHARED_CAPTURES}")
    if not file.exists():
        missing(f"needs {name} in {SHARED_CAPTURES}")
    return file


@cache
def _makes_namespaces() -> bool:
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    probe = ["unshare", "--net", *user, "sysctl", "net.mptcp.enabled"]
    return subprocess.run(probe, capture_output=True).returncode == 0
