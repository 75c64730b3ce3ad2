"""The command as tests run it: a process of its own."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., subprocess.CompletedProcess[str]]

# Most of what most commands take is imports: one process makes them, and each is a copy of it.
IMPORTS = [
    *("mptcplab.cli.main", "mptcplab.cli.summary.page", "mptcplab.scenario.scenario"),
    *("mptcplab.results.record", "mptcplab.results.opening", "mptcplab.results.campaign"),
    *("mptcplab.charts.run.page", "mptcplab.charts.campaign.page", "polars", "pydantic"),
    *("mptcplab.schedule.schedule", "mptcplab.campaign.work", "scipy.stats", "matplotlib.figure"),
]
COPIES = multiprocessing.get_context("forkserver")
COPIES.set_forkserver_preload(IMPORTS)


def copied(
    *arguments: object, cwd: str | Path | None = None, timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    """Run ``mptcplab`` in a copy of a process that has imported it, as ``subprocess.run`` would.

    Raises ``subprocess.TimeoutExpired`` after ``timeout`` seconds.
    """
    line = ["mptcplab", *map(str, arguments)]
    return called(_command, line, str(cwd or Path.cwd()), dict(os.environ), timeout=timeout)


def called(
    target: Callable[..., None], arguments: list[str], *more: object, timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    """Call a function with arguments in such a copy, and collect what it prints there.

    Raises ``subprocess.TimeoutExpired`` after ``timeout`` seconds.
    """
    with tempfile.TemporaryDirectory() as outputs:
        one = COPIES.Process(target=_call, args=(outputs, target, arguments, *more))
        one.start()
        one.join(timeout)
        if one.exitcode is None:
            one.kill()
            one.join()
            raise subprocess.TimeoutExpired(arguments, timeout)
        said = [Path(outputs, name).read_bytes().decode() for name in ("1", "2")]
        return subprocess.CompletedProcess(arguments, one.exitcode, *said)


def _call(outputs: str, target: Callable[..., None], *arguments: object) -> None:
    for descriptor, path in enumerate((os.devnull, f"{outputs}/1", f"{outputs}/2")):
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    target(*arguments)


def _command(arguments: list[str], directory: str, environment: dict[str, str]) -> None:
    from mptcplab.cli.main import main

    os.environ.clear()
    os.environ.update(environment)
    os.chdir(directory)
    sys.argv, sys.orig_argv = arguments, [sys.executable, "-m", *arguments]
    main()
