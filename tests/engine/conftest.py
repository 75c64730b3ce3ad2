"""Machines for the kernel engine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest

from engine import guarded, machines
from requirements import missing, need_kernel_namespaces


@pytest.fixture(scope="session", autouse=True)
def _machines() -> Iterator[None]:
    yield
    machines.end()


@pytest.fixture(params=machines.playable(machines.KINDS))
def machine(request: pytest.FixtureRequest) -> Iterator[machines.Machine]:
    """Each kind of machine, for what hangs on how the engine gets its rights and devices.

    Commands are started as users start them.
    """
    with machines.machine(request.param) as made:
        yield made


@pytest.fixture
def host(request: pytest.FixtureRequest) -> Iterator[machines.Machine]:
    """One usual kind, for one test always the same: for all else.

    Commands are copies of a process that became its user and imported what runs need.
    """
    kinds = machines.playable(machines.USUAL)
    kind = kinds[crc32(request.node.nodeid.encode()) % len(kinds)]
    with machines.machine(kind, copies=True) as made:
        yield made


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[guarded.Lab]:
    """Two hosts for the guard's program, which needs namespaces that are not a user's."""
    need_kernel_namespaces()
    if os.geteuid() != 0:
        missing("needs root, for namespaces of its own")
    with guarded.lab(tmp_path) as made:
        yield made
