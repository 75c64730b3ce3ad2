"""One run between here and a server: a transfer, what both ends know of it, and the clocks."""

from __future__ import annotations

import json
import os
import platform
import shutil
import time
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mptcplab._core import Error
from mptcplab.engines.engine import Measured, Target, Trial
from mptcplab.engines.field import agents, clock, control, preamble, recorder, server_line, tables
from mptcplab.engines.field.agents import Helper
from mptcplab.engines.field.clock import Offset
from mptcplab.engines.field.routes import Route, route
from mptcplab.engines.field.surroundings import Surroundings
from mptcplab.scenario.plan import planned_transfer

RAW = "raw"
CAPTURE = "client.pcapng"
SERVER_CAPTURE = "server.pcapng"
LINGER_NS = 3 * 10**9
COMPLETE = "complete"


@dataclass
class Ended:
    """What is known of a run when it is over."""

    ready: dict[str, Any]
    client: dict[str, Any]
    server: dict[str, Any]
    stopped: bool
    started_ns: int
    elapsed_ns: int
    #: By path, before and after the transfer.
    clocks: dict[str, tuple[Offset | None, Offset | None]]
    #: By the end: by whom, why not, and packets that are missing.
    captured: dict[str, dict[str, Any]]
    surroundings: Surroundings
    #: How many were sent over each path, before the transfer and again after it.
    echoes: int


def measure(trial: Trial, target: Target) -> Measured:
    """Run it, and measure what it left."""
    scenario = trial.scenario
    field = scenario.field
    assert field is not None  # noqa: S101 - it was checked
    assert field.server is not None  # noqa: S101 - it was checked
    line = server_line.read(field.server)
    token = server_line.token(field.token)
    names = list(scenario.paths) if trial.baseline is None else [trial.baseline]
    routes = {}
    for name in names:
        path = scenario.paths[name]
        assert path.interface is not None  # noqa: S101 - it was checked
        routes[name] = route(path.interface, line.host, line.port, path.ip)
    raw = target.directory / RAW
    raw.mkdir()
    with control.connected(line, token) as session:
        ended = _run(trial, target, session, routes, line.port, raw)
    run_tables, span = tables.of_run(
        target.directory, raw, ended, routes, planned_transfer(trial.scenario.transfer)
    )
    if target.captures == "none":
        for name in (CAPTURE, SERVER_CAPTURE):
            (target.directory / name).unlink(missing_ok=True)
    shutil.rmtree(raw)
    more = circumstances(ended, routes, line.host)
    more["surroundings"] = ended.surroundings.about(span)
    return Measured(run_tables, outcome(ended), more)


def _run(
    trial: Trial,
    target: Target,
    session: control.Control,
    routes: dict[str, Route],
    port: int,
    raw: Path,
) -> Ended:
    scenario = trial.scenario
    field = scenario.field
    assert field is not None  # noqa: S101 - it was checked
    ready = session.ask(_request(trial, target))
    run, key = bytes.fromhex(ready["run"]), bytes.fromhex(ready["key"])
    with ExitStack() as helpers:
        captured, recording = _record(helpers, target, routes, port, session)
        surroundings = Surroundings(field, routes)
        helpers.callback(surroundings.end)
        before = _clocks(routes, port, run, key, field.echoes, 0)
        agent = Helper(agents.AGENT, _job(trial, target, raw, routes, port, run, key))
        helpers.callback(agent.end)
        agent.wait_for("ready", agents.START_SECONDS)
        started_ns = time.time_ns()
        start_ns = time.monotonic_ns()
        client, stopped = agents.transfer(agent, scenario.stop_ns, target.progress)
        elapsed_ns = time.monotonic_ns() - start_ns
        after = _clocks(routes, port, run, key, field.echoes, field.echoes)
        if recording is not None:
            captured |= _captured(recording.end(agents.CAPTURED_SECONDS))
            if captured["by"] is None:
                (target.directory / CAPTURE).unlink(missing_ok=True)
    server, server_captured = session.take(raw)
    server_capture = raw / SERVER_CAPTURE
    if server_capture.exists():
        server_capture.replace(target.directory / SERVER_CAPTURE)
    clocks = {name: (before[name], after[name]) for name in routes}
    captures = {"client": captured, "server": server_captured or ready["captures"]}
    return Ended(
        ready,
        client,
        server,
        stopped,
        started_ns,
        elapsed_ns,
        clocks,
        captures,
        surroundings,
        field.echoes,
    )


# What an application is measured by, and the server need not know.
ONLY_MEASURED = {
    ("deadline_ns", "request-response"),
    ("deadline_ns", "constant-bit-rate"),
    ("codec", "constant-bit-rate"),
}


def _request(trial: Trial, target: Target) -> dict[str, Any]:
    scenario = trial.scenario
    application = scenario.transfer.application
    return {
        "transfer": {
            key: value
            for key, value in planned_transfer(scenario.transfer).items()
            if value is not None and (key, application) not in ONLY_MEASURED
        },
        "congestion_control": _congestion_control(trial),
        "sample_ns": scenario.run.sample,
        "stop_ns": scenario.stop_ns,
        # Packets are measured even where no capture is kept.
        "captures": "headers" if target.captures == "none" else target.captures,
    }


