"""Campaigns on the workers of a Dask scheduler: processes of their own, over TCP."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import mptcplab as package
from campaigns import CAMPAIGN, assert_same, written
from command import Run
from mptcplab import Error
from mptcplab.campaign import sweep as loop
from mptcplab.results.campaign import Campaign

DASK = [sys.executable, "-W", "ignore", "-m", "dask"]
QUIET = ["--no-dashboard"]


@contextmanager
def started(*arguments: str) -> Iterator[tuple[int, str]]:
    """Start a part of Dask; gives its process and the address at which it is."""
    process = subprocess.Popen([*DASK, *arguments], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        for line in process.stderr:
            found = re.search(r"(?:Scheduler|Start worker) at: *(tcp://\S+)", line)
            if found:
                yield process.pid, found[1]
                return
        raise AssertionError("it did not start")
    finally:
        process.kill()
        process.communicate()


@contextmanager
def cluster(workers: int) -> Iterator[tuple[str, list[int]]]:
    with ExitStack() as stack:
        scheduler = started("scheduler", "--host", "127.0.0.1", "--port", "0", *QUIET)
        _, address = stack.enter_context(scheduler)
        worker = ("worker", address, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", *QUIET)
        yield address, [stack.enter_context(started(*worker))[0] for _ in range(workers)]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("campaign"), repetitions=30)


@pytest.fixture(scope="module")
def whole(file: Path) -> Campaign:
    return package.sweep(file, out=file.parent / "whole", jobs=1)


def test_a_worker_lost_half_way_changes_nothing(
    file: Path, whole: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "MOST_RUNS", 10)
    killed: list[int] = []
    with cluster(2) as (address, workers):

        def kill(progress: loop.Progress) -> None:
            if progress.done > progress.total / 2 and not killed:
                killed.append(workers[0])
                os.kill(workers[0], signal.SIGKILL)

        campaign = package.sweep(file, out=tmp_path / "out", dask=address, progress=kill)
        assert killed
        assert campaign.failures.is_empty()
        assert_same(campaign, whole)


def test_the_command_runs_on_it_and_says_when_it_is_not_there(
    file: Path, whole: Campaign, mptcplab: Run, tmp_path: Path
) -> None:
    with cluster(1) as (address, _):
        done = mptcplab("sweep", file, "--out", tmp_path / "out", "--dask", address)
        assert done.returncode == 0, done.stderr
        assert done.stderr == f"{tmp_path / 'out'}: 300 runs\n"
        assert_same(package.open_campaign(tmp_path / "out"), whole)
    gone = mptcplab("sweep", file, "--out", tmp_path / "else", "--dask", "tcp://127.0.0.1:9")
    assert gone.returncode == 2
    complaint = gone.stderr.splitlines()[-1]
    assert complaint.startswith("mptcplab: no Dask scheduler answers at tcp://127.0.0.1:9: ")


def test_run_directories_cannot_be_kept_there(tmp_path: Path) -> None:
    text = CAMPAIGN.replace("[axis.size]", 'keep = "runs"\n[axis.size]')
    with pytest.raises(Error, match="keep is 'runs', but workers of Dask keep runs"):
        package.sweep(written(tmp_path, text), out=tmp_path / "out", dask="tcp://127.0.0.1:9")
    assert not (tmp_path / "out").exists()
