"""Machines for the kernel engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine import machines


@pytest.fixture(params=machines.kinds())
def machine(request: pytest.FixtureRequest) -> Iterator[machines.Machine]:
    """Each kind of machine, one after the other."""
    with machines.machine(request.param) as made:
        yield made


@pytest.fixture
def host() -> Iterator[machines.Machine]:
    """The machine as it is, for what does not hang on its kind."""
    with machines.machine(machines.kinds()[0]) as made:
        yield made
