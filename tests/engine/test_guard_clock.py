"""The guard's decisions do not depend on the host's clock, which may be set while it runs."""

from __future__ import annotations

import pathlib
import re
import subprocess
import time

import pytest

from engine.guarded import WIFI, Guard, Lab
from mptcplab.machine import programs
from requirements import need_tool

# Long enough for it to have asked over both paths.
LEARNS_SECONDS = 2
STEP_SECONDS = 3600
# For one program alone the time of day jumps back and forth ten times a second,
# so also between a failure and what is decided.
STEPPING = f"""
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *now) {{
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, now);
    int is_fast = now->tv_nsec / 50000000 % 2;
    int failed = syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME) now->tv_sec += is_fast ? {STEP_SECONDS} : -{STEP_SECONDS};
    return failed;
}}
"""


def test_a_clock_that_is_set_changes_only_the_times_of_rows(
    hosts: Lab, tmp_path: pathlib.Path
) -> None:
    need_tool("gcc")
    before = hosts.configuration()
    clock = str(tmp_path / "clock.so")
    gcc = ["gcc", "-shared", "-fPIC", "-x", "c", "-o", clock, "-"]
    subprocess.run(gcc, input=STEPPING, text=True, check=True)
    hosts.fetch()
    words = hosts.words()
    begins = words.index(programs.guard())
    guard = Guard(hosts.start([*words[:begins], "env", f"LD_PRELOAD={clock}", *words[begins:]]))
    # The clock is set several times.
    time.sleep(2 * LEARNS_SECONDS)
    hosts.lose(WIFI)
    row = guard.decides("suspended", WIFI)
    # It has the clock that jumps.
    off_seconds = abs(row["at_ns"] / 1e9 - time.time())
    assert off_seconds == pytest.approx(STEP_SECONDS, rel=0.5)
    hosts.find(WIFI)
    guard.decides("resumed", WIFI)
    # No silence is as long as the clock was set by.
    for decided in guard.rest():
        assert all(int(ms) < STEP_SECONDS * 1000 for ms in re.findall(r"\d+", decided["evidence"]))
    assert "1 suspended, 1 resumed; endpoints are as they were found" in guard.end()
    assert hosts.configuration() == before
