"""What is told of a run of the kernel: how it ended, and under which circumstances."""

from __future__ import annotations

import os
import platform
import subprocess

from mptcplab.engines.kernel import crossing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.engines.kernel.job import Wanted
    from mptcplab.engines.kernel.network import Job

    Ended = dict[str, Any]

ENDS = ("client", "server")
TOOLS = {"ip": ["ip", "-V"], "unshare": ["unshare", "--version"]}


def outcome(wanted: Wanted, ended: Ended) -> dict[str, Any]:
    """Say how it ended, in the words of simulations."""
    client, server = (ended["agents"][end] for end in ENDS)
    received = {"up": server["bytes_received"], "down": client["bytes_received"]}
    sent = {"up": client["bytes_sent"], "down": server["bytes_sent"]}
    corrupt = client["corrupt_bytes"] + server["corrupt_bytes"]
    finished = client["finished"] and server["finished"] and received == sent and not corrupt
    return {
        "finished": finished,
        "reason": _reason(ended, finished=finished, corrupt=corrupt),
        "elapsed_ns": ended["elapsed_ns"],
        "packets": sum(port["sent"] for port in ended["emulator"]["ports"].values()),
        "bytes_received": received,
        "corrupt_bytes": corrupt,
        "cross_traffic": cross_traffic(wanted, ended),
    }


def cross_traffic(wanted: Wanted, ended: Ended) -> list[dict[str, Any]]:
    """Say what each got through."""
    return [
        {
            "name": traffic.name,
            "bytes": ended["agents"][crossing.receiver(traffic)]["bytes_received"],
            "active_s": _active_ns(traffic.start, traffic.stop, ended["elapsed_ns"]) / 1e9,
        }
        for traffic, _ in wanted.traffic
    ]


def _reason(ended: Ended, *, finished: bool, corrupt: int) -> str:
    if finished:
        lingering = any(ended["agents"][end]["lingering"] for end in ENDS)
        return "complete, but for subflows that nobody answers" if lingering else "complete"
    if corrupt:
        return f"{corrupt} bytes came other than they were sent"
    said = [
        f"the {end} {ended['agents'][end]['reason']}"
        for end in ENDS
        if not ended["agents"][end]["finished"]
    ]
    waiting = "; ".join(said) or "not all that was sent was received"
    return f"{ended['cut']}: {waiting}" if ended["cut"] else waiting


def _active_ns(start: int, stop: int | None, elapsed: int) -> int:
    return max(min(elapsed if stop is None else stop, elapsed) - start, 0)


def circumstances(job: Job, ended: Ended) -> dict[str, Any]:
    """Say what a rerun needs to know, and what the emulator did."""
    return {
        "kernel": {
            "release": platform.release(),
            "version": platform.version(),
            "user": "root" if os.geteuid() == 0 else "ordinary",
            "tools": {name: _version(command) for name, command in TOOLS.items()},
            "devices": ended["devices"],
            "sysctls": ended["sysctls"],
            "set": {host.name: host.sysctls for host in job.hosts},
            "commands": {host.name: host.setup for host in job.hosts},
            "paths": {
                name: {"attach": job.attach[name], "detach": job.detach[name]}
                for name in job.attach
            },
            "sockets": {name: agent["sockets"] for name, agent in ended["agents"].items()},
        },
        "stacks": {end: "mptcplab" if end == job.ours else "kernel" for end in ENDS},
        "emulator": ended["emulator"] | {"dropped_before": ended["dropped"]},
    }


def _version(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout.strip()
