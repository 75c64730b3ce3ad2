"""What befalls a sweep: it is killed, interrupted, doubled, out of disk; runs fail, workers die."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

import mptcplab as package
from campaigns import CAMPAIGN, assert_same, written
from command import Run
from mptcplab.campaign import sweep as loop
from mptcplab.campaign.executor import local
from mptcplab.results.campaign import Campaign
from mptcplab.results.overview import configurations
from mptcplab.results.shards import listed

REPETITIONS = 20
RUNS = REPETITIONS * (6 + 2 * 2)
# The command, with shards of a few runs, so that there are many on any machine.
COMMAND = [
    sys.executable,
    "-c",
    "import sys; from mptcplab.campaign import sweep; from mptcplab.cli.main import main; "
    "sweep.MOST_RUNS = 5; main(['sweep', *sys.argv[1:]])",
]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("campaign"), repetitions=REPETITIONS)


@pytest.fixture(scope="module")
def whole(file: Path) -> Campaign:
    """The campaign as it is when nothing happens to it."""
    return package.sweep(file, out=file.parent / "whole", jobs=1)


@contextmanager
def sweeping(file: Path, out: Path) -> Iterator[subprocess.Popen[str]]:
    def heed() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)

    command = [*COMMAND, str(file), "--out", str(out), "--jobs", "2", "--no-report"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, preexec_fn=heed)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def workers_of(process: int) -> list[int]:
    """Give the workers that a process has."""
    text = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [
        number for number in map(int, text.split()) if b"executor.worker" in command_line(number)
    ]


def until(met: Callable[[], bool]) -> None:
    for _ in range(2000):
        if met():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come about")


def until_shards(out: Path, count: int, process: subprocess.Popen[str]) -> None:
    until(lambda: process.poll() is not None or shards(out) >= count)


def until_gone(processes: list[int]) -> None:
    until(lambda: not any(map(command_line, processes)))


def command_line(process: int) -> bytes:
    """Give its command line; of one that is gone, or that nobody has waited for yet, nothing."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def shards(out: Path) -> int:
    """Say how many there have been."""
    whole, _ = listed(out / "shards")
    return whole[-1].last + 1 if whole else 0


