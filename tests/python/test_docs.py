"""The documentation is what the code says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import mptcplab

ROOT = Path(__file__).parents[2]


def test_generated_pages_are_current() -> None:
    command = [sys.executable, "docs/generate.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def described(page: str) -> set[str]:
    """The names in the first column of a page's tables."""
    text = (ROOT / "docs" / "reference" / page).read_text()
    rows = re.findall(r"^\| (`[^|]*`) \|", text, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_events_are_described() -> None:
    source = (ROOT / "crates/analysis/src").rglob("*.rs")
    named = re.compile(r'Happening::new\("(\w+)"\)')
    known = {name for path in source for name in named.findall(path.read_text())}
    seen = {
        event
        for capture in sorted((ROOT / "examples").glob("*/*.pcapng*"))
        for event in mptcplab.analyze(capture, samples=False).events["event"].unique()
    }
    assert known
    assert (known | seen) - described("events.md") == set()


def test_diagnostics_are_described() -> None:
    named = re.compile(r'(?:diagnostic: |remark\(|push\()\s*(?:\w+(?:\(\w+\))?,\s*)?"([a-z_]+)"')
    source = [
        *(ROOT / "crates/analysis/src").rglob("*.rs"),
        *(ROOT / "crates/sim/src").rglob("*.rs"),
        ROOT / "crates/python/src/diagnostics.rs",
    ]
    known = {name for path in source for name in named.findall(path.read_text())}
    assert {"capture_cut", "not_ip", "midway", "hmac_wrong"} <= known
    assert known - described("diagnostics.md") == set()
