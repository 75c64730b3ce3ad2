"""Instructions of the hot paths, held to what they were: `python benchmarks/instructions.py [--keep]`.

Valgrind's callgrind counts them, so that nothing else on the machine moves the figures. A path that takes more than 3 % more
instructions a packet than `instructions.json` says fails. `--keep` writes what is counted now there: after a change that made
a path cheaper, or one that is worth what it costs, which its commit says. They hold for the compiler that is named there.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
KEPT = Path(__file__).with_suffix(".json")
MOST = 1.03
DOWNLOAD = ROOT / "examples" / "download"

# Examples of `crates/sim`, which are built at once, and their arguments.
PATHS: dict[str, tuple[str, list[str]]] = {
    "simulated packet": ("speed", ["1", "3"]),
    "simulated packet, 50 connections": ("speed", ["50", "3"]),
    "analysed packet of two captures": (
        "analyze",
        [str(DOWNLOAD / f"{end}.pcapng.gz") for end in ("client", "server")],
    ),
    "packet through a link, read and written": ("pass", ["20000"]),
}


def main() -> int:
    programs = build({name for name, _ in PATHS.values()})
    counted = {label: count(programs[name], rest) for label, (name, rest) in PATHS.items()}
    made = f"{output(['rustc', '--version']).strip()}, {platform.machine()}"
    if sys.argv[1:] == ["--keep"]:
        KEPT.write_text(json.dumps({"made_with": made, "per_packet": counted}, indent=2) + "\n")
    kept = json.loads(KEPT.read_text())
    worse = False
    print(f"{'instructions':42} {'kept':>8} {'now':>8}")
    for label, now in counted.items():
        before = kept["per_packet"][label]
        worse |= now > before * MOST
        print(f"  {label:40} {before:8} {now:8} {100 * (now / before - 1):+.1f} %")
    if worse:
        print(
            f"over {100 * (MOST - 1):.0f} % more than was kept with {kept['made_with']} (this is {made}): make it cheaper, or "
            "keep it with --keep and say in the commit what it is worth"
        )
    return int(worse)


def build(names: set[str]) -> dict[str, str]:
    """Where the programs are.

    They have the features of the extension module's crates, so that what was built for that is not built again.
    """
    examples = [argument for name in sorted(names) for argument in ("--example", name)]
    packages = ["--package", "sim", "--package", "python"]
    cargo = ["cargo", "build", "--release", "--locked", *packages, *examples]
    messages = [
        json.loads(line) for line in output([*cargo, "--message-format", "json"]).splitlines()
    ]
    built = [message for message in messages if message.get("executable")]
    return {message["target"]["name"]: message["executable"] for message in built}


def count(program: str, arguments: list[str]) -> int:
    """Instructions for each of the packets that a program says first that there were."""
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "log"
        valgrind = ["valgrind", "--tool=callgrind", f"--log-file={log}"]
        valgrind.append(f"--callgrind-out-file={directory}/out")
        packets = int(output([*valgrind, program, *arguments]).split()[0])
        collected = re.search(r"Collected : (\d+)", log.read_text())
    if collected is None:
        raise RuntimeError(f"callgrind does not say how many instructions {program} took")
    return round(int(collected[1]) / packets)


def output(command: list[str]) -> str:
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