def test_killed_again_and_again_it_ends_as_if_nothing_had_happened(
    file: Path, whole: Campaign, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    print("seed", seed)
    done = 0
    for _ in range(3):
        with sweeping(file, out) as process:
            until_shards(out, shards(out) + chance.randrange(1, 5), process)
            time.sleep(chance.random() * 0.1)
            workers = workers_of(process.pid) if process.poll() is None else []
            process.kill()
            process.wait()
        # They do not live on without it.
        until_gone(workers)
        killed = package.open_campaign(out)
        assert killed.runs.height >= done
        done = killed.runs.height
        assert set(killed.runs["run"]) <= set(whole.runs["run"])
    assert done > 0
    assert_same(package.sweep(file, out=out, jobs=1), whole)
    assert sorted(path.name for path in out.iterdir()) == [
        "campaign.json",
        "failures.json",
        "plan.parquet",
        "scenarios",
        "shards",
    ]
    assert not [path for path in (out / "shards").iterdir() if path.name.startswith(".")]


def test_interrupted_it_says_how_to_go_on(
    file: Path, whole: Campaign, mptcplab: Run, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with sweeping(file, out) as process:
        until(lambda: shards(out) >= 2)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert output == ""
    first, last = errors.splitlines()
    assert first == f"{out}: {RUNS} runs"
    assert "are done and kept: the same command goes on from there" in last
    kept = package.open_campaign(out).runs.height
    assert 0 < kept < RUNS
    again = mptcplab("sweep", file, "--out", out, "--no-report")
    assert again.returncode == 0
    assert again.stderr == f"{out}: {RUNS} runs, {kept} there already\n"
    assert_same(package.open_campaign(out), whole)


def test_two_cannot_write_to_one_directory(mptcplab: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    file = written(tmp_path / "campaign", repetitions=3000)
    with sweeping(file, out) as process:
        until(lambda: shards(out) >= 1)
        other = mptcplab("sweep", file, "--out", out)
        assert process.poll() is None
    assert other.returncode == 2
    assert other.stderr == (
        f"mptcplab: {out}: another sweep or schedule writes to it; wait for it, or choose "
        "another place (--out)\n"
    )


def test_only_a_campaign_of_that_name_is_written_to(
    file: Path, whole: Campaign, mptcplab: Run, tmp_path: Path
) -> None:
    (tmp_path / "mine").write_text("mine")
    done = mptcplab("sweep", file, "--out", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"mptcplab: {tmp_path} is there and is not a campaign: choose another place (--out)\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    other = shutil.copy(file, file.parent / "other.toml")
    done = mptcplab("sweep", other, "--out", file.parent / "whole")
    assert done.returncode == 2
    assert "holds the campaign campaign: choose another place" in done.stderr
    done = mptcplab("sweep", file, "--out", "/dev/null/x")
    assert done.returncode == 2
    assert done.stderr == "mptcplab: cannot write /dev/null/x: Not a directory\n"


FULL = """
set -e
mount -t tmpfs -o size={size} none {out}
status=0
{command} || status=$?
test $status = 2
ls -A {out}/c/* | sed 's/^/left /'
mount -o remount,size=200m {out}
{command} --json
"""


@pytest.mark.parametrize(
    ("keep", "repetitions", "size"), [("tables", REPETITIONS, "160k"), ("runs", 2, "1m")]
)
def test_a_full_disk_stops_it_and_it_goes_on_when_there_is_room(
    whole: Campaign, tmp_path: Path, keep: str, repetitions: int, size: str
) -> None:
    text = CAMPAIGN.replace("[axis.size]", f'keep = "{keep}"\n[axis.size]')
    file = written(tmp_path / "campaign", text, repetitions=repetitions)
    if keep != "tables":
        fewer = written(tmp_path / "fewer", repetitions=repetitions)
        whole = package.sweep(fewer, out=tmp_path / "whole", jobs=1)
    runs = whole.plan.height
    out = tmp_path / "disk"
    out.mkdir()
    command = " ".join(["'" + word.replace("'", "'\\''") + "'" for word in COMMAND])
    script = FULL.format(out=out, size=size, command=f"{command} {file} --out {out}/c --jobs 1")
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    first, complaint, again = done.stderr.splitlines()
    assert first == f"{out}/c: {runs} runs"
    assert complaint.startswith("mptcplab: cannot write ")
    assert complaint.endswith(": No space left on device")
    assert again.startswith(f"{out}/c: {runs} runs, ")
    kept, _, document = done.stdout.partition("{")
    names = [line.removeprefix("left ") for line in kept.splitlines()]
    assert "0-0" in names
    if keep == "tables":
        # Nothing half: what began to be written is gone.
        assert not [name for name in names if name.startswith(".")]
    assert json.loads("{" + document)["configurations"] == configurations(whole)


LIMITED = CAMPAIGN.replace('"20 kB", "60 kB"', '"20 kB", "4 GB"').replace(
    "repetitions = {repetitions}", 'repetitions = 1\nlimit = "1 s"\nbaselines = false'
)


def test_one_that_fails_does_not_stop_the_rest(tmp_path: Path, mptcplab: Run) -> None:
    file = written(tmp_path, LIMITED.replace('"lia", "olia", "cubic"', '"lia"'))
    done = mptcplab("sweep", file, "--out", tmp_path / "out", "--jobs", "1", "--json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert document["runs"] == {"planned": 2, "done": 1, "failed": 1}
    (failure,) = document["failures"]
    assert failure["size"] == "4 GB"
    assert failure["seed"] == 1
    assert failure["reason"] == "took longer than 1.00 s, the campaign's limit"
    campaign = package.open_campaign(tmp_path / "out")
    assert campaign.runs["size"].to_list() == ["20 kB"]
    assert campaign.failures["run"].to_list() == [failure["run"]]
    # It is tried again, and only it.
    again = mptcplab("sweep", file, "--out", tmp_path / "out", "--jobs", "1")
    assert again.stderr == f"{tmp_path / 'out'}: 2 runs, 1 there already\n"
    assert (
        "size 4 GB, controller lia, MPTCP, seed 1 failed: took longer than 1.00 s" in again.stdout
    )


def test_a_worker_that_is_killed_changes_nothing(
    file: Path, whole: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "MOST_RUNS", 10)
    killed: list[int] = []

    def kill(progress: loop.Progress) -> None:
        if progress.done > 30 * (len(killed) + 1) and len(killed) < 3:
            workers = [one for one in workers_of(os.getpid()) if one not in killed]
            killed.append(random.choice(workers))
            os.kill(killed[-1], signal.SIGKILL)

    campaign = package.sweep(file, out=tmp_path / "out", jobs=2, progress=kill)
    # With one more it could have been the same run each time, which then is to blame.
    assert len(killed) == 3
    assert campaign.failures.is_empty()
    assert_same(campaign, whole)


@pytest.mark.parametrize("limit", ['limit = "2 s"\n', ""])
def test_a_worker_that_is_stopped_is_given_up(
    limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "GRACE_SECONDS", 0.5)
    file = written(tmp_path, limit + CAMPAIGN, repetitions=3)
    stopped: list[int] = []
    calls = 0

    def stop(progress: loop.Progress) -> None:
        nonlocal calls
        calls += 1
        # Without an end it would wait for ever.
        assert calls < 1000
        if progress.done and not stopped:
            stopped.append(random.choice(workers_of(os.getpid())))
            os.kill(stopped[0], signal.SIGSTOP)

    campaign = package.sweep(file, out=tmp_path / "out", jobs=2, progress=stop)
    assert len(stopped) == 1
    assert campaign.failures.is_empty()
    assert campaign.runs.height == campaign.plan.height


DEADLY = """
import os, signal
from mptcplab.campaign import work
from mptcplab.campaign.executor import worker

measure = work.measure

def deadly(task, *rest, **more):
    if task.run == "{run}":
        os.kill(os.getpid(), signal.SIGKILL)
    return measure(task, *rest, **more)

work.measure = deadly
worker.main()
"""


def test_the_run_that_kills_its_workers_is_found(
    file: Path, whole: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    culprit = random.choice(whole.runs["run"].to_list())
    print("culprit", culprit)
    script = tmp_path / "worker.py"
    script.write_text(DEADLY.replace("{run}", culprit))
    monkeypatch.setattr(local, "COMMAND", [sys.executable, str(script)])
    campaign = package.sweep(file, out=tmp_path / "out", jobs=2)
    assert campaign.failures.select("run", "reason").rows() == [
        (culprit, "the process that ran it was killed by SIGKILL")
    ]
    assert campaign.runs.height == RUNS - 1
    monkeypatch.undo()
    assert_same(package.sweep(file, out=tmp_path / "out", jobs=1), whole)


def test_workers_that_cannot_even_start_end_it(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "COMMAND", [sys.executable, "-S", "-c", "raise SystemExit(3)"])
    complaint = "workers die before they have done anything: .* ended with status 3"
    with pytest.raises(package.Error, match=complaint):
        package.sweep(file, out=tmp_path / "out", jobs=2)


def test_shards_are_merged_and_a_killed_merging_is_no_harm(
    file: Path, whole: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mptcplab.campaign.store.MERGED", 3)
    monkeypatch.setattr(loop, "MOST_RUNS", 5)
    out = tmp_path / "out"
    removed: list[Path] = []

    def leave(path: Path, **_: object) -> None:
        """What a sweep leaves that is killed before it removes what it merged."""
        removed.append(path)

    with monkeypatch.context() as patched:
        patched.setattr("mptcplab.campaign.store.shutil", SimpleNamespace(rmtree=leave))
        campaign = package.sweep(file, out=out, jobs=1)
    assert len(removed) > 10
    assert all(path.exists() for path in removed)
    assert shards(out) > 30
    whole_ones, within = listed(out / "shards")
    assert len(whole_ones) < 15
    assert {shard.path for shard in within} == set(removed)
    assert_same(campaign, whole)
    assert_same(package.sweep(file, out=out, jobs=1), whole)
    assert not any(path.exists() for path in removed)
