"""How fast simulations run, beside ns-3: `python benchmarks/simulation.py`.

A download for 60 s over two paths of 100 Mbit/s and 20 ms round-trip time, coupled by LIA. ns-3, where it is installed
(Debian: libns3-dev), runs the nearest that it has: one such path, TCP CUBIC, no captures.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from cost import Cost, least

ROOT = Path(__file__).parent.parent
NS3_MODULES = ["core", "network", "internet", "point-to-point", "applications"]
PACKETS_GOAL = 2_000_000
OBSERVED_GOAL = 1_000_000
MEMORY_GOAL_MB = 50


def main() -> None:
    if sys.argv[1:2] == ["--observed"]:
        observed(int(sys.argv[2]), sys.argv[3] == "samples")
        return
    bare = example()
    this = [sys.executable, __file__, "--observed"]
    print("\nsimulation of 60 s, 2 × 100 Mbit/s, 20 ms; packets are those that hosts received")
    print(
        f"{'':44} {'wall s':>8} {'CPU s':>8} {'packets/CPU s':>14} {'memory MB':>10} {'goal':>10}"
    )
    rate = report("no captures", [bare], PACKETS_GOAL)
    report("no captures, 50 connections", [bare, "50"], PACKETS_GOAL // 2)
    report("both captures, analysis", [*this, "1", "no"], OBSERVED_GOAL, most_mb=MEMORY_GOAL_MB)
    report("both captures, analysis, 50 connections", [*this, "50", "no"], OBSERVED_GOAL // 2)
    report("both captures, analysis with samples", [*this, "1", "samples"])
    with tempfile.TemporaryDirectory() as directory:
        ns3 = build_ns3(Path(directory))
        if ns3 is None:
            print(
                "  ns-3: not run, as it or a C++ compiler is not installed (apt install libns3-dev, 63 MB)"
            )
        else:
            print(f"  {rate / report('ns-3, one path, TCP CUBIC', [ns3], times=1):.0f} × ns-3")


def report(
    label: str, command: list[str], goal: int = 0, most_mb: float | None = None, times: int = 3
) -> float:
    """Runs a command that prints how many packets there were first; packets per second of processor time."""
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    packets = int(printed.split()[0])
    cost: Cost = least(command, times)
    rate = packets / cost.cpu_s
    print(
        f"  {label:42} {cost.wall_s:8.2f} {cost.cpu_s:8.2f} {rate:14,.0f} {cost.memory_mb:10.0f} "
        f"{goal or '':>10}"
    )
    if most_mb is not None and cost.memory_mb > most_mb:
        print(f"  more memory than the {most_mb} MB aimed at")
    return rate


def example(package: str = "sim", name: str = "speed") -> str:
    """A program without Python, built."""
    build = ["cargo", "build", "--release", "--locked", "--package", package, "--example", name]
    done = subprocess.run(
        [*build, "--message-format", "json"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    return str(next(message["executable"] for message in messages if message.get("executable")))


def observed(connections: int, samples: bool) -> None:
    """Runs the same once, with both captures and the analysis, in this process."""
    from mptcplab import _core

    with tempfile.TemporaryDirectory() as directory:
        tables = _core.simulate(
            _core.Plan(scenario(connections)),
            client_capture=Path(directory) / "client.pcapng",
            server_capture=Path(directory) / "server.pcapng",
            samples=samples,
        )
    outcome = tables.outcome()
    assert outcome is not None, "it was simulated"
    print(outcome["packets"])


def scenario(connections: int) -> dict[str, Any]:
    """As in `crates/sim/examples/speed.rs`."""
    from mptcplab import _core

    config = _core.transport_defaults()
    config["congestion_control"] = "lia"
    config["mptcp"]["scheduler"] = "lowest-rtt"
    config["tcp"]["max_receive_buffer_bytes"] = 16 << 20
    elements = [
        {"element": "rate", "rate": 100_000_000, "queue": {"queue": "drop-tail", "bytes": 250_000}},
        {"element": "delay", "delay": 10_000_000},
    ]
    link = {"uplink": elements, "downlink": elements}
    paths = [
        {
            "name": name,
            "link": name,
            "address": f"10.0.{number}.2",
            "address6": None,
            "mtu_bytes": 1500,
            "backup": False,
            "attached": True,
        }
        for number, name in enumerate(("one", "two"), start=1)
    ]
    return {
        "schema": 1,
        "seed": 1,
        "run": {"kind": "mptcp"},
        "transfer": {
            "application": "bulk",
            "direction": "down",
            "size_bytes": None,
            "duration_ns": 60_000_000_000,
            "connections": connections,
        },
        "links": {"one": link, "two": link},
        "paths": paths,
        "server": {"addresses": ["10.9.0.1"], "port": 8080, "signal": True},
        "transport": {"client": config, "server": config},
        "timeline": [],
        "cross_traffic": [],
        "epoch_ns": 0,
        "settings": {"stop_ns": 120_000_000_000, "sample_ns": 0, "processing_ns": 0},
    }


def build_ns3(directory: Path) -> str | None:
    """Our program for ns-3. Its pkg-config files want libraries for development that are not needed."""
    if not shutil.which("g++") or not Path("/usr/include/ns3").exists():
        return None
    program = str(directory / "ns3")
    libraries = [f"-lns3-{module}" for module in NS3_MODULES]
    source = str(Path(__file__).parent / "ns3.cc")
    done = subprocess.run(["g++", "-O2", "-o", program, source, *libraries], check=False)
    return None if done.returncode else program


if __name__ == "__main__":
    main()
