"""Programs run by root as a user without rights: our files are put where that user sees them.

All that is mounted for it goes with the program.
"""

from __future__ import annotations

import pathlib
import shlex
import stat
import sys

NOBODY = 65_534
ROOT = pathlib.Path(__file__).resolve().parents[1]
# Python, what is installed for the tests, and the project; in this order, the outer ones first.
SEEN = (sys.base_prefix, sys.prefix, str(ROOT))
STAGE = "/mnt"
TUN = pathlib.Path("/dev/net/tun")


def command(arguments: list[str], *, tun: bool) -> list[str]:
    """Give the command that runs another one as such a user, to whom TUN is open or closed."""
    lines = ["set -e", f"mount -t tmpfs -o mode=0755 none {STAGE}"]
    closed = {path: _closed(pathlib.Path(path)) for path in dict.fromkeys(SEEN)}
    hidden = {path: top for path, top in closed.items() if top}
    for number, path in enumerate(hidden):
        lines += [f"mkdir {STAGE}/{number}", f"mount --bind {shlex.quote(path)} {STAGE}/{number}"]
    for top in dict.fromkeys(hidden.values()):
        lines.append(f"mount -t tmpfs -o mode=0755 none {shlex.quote(str(top))}")
    for number, path in enumerate(hidden):
        there = shlex.quote(path)
        lines += [f"mkdir -p {there}", f"mount --bind {STAGE}/{number} {there}"]
    if TUN.exists():
        mode = "0666" if tun else "0600"
        lines += [f"mknod -m {mode} {STAGE}/tun c 10 200", f"mount --bind {STAGE}/tun {TUN}"]
    who = f"setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups"
    lines.append(f"exec {who} {shlex.join(arguments)}")
    return ["unshare", "--mount", "sh", "-c", "\n".join(lines)]


def _closed(path: pathlib.Path) -> pathlib.Path | None:
    """Give the outermost directory above a place that is root's alone."""
    for directory in reversed((path, *path.parents)):
        if not directory.stat().st_mode & stat.S_IXOTH:
            return directory
    return None
