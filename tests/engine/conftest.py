"""Machines for the kernel engine."""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

import pytest

from engine import machines


@pytest.fixture(params=machines.playable(machines.KINDS))
def machine(request: pytest.FixtureRequest) -> Iterator[machines.Machine]:
    """Each kind of machine, for what hangs on how the engine gets its rights and devices."""
    with machines.machine(request.param) as made:
        yield made


@pytest.fixture
def host(request: pytest.FixtureRequest) -> Iterator[machines.Machine]:
    """One usual kind, for one test always the same: for all else."""
    kinds = machines.playable(machines.USUAL)
    with machines.machine(kinds[crc32(request.node.nodeid.encode()) % len(kinds)]) as made:
        yield made
