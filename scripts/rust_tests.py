"""Builds the tests of Rust and runs their programs, one for each processor at a time.

Cargo would run one after the other, and many keep one processor busy. What waits for real time
runs with nothing beside it; what takes longest begins first.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

CARGO = ("cargo", "test", "--workspace", "--exclude", "python", "--locked")
REAL_TIME = ("agent", "converter", "emulator")
LONG = ("conservation", "tshark", "topology", "bounds", "queues", "schedulers")


@dataclass(frozen=True)
class Program:
    """Tests, which cargo starts in the directory of their package."""

    package: Path
    name: str
    command: tuple[str, ...]

    def passes(self) -> bool:
        """Run it, and show what it prints once it has ended."""
        began_s = time.monotonic()
        environment = os.environ | {"CARGO_MANIFEST_DIR": str(self.package)}
        done = subprocess.run(
            self.command,
            cwd=self.package,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        seconds = time.monotonic() - began_s
        title = f"     Running {self.package.name}: {self.name} ({seconds:.2f} s)\n"
        ending = f"     ended with {done.returncode}\n" if done.returncode else ""
        sys.stdout.buffer.write(title.encode() + done.stdout + ending.encode())
        sys.stdout.buffer.flush()
        return done.returncode == 0


def main() -> None:
    """Build, run, and fail if anything does."""
    built = subprocess.run(
        [*CARGO, "--no-run", "--message-format=json-render-diagnostics"],
        stdout=subprocess.PIPE,
        check=False,
    )
    if built.returncode:
        sys.exit(built.returncode)
    messages = map(json.loads, built.stdout.splitlines())
    programs = [
        Program(Path(one["manifest_path"]).parent, one["target"]["name"], (one["executable"],))
        for one in messages
        if one["reason"] == "compiler-artifact" and one["executable"] and one["profile"]["test"]
    ]
    alone = [one for one in programs if one.package.name in REAL_TIME]
    beside = [one for one in programs if one not in alone]
    beside.sort(key=lambda one: LONG.index(one.name) if one.name in LONG else len(LONG))
    beside.append(Program(Path.cwd(), "examples in the documentation", (*CARGO, "--doc")))
    passed = [one.passes() for one in alone]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        passed += pool.map(Program.passes, beside)
    failed = [
        f"{one.package.name}: {one.name}"
        for one, has_passed in zip([*alone, *beside], passed, strict=True)
        if not has_passed
    ]
    print(f"{len(passed) - len(failed)} of {len(passed)} programs passed")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
