"""The predictions over pairs of networks: their intervals, and that all of them were run."""

from __future__ import annotations

import json
import math
import random

import pytest

from experiments.predictions import run, table

TRIES = 2000


def test_an_interval_holds_what_it_says_of_draws_from_a_known_truth() -> None:
    chance = random.Random(1)
    held = {"draw": 0, "part": 0}
    for _ in range(TRIES):
        parts = [chance.gauss(0, 0.5) for _ in range(5)]
        # Draws are the same in all parts.
        draws = [chance.gauss(0, 0.3) for _ in range(7)]
        known = {
            (part, seed): parts[part] + draws[seed] + chance.gauss(0, 0.2)
            for part in range(4)
            for seed in range(6)
        }
        new = draws[6] + chance.gauss(0, 0.2)
        _, low, high = table._of_another_part(known)
        held["part"] += low < parts[4] + new < high
        _, low, high = dict(table._of_each_part(known))[0]
        held["draw"] += low < parts[0] + new < high
    assert all(0.88 < count / TRIES < 0.92 for count in held.values()), held


def test_a_pair_is_set_beside_the_better_network_of_each_part() -> None:
    def row(over: list[str], part: int, seed: int, mbps: float) -> dict[str, object]:
        return {"host": "x", "over": over, "part_s": part, "seed": seed, "mbps": mbps, "shares": {}}

    # The better network is another one in each part; MPTCP has twice as much.
    rows = [
        one
        for part, (tm, rm) in {10: (8.0, 4.0), 110: (3.0, 6.0)}.items()
        for seed in (1, 2)
        for one in (
            row(["tm"], part, seed, tm),
            row(["rm"], part, seed, rm),
            row(["tm", "rm"], part, seed, 2 * max(tm, rm)),
        )
    ]
    gain = table._gain(rows, "x", ("tm", "rm"))
    assert gain == pytest.approx((math.log(2),) * 3)


def test_every_pair_ran_in_every_part_with_as_many_seeds() -> None:
    rows = json.loads(table.RESULTS.read_text())["rows"]
    host = next(iter(run.HOSTS))
    ran: dict[tuple[str, ...], set[tuple[int, int]]] = {}
    for row in (row for row in rows if row["host"] == host):
        ran.setdefault(tuple(row["over"]), set()).add((row["part_s"], row["seed"]))
    assert set(ran) == {*((name,) for name in run.NETWORKS), *run.PAIRS}
    seeds = {seed for _, seed in ran[run.PAIRS[0]]}
    assert len(seeds) >= table.LEAST
    assert all(
        one == {(part, seed) for part in run.PARTS_S for seed in seeds} for one in ran.values()
    )
