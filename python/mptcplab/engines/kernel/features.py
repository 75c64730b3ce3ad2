"""What this kernel has, as far as one can read it without trying."""

from __future__ import annotations

import platform
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from mptcplab._core import Error
from mptcplab.machine.machine import SYSTEM

# What endpoints and limits can say.
LINUX_PATH_MANAGERS = ("full-mesh", "linux", "single")
# What opens and closes paths by endpoints, beside Linux's path manager: mptcplab-guard.
POLICIES = ("budget", "maps", "offload", "on-demand")
BY_PROGRAM = ("guard", *POLICIES)
PATH_MANAGERS = tuple(sorted(LINUX_PATH_MANAGERS + BY_PROGRAM))
SYSCTL = Path("/proc/sys")
TOOLS = {"ip": "iproute2", "unshare": "util-linux", "setpriv": "util-linux"}


@dataclass(frozen=True)
class Features:
    """What settings need to know of the kernel."""

    congestion_controls: tuple[str, ...]
    # Of those, the ones that the sysctl of a namespace may name.
    unrestricted: tuple[str, ...]
    schedulers: tuple[str, ...]

    @classmethod
    def here(cls) -> Features:
        """Read those of this machine; raises an error that says what is missing."""
        if platform.system() != "Linux":
            raise Error("the kernel engine needs Linux")
        for tool, package in TOOLS.items():
            if shutil.which(tool) is None:
                elsewhere = shutil.which(tool, path=SYSTEM)
                mend = (
                    f'PATH="$PATH:{Path(elsewhere).parent}"'
                    if elsewhere
                    else f"apt install {package}"
                )
                raise Error(f"the kernel engine needs {tool}: {mend}")
        return cls(
            _names("net.ipv4.tcp_available_congestion_control"),
            _names("net.ipv4.tcp_allowed_congestion_control"),
            _names("net.mptcp.available_schedulers") or ("default",),
        )

    def is_since(self, major: int, minor: int) -> bool:
        """Whether it is of that release or a later one."""
        found = re.match(r"(\d+)\.(\d+)", platform.release())
        return found is None or (int(found[1]), int(found[2])) >= (major, minor)

    @property
    def has_mptcp(self) -> bool:
        """Whether it speaks MPTCP."""
        return self.has("net.mptcp.enabled")

    @property
    def has_ipv6(self) -> bool:
        """Whether it speaks IPv6."""
        return self.has("net.ipv6")

    def has(self, sysctl: str) -> bool:
        """Whether there is such a sysctl."""
        return _file(sysctl).exists()


def _names(sysctl: str) -> tuple[str, ...]:
    try:
        return tuple(_file(sysctl).read_text("ascii").split())
    except OSError:
        return ()


def _file(sysctl: str) -> Path:
    return SYSCTL / sysctl.replace(".", "/")
