"""Setting up what field runs need of this host, and undoing it to the last setting.

How a step is undone is on the disk before it is done. The journal lies where it does not outlive
the machine's next start, as the settings themselves do not.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mptcplab._core import Error
from mptcplab.engines.field import uplinks
from mptcplab.engines.field.uplinks import Step

JOURNAL = Path("/run/mptcplab/set-up.jsonl")


def set_up(steps: list[Step], journal: Path = JOURNAL) -> None:
    """Take the steps; needs root.

    Raises:
        Error: One cannot be taken; :func:`undo` undoes those before it.
    """
    with _opened(journal) as handle:
        for step in steps:
            before = os.lseek(handle, 0, os.SEEK_END)
            os.write(handle, json.dumps(step.undo).encode() + b"\n")
            os.fsync(handle)
            try:
                _run(step.do)
            except Error:
                # It was not taken, so there is nothing to undo.
                os.ftruncate(handle, before)
                raise


def undo(journal: Path = JOURNAL) -> int:
    """Undo all steps, the last one first; gives how many. What is undone already stays so.

    Raises:
        Error: Some cannot be undone. All others are, and the journal stays for another attempt.
    """
    if not journal.exists():
        return 0
    with _opened(journal):
        lines = journal.read_bytes().split(b"\n")
        # A last line that was cut off is of a step that was not taken.
        steps = [json.loads(line) for line in lines[:-1]]
        failures = []
        for step in reversed(steps):
            try:
                _undo(step)
            except Error as error:
                failures.append(str(error))
        if failures:
            raise Error("; ".join(failures))
        journal.unlink()
    return len(steps)


@contextmanager
def _opened(journal: Path) -> Iterator[int]:
    """Open the journal, which nobody else writes meanwhile."""
    try:
        journal.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(journal, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError as error:
        reason = error.strerror
        raise Error(f"cannot write {journal}: {reason}; setting up needs root (sudo)") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        content = journal.read_bytes()
        os.ftruncate(handle, content.rfind(b"\n") + 1)
        yield handle
    finally:
        os.close(handle)


def _undo(step: dict[str, Any]) -> None:
    kind = step["kind"]
    if kind == "endpoint":
        number = uplinks.endpoints().get(step["address"])
        if number is not None:
            _run(["ip", "mptcp", "endpoint", "delete", "id", str(number)])
    elif kind == "route":
        version, *arguments = step["words"]
        # The routes of an interface go with it.
        if (
            _is_there(arguments[arguments.index("dev") + 1])
            and uplinks.ip(version, "route", "show", *arguments).strip()
        ):
            _run(["ip", version, "route", "del", *arguments])
    elif kind == "limits":
        if uplinks.limits() != step["set"]:
            # Not done, or others have changed them since.
            return
        known = {"subflow": step["subflows"], "add_addr_accepted": step["add_addr_accepted"]}
        arguments = [word for key, value in known.items() for word in (key, str(value))]
        _run(["ip", "mptcp", "limits", "set", *arguments])
    elif uplinks.ENABLED.read_text("ascii").strip() == "1":
        _run(["sysctl", "-q", "-w", f"net.mptcp.enabled={step['value']}"])


def _is_there(interface: str) -> bool:
    try:
        socket.if_nametoindex(interface)
    except OSError:
        return False
    return True


def _run(command: list[str]) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        reason = " ".join(done.stderr.split()) or f"exit status {done.returncode}"
        raise Error(f"{' '.join(command)}: {reason}; mptcplab doctor --undo undoes what is done")
