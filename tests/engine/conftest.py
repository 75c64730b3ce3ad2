"""Machines for the kernel engine."""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

import pytest

from engine import machines


@pytest.fixture(params=machines.kinds())
def machine(request: pytest.FixtureRequest) -> Iterator[machines.Machine]:
    """Each kind of machine, one after the other."""
    with machines.machine(request.param) as made:
        yield made


@pytest.fixture
def host(request: pytest.FixtureRequest) -> Iterator[machines.Machine]:
    """A machine for what does not hang on its kind: any, but for one test always the same."""
    kinds = machines.kinds()
    with machines.machine(kinds[crc32(request.node.nodeid.encode()) % len(kinds)]) as made:
        yield made
