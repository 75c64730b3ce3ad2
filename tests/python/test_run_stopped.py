"""Runs that are stopped in the middle."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small import SMALL

from command import Run

LONG = SMALL.replace('size = "300 kB"', 'duration = "20 h"')


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_what_is_stopped_in_the_middle_leaves_no_run(
    mptcplab: Run, small: Path, tmp_path: Path, number: signal.Signals
) -> None:
    (tmp_path / "long.toml").write_text(LONG)
    out = tmp_path / "out"
    arguments = ["-m", "mptcplab", "run", tmp_path / "long.toml", "--out", out]
    # Under nohup SIGHUP is ignored.
    command = ["env", "--default-signal=HUP", sys.executable, *map(str, arguments)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            until = time.monotonic() + 120
            while not list(out.glob(".mptcplab-unfinished-*/client.pcapng")):
                assert time.monotonic() < until
                assert process.poll() is None
                time.sleep(0.02)
            process.send_signal(number)
            said = process.communicate(timeout=120)[1]
        finally:
            process.kill()
    left = [path.name for path in out.iterdir()] if out.exists() else None
    if number != signal.SIGKILL:
        assert process.returncode == 128 + number
        assert said == "mptcplab: interrupted; nothing is kept\n"
        assert left is None
    else:
        assert left is not None
        assert len(left) == 1
        assert left[0].startswith(".mptcplab-unfinished-")
    # The next run removes what was left.
    assert mptcplab("run", small, "--out", out, "--no-baselines", "--no-report").returncode == 0
    assert [path.name for path in out.iterdir()] == ["mptcp"]


def test_interrupted_between_seeds_says_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(SMALL.replace('size = "300 kB"', 'size = "20 MB"'))
    arguments = ["run", "long.toml", "--repeat", "500", "--out", "out", "--no-baselines"]
    command = [sys.executable, "-m", "mptcplab", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        try:
            until = time.monotonic() + 120
            while not (tmp_path / "out" / "2").exists():
                assert time.monotonic() < until
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            assert process.stderr is not None
            said = process.stderr.read()
        finally:
            process.kill()
    found = re.fullmatch(
        r"mptcplab: interrupted; (\d+) of 500 seeds are done and kept: the same command goes on "
        r"from there\n",
        said,
    )
    assert found
    assert len(list(tmp_path.glob("out/*/mptcp"))) == int(found[1]) >= 1
