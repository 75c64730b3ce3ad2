"""A build that cannot succeed says why in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BACKEND = Path(__file__).parents[2] / "build_backend" / "backend.py"


def look(directory: Path, **programs: str) -> subprocess.CompletedProcess[str]:
    """Runs the look at the machine where only these programs are there."""
    for name, says in programs.items():
        program = directory / name
        program.write_text(f"#!/bin/sh\necho '{says}'\n")
        program.chmod(0o755)
    environment = os.environ | {"PATH": str(directory)}
    command = [sys.executable, str(BACKEND)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("programs", "complaint"),
    [
        ({}, "found none; install Rust from https://rustup.rs"),
        ({"rustc": "rustc 1.63.0 (4b91a6ea7)", "cargo": ""}, "found 1.63; install Rust"),
        ({"rustc": "no default toolchain", "cargo": ""}, "rustc said: no default toolchain"),
        ({"rustc": "rustc 1.99.0", "cargo": ""}, "a C compiler"),
        (
            {"rustc": "rustc 1.99.0", "cargo": "", "cc": ""},
            "Node 18 or newer with npm and found none",
        ),
        (
            {"rustc": "rustc 1.99.0", "cargo": "", "cc": "", "node": "v16.20.2", "npm": ""},
            "found v16.20.2; install nodejs and npm",
        ),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, programs: dict[str, str], complaint: str) -> None:
    done = look(tmp_path, **programs)
    assert done.returncode == 1
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_is_new_enough_passes(tmp_path: Path) -> None:
    rust = "rustc 1.99.0-nightly (abc 2026-01-01)"
    done = look(tmp_path, rustc=rust, cargo="", cc="", node="v18.20.4", npm="")
    assert (done.returncode, done.stderr) == (0, "")
