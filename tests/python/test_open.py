"""``--open`` hands the page that a command wrote to the browser."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from small import SMALL

from command import Run


@pytest.fixture
def browser(tmp_path: Path) -> dict[str, str]:
    """An environment whose browser writes down what it is to open."""
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/opened\n')
    program.chmod(0o755)
    return os.environ | {"BROWSER": str(program)}


def test_pages_are_opened(mptcplab: Run, tmp_path: Path, browser: dict[str, str]) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    out, page = tmp_path / "out", tmp_path / "page.html"
    captures = [out / "mptcp" / f"{host}.pcapng" for host in ("client", "server")]
    for arguments in (
        ("run", tmp_path / "small.toml", "--out", out, "--no-baselines"),
        ("report", out),
        ("analyze", *captures, "--report", page),
    ):
        assert mptcplab(*arguments, "--open", env=browser).returncode == 0
    opened = (tmp_path / "opened").read_text().split()
    assert opened == [(out / "report.html").as_uri()] * 2 + [page.as_uri()]


def test_what_writes_no_page_opens_none(mptcplab: Run, tmp_path: Path) -> None:
    for arguments, why in (
        (("run", "wifi-lte", "--json"), "with --json"),
        (("run", "wifi-lte", "--no-report", "--repeat", "2"), "with --no-report"),
        (("sweep", "controllers", "--no-report"), "with --no-report"),
        (("sweep", "controllers", "--dry-run"), "with --dry-run"),
        (("analyze", "nosuch.pcap"), "without --report FILE"),
    ):
        done = mptcplab(*arguments, "--open", cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr == f"mptcplab: --open has no page to open {why}\n"
    assert list(tmp_path.iterdir()) == []
