"""Many runs in a row, some of them killed: nothing of them is left, and no run is half there.

MPTCPLAB_SOAK says how many (200 are a good soak), MPTCPLAB_SEED which.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.leftovers import Watch, children, kill
from engine.machines import Machine
from mptcplab.results.run import Run

RUNS = int(os.environ.get("MPTCPLAB_SOAK", "9"))
SEED = int(os.environ.get("MPTCPLAB_SEED", str(time.time_ns() % 10**6)))
VICTIMS = ("engine", "supervisor", "unshare", "lab", "agent")
# As long as a run takes where nothing else does.
LONGEST_SECONDS = 2.5
SHORT = """\
schema = 1

[transfer]
direction = "download"
size = "500 kB"

[path.wifi]
rate = "20 Mbit/s"
delay = "5 ms"

[path.lte]
rate = "10 Mbit/s"
delay = "15 ms"

[kernel]
congestion_control = "reno"

[run]
stop = "20 s"
"""


def start(machine: Machine, watch: Watch, file: Path, out: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        machine.command("run", file, "--engine", "kernel", "--no-baselines", "--out", out),
        env=watch.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def family(engine: int) -> dict[str, int]:
    """Those of a run that are there, from the engine down."""
    found = {"engine": engine}
    # What plays the machine has children of its own before it becomes the engine.
    if not is_python(engine):
        return found
    pid = engine
    for name in VICTIMS[1:]:
        below = children(pid)
        if not below:
            break
        pid = found[name] = below[0]
    return found


def wait_for_family(engine: int, members: int) -> dict[str, int]:
    until = time.monotonic() + 60
    while len(family(engine)) < members:
        if time.monotonic() > until:
            break
        time.sleep(0.02)
    return family(engine)


def is_python(pid: int) -> bool:
    try:
        program = Path(f"/proc/{pid}/exe").readlink()
    except OSError:
        # It is over.
        return False
    return program == Path(sys.executable).resolve()


def test_many_runs_leave_nothing(machine: Machine) -> None:
    dice = random.Random(SEED)
    print(f"MPTCPLAB_SEED={SEED}")
    watch = Watch(machine.directory)
    file = machine.write(SHORT)
    for number in range(RUNS):
        out = machine.directory / str(number)
        with start(machine, watch, file, out) as process:
            killed = None
            if number % 3 == 2:
                time.sleep(dice.uniform(0, LONGEST_SECONDS))
                there = family(process.pid)
                killed = dice.choice([name for name in VICTIMS if name in there])
                kill(there[killed])
            errors = process.communicate(timeout=60)[1]
        said = f"run {number}, {killed} killed: {errors}"
        assert watch.found() == [], said
        complete = (out / "mptcp").exists()
        if complete:
            assert Run(out / "mptcp").outcome["finished"] is True, said
        if killed is None:
            assert process.returncode == 0, said
        elif killed != "engine":
            # One line for whoever waits; or it was over already.
            assert (process.returncode, complete) in ((2, False), (0, True)), said
            assert errors.count("\n") <= 1, said


# From when there is something to end.
@pytest.mark.parametrize("after", [0, 1.5])
def test_ctrl_c_ends_it_at_once(machine: Machine, after: float) -> None:
    watch = Watch(machine.directory)
    file = machine.write(SHORT.replace('size = "500 kB"', 'duration = "300 s"'))
    with start(machine, watch, file, machine.directory / "out") as process:
        wait_for_family(process.pid, 2)
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        # The transfer would have gone on for longer.
        errors = process.communicate(timeout=60)[1]
    assert process.returncode == 130, errors
    assert watch.found() == []
    assert not (machine.directory / "out").exists()


def test_what_kills_the_lab_is_told_in_one_line(host: Machine) -> None:
    watch = Watch(host.directory)
    file = host.write(SHORT.replace('size = "500 kB"', 'duration = "15 s"'))
    with start(host, watch, file, host.directory / "out") as process:
        kill(wait_for_family(process.pid, len(VICTIMS))["lab"])
        errors = process.communicate(timeout=60)[1]
    assert (process.returncode, errors) == (
        2,
        "mptcplab: the lab of the kernel engine was killed\n",
    )


def test_runs_are_told_by_what_they_are(host: Machine) -> None:
    """Kept runs are those of the same scenario, seed, version and kernel."""
    done = host.emulate(SHORT, "--no-baselines")["mptcp"]
    identity = json.loads((done.directory / "run.json").read_text())["identity"]
    assert identity["kernel"] == os.uname().release
    assert identity["engine"] == "kernel"
