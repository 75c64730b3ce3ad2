"""A scenario with Linux's own MPTCP, in real time, into a run directory."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from contextlib import closing
from typing import Any

from mptcplab.engines.engine import Measured
from mptcplab.engines.kernel import hosts, measured
from mptcplab.engines.kernel.features import Features
from mptcplab.engines.kernel.job import Wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.engines.engine import Progress, Target, Trial
    from mptcplab.engines.kernel.network import Job
    from mptcplab.engines.kernel.sandbox import Sandbox

    Ended = dict[str, Any]

# Beside the captures, until the tables are made.
RAW = "raw"


def emulate(trial: Trial, target: Target) -> Measured:
    """Run it in the sandbox, and measure what it left."""
    wanted = Wanted(trial.scenario, trial.seed, trial.baseline, Features.here())
    raw = target.directory / RAW
    raw.mkdir()
    job = wanted.job(target.directory, raw, captures=target.captures)
    ended = _run(target.session, job.as_json(), target.progress)
    tables = measured.tables(job, ended)
    shutil.rmtree(raw)
    return Measured(tables, outcome(wanted, ended), circumstances(job, ended))


def _run(lab: Sandbox, job: dict[str, Any], progress: Progress | None) -> dict[str, Any]:
    """Have the lab run it; gives what it says at the end."""
    with closing(lab.run(job)) as lines:
        for line in lines:
            if "ended" in line:
                ended: dict[str, Any] = line["ended"]
            elif progress is not None:
                progress(line["progress"]["ns"], line["progress"]["bytes"])
    return ended


ENDS = ("client", "server")
TOOLS = {"ip": ["ip", "-V"], "unshare": ["unshare", "--version"]}


def outcome(wanted: Wanted, ended: Ended) -> dict[str, Any]:
    """Say how it ended, as simulations do."""
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
            "bytes": ended["agents"][hosts.receiver(traffic)]["bytes_received"],
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
    reasons = [
        f"the {end} {ended['agents'][end]['reason']}{_of_quic(ended['agents'][end])}"
        for end in ENDS
        if not ended["agents"][end]["finished"]
    ]
    waiting = "; ".join(reasons) or "not all that was sent was received"
    return f"{ended['cut']}: {waiting}" if ended["cut"] else waiting


def _of_quic(agent: dict[str, Any]) -> str:
    """Say why the connection of QUIC ended, where it did so early."""
    reason = agent.get("quic", {}).get("reason")
    return f" (QUIC: {reason})" if reason else ""


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
            "controllers": ended["controllers"],
            "acks": ended["acks"] and {key: ended["acks"][key] for key in ("recorded", "lost")},
            "converters": ended["converters"],
            "sockets": {name: agent["sockets"] for name, agent in ended["agents"].items()},
        },
        **({"quic": _quic(ended)} if job.is_quic else {}),
        "stacks": {end: "mptcplab" if end == job.ours else "kernel" for end in ENDS},
        "emulator": ended["emulator"] | {"dropped_before": ended["dropped"]},
    }


def _quic(ended: Ended) -> dict[str, Any]:
    """Say what the program that carried the data counted at both ends, by path."""
    return {end: ended["agents"][end]["quic"]["paths"] for end in ENDS}


def _version(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout.strip()
