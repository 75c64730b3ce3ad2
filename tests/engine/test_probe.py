"""Probes over emulated links: what stands in a path is found, and nothing else.

All boxes, three times each, are those of ``experiments/probe``; this is a sample of them.
"""

from __future__ import annotations

import pytest

from engine.machines import Machine
from experiments.probe import carriers
from experiments.probe.cases import CASES
from experiments.probe.run import of_first_path, prepared
from experiments.probe.table import FOUND, wrong

SAMPLE = ("clean", "strip-options, SYN", "strip-options, MP_JOIN", "clamp-mss", "nat, idle 6 s")


@pytest.mark.parametrize("name", SAMPLE)
def test_what_stands_in_a_path_is_found(host: Machine, name: str) -> None:
    (case,) = (case for case in CASES if case.name == name)
    done = host.run(*prepared(case, host.directory, idle_seconds=8))
    assert done.returncode == 0, done.stderr
    rows = of_first_path(done.stdout)
    assert wrong({name: [rows]}) == []
    assert {row["probe"] for row in rows if row["verdict"] in FOUND} == set(case.found_by)


def test_proxies_and_the_largest_segment_of_a_carrier_are_found(host: Machine) -> None:
    """AT&T's of 2012: ports 21 and 80 end there, 80 is a cache, and uploads have 1357 bytes."""
    (carrier,) = (one for one in carriers.CARRIERS if one.name == "att-hspa")
    done = host.run(*carriers.boxes(carrier, host.directory), seconds=240)
    assert done.returncode == 0, done.stderr
    assert carriers.wrong(carrier, "boxes", of_first_path(done.stdout)) == []
