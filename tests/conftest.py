"""Captures that several tests share."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

import kernel
from requirements import need_capture, need_kernel_mptcp

# Commands write to pipes as they do for users, whatever whoever runs the tests prefers.
os.environ.pop("PYTHONUNBUFFERED", None)

# Files that go through the same captures, which are made and read by tshark before.
ALIKE = [
    f"tests/oracles/test_{name}.py"
    for name in ("tcp_figures", "segments", "mptcp_figures", "distributions")
]
EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Have files that are alike run in one process, where others each have theirs."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Alike(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return ALIKE[0] if file in ALIKE else file

    return Alike(config, log)


@pytest.fixture(scope="session")
def download() -> list[str]:
    """Captures of a download over two paths, from both ends."""
    return [str(EXAMPLES / "download" / f"{end}.pcapng.gz") for end in ("client", "server")]


@pytest.fixture(scope="session")
def kernel_capture(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], kernel.KernelCapture]:
    """Records one of kernel.KINDS with this machine's kernel, once per session."""
    made: dict[str, kernel.KernelCapture] = {}

    def record(kind: str) -> kernel.KernelCapture:
        need_kernel_mptcp()
        if kind not in made:
            made[kind] = kernel.record(kind, tmp_path_factory.mktemp(kind))
        return made[kind]

    return record


@pytest.fixture(scope="session")
def shared_capture() -> Callable[[str], pathlib.Path]:
    """Finds a capture of others by its name."""
    return need_capture
