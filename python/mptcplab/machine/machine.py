"""The machine as checks examine it: files, tools, and attempts in namespaces of our own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

ATTEMPTS = Path(__file__).with_name("attempts.py")
NAMESPACES = "unshare --net --mount --pid --fork --kill-child --mount-proc"
AS_ORDINARY_USER = "--user --map-root-user"
PATIENCE_SECONDS = 10
# Where tools for root are, which the search path of an ordinary user may leave out.
SYSTEM = "/usr/sbin:/sbin"
# CAP_SYS_ADMIN of linux/capability.h: the right to make namespaces.
SYS_ADMIN = 1 << 21


@dataclass(frozen=True)
class Tried:
    """The results of attempts in namespaces, or why there are none."""

    outcome: dict[str, Any] = field(default_factory=dict)
    #: Empty where there are namespaces.
    obstacle: str = ""


@dataclass
class Machine:
    """This machine, or another one under ``root`` for tests."""

    root: Path = Path("/")
    is_root: bool = field(default_factory=lambda: os.geteuid() == 0)

    def text(self, file: str) -> str | None:
        """Read a small file, stripped; ``None`` if it cannot be read."""
        try:
            return (self.root / file).read_text("utf-8", "replace").strip()
        except OSError:
            return None

    def values(self, file: str) -> list[str]:
        """Give the values in a file; none if it cannot be read."""
        return (self.text(file) or "").split()

    def exists(self, file: str) -> bool:
        """Whether there is such a file."""
        return (self.root / file).exists()

    def sysctl(self, name: str) -> str | None:
        """Read a setting; ``None`` if there is no such one."""
        return self.text("proc/sys/" + name.replace(".", "/"))

    @property
    def version(self) -> tuple[int, ...]:
        """Give the kernel's version, its first two numbers."""
        release = self.text("proc/sys/kernel/osrelease") or ""
        return tuple(map(int, re.findall(r"\d+", release)[:2]))

    def status(self, key: str) -> str:
        """Read an entry of this process's status."""
        lines = (self.text("proc/self/status") or "").splitlines()
        found = [line.partition(":")[2].strip() for line in lines if line.startswith(f"{key}:")]
        return found[0] if found else ""

    def tool(self, name: str) -> str | None:
        """Give the path of a program."""
        return shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:{SYSTEM}")

    def output_of(self, *command: str) -> str:
        """Give the output of a program; empty if it fails."""
        try:
            done = _call(*command)
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return done.stdout.strip() if done.returncode == 0 else ""

    def with_root(self, command: str) -> str:
        """Give a command that only root may call, as this user would call it."""
        return command if self.is_root else f"sudo {command}"

    @cached_property
    def tried(self) -> Tried:
        """Make the attempts: everything they do is gone with their namespaces."""
        user = "" if self.is_root else AS_ORDINARY_USER
        command = [*NAMESPACES.split(), *user.split(), sys.executable, "-I", "-S", str(ATTEMPTS)]
        try:
            done = _call(*command)
            if done.returncode == 0:
                return Tried(json.loads(done.stdout))
        except FileNotFoundError:
            return Tried(obstacle="there is no unshare")
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            return Tried(obstacle=str(error))
        errors = done.stderr.strip().splitlines() or [f"it ends with status {done.returncode}"]
        return Tried(obstacle=errors[-1])

    def result_of(self, attempt: str) -> str | None:
        """Give ``"done"`` or the error of an attempt; ``None`` where it was not made."""
        outcome: str | None = self.tried.outcome.get(attempt)
        return outcome

    @property
    def may_make_namespaces(self) -> bool:
        """Whether this process has the capability; in a container root may lack it."""
        capabilities = self.status("CapEff")
        return self.is_root and (not capabilities or bool(int(capabilities, 16) & SYS_ADMIN))

    @property
    def container(self) -> str:
        """Name what keeps this process in a container, where one does."""
        if self.exists(".dockerenv"):
            return "docker"
        if self.exists("run/.containerenv"):
            return "podman"
        return self.text("run/systemd/container") or ""


def _call(*command: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "LC_ALL": "C",
        "PATH": f"{os.environ.get('PATH', os.defpath)}:{SYSTEM}",
    }
    return subprocess.run(  # noqa: S603
        command,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE_SECONDS,
    )