def _congestion_control(trial: Trial) -> str:
    kernel = trial.scenario.kernel
    return kernel.congestion_control if trial.mptcp else kernel.tcp_congestion_control


def _job(
    trial: Trial,
    target: Target,
    raw: Path,
    routes: dict[str, Route],
    port: int,
    run: bytes,
    key: bytes,
) -> dict[str, Any]:
    first = next(iter(routes.values()))
    return {
        "transfer": planned_transfer(trial.scenario.transfer),
        "mptcp": trial.mptcp,
        "connect": {
            "remote": [first.remote, port],
            "device": first.interface,
            "both_versions": trial.mptcp
            and len({":" in one.remote for one in routes.values()}) > 1,
            "preambles": [preamble.preamble(run, key, 0).hex()],
        },
        "congestion_control": _congestion_control(trial),
        "linger_ns": LINGER_NS,
        "most_bytes": target.most_bytes,
        "host": "client",
        "sample_ns": trial.scenario.run.sample,
        "samples": str(raw / "client.samples"),
        "counters": str(raw / "client.counters"),
        "shared": True,
    }


def _record(
    helpers: ExitStack,
    target: Target,
    routes: dict[str, Route],
    port: int,
    session: control.Control,
) -> tuple[dict[str, Any], Helper | None]:
    """Start the recorder if this user may; returns what captures, or why nothing does."""
    job = {
        "file": str(target.directory / CAPTURE),
        "host": "client",
        "interfaces": {one.interface: name for name, one in routes.items()},
        "port": port,
        "snap": recorder.WHOLE_BYTES if target.captures == "full" else recorder.SNAP_BYTES,
        "most": None,
    }
    helper = Helper(agents.RECORDER, job)
    try:
        by = helper.wait_for("ready", agents.START_SECONDS)
    except Error as error:
        helper.end()
        return {"by": None, "why": str(error)}, None
    helpers.callback(helper.end)
    helper.send(json.dumps({"without": [session.local]}))
    return {"by": by, "why": None}, helper


def _captured(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Say how many packets a recorder did not write, or why there is no whole capture."""
    for message in messages:
        if "captured" in message:
            return dict(message["captured"])
    why = next((one["error"] for one in messages if "error" in one), "it ended in the middle")
    return {"by": None, "why": why}


def _clocks(
    routes: dict[str, Route], port: int, run: bytes, key: bytes, count: int, first: int
) -> dict[str, Offset | None]:
    """Measure it over each path; ``None`` for one that is gone, which is no end of a run."""
    found: dict[str, Offset | None] = {}
    for number, (name, one) in enumerate(routes.items()):
        found[name] = None
        with suppress(Error):
            found[name] = clock.offset(one, port, run, key, count, first + number * 2 * count)
    return found


def outcome(ended: Ended) -> dict[str, Any]:
    """Say how it ended, as the other engines do."""
    client, server = ended.client, ended.server
    received = {"up": server["bytes_received"], "down": client["bytes_received"]}
    sent = {"up": client["bytes_sent"], "down": server["bytes_sent"]}
    corrupt = client["corrupt_bytes"] + server["corrupt_bytes"]
    finished = client["finished"] and server["finished"] and received == sent and not corrupt
    failures = [
        f"the {end} {one['reason']}"
        for end, one in (("client", client), ("server", server))
        if not one["finished"]
    ]
    reason = "; ".join(failures) or "not all that was sent was received"
    if corrupt:
        reason = f"{corrupt} bytes came other than they were sent"
    if ended.stopped:
        reason = f"stopped after {ended.elapsed_ns / 1e9:.0f} s: {reason}"
    return {
        "finished": finished,
        "reason": COMPLETE if finished else reason,
        "elapsed_ns": ended.elapsed_ns,
        "bytes_received": received,
        "corrupt_bytes": corrupt,
    }


def circumstances(ended: Ended, routes: dict[str, Route], host: str) -> dict[str, Any]:
    """Describe the hosts, interfaces, clocks and captures of a run."""
    return {
        "kernel": {
            "release": platform.release(),
            "version": platform.version(),
            "user": "root" if os.geteuid() == 0 else "ordinary",
            "sockets": {"client": ended.client["sockets"], "server": ended.server["sockets"]},
        },
        "stacks": {"client": "kernel", "server": "kernel"},
        "field": {
            "server": host,
            "server_kernel": ended.ready["kernel"],
            "seen_as": ended.ready["seen_as"],
            "preamble_bytes": ended.ready["preamble_bytes"],
            "paths": {name: asdict(one) for name, one in routes.items()},
            "captures": ended.captured,
            "clocks": {
                name: {
                    "before": None if before is None else asdict(before),
                    "after": None if after is None else asdict(after),
                }
                for name, (before, after) in ended.clocks.items()
            },
            "clock": asdict(clock.line(ended.clocks)),
        },
    }
