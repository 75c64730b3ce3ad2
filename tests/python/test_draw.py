"""What links draw once per run."""

from __future__ import annotations

import hashlib
import json
import math
import statistics
import struct
from pathlib import Path
from typing import Any

import pytest

import mptcplab
from mptcplab.scenario import long
from mptcplab.scenario.fault import ScenarioError
from mptcplab.scenario.resolved import drawn
from mptcplab.scenario.scenario import load
from mptcplab.scenario.timeline import Profile

LINK = {
    "uplink": [{"element": "delay", "delay": "20 ms"}],
    "downlink": [
        {"element": "rate", "rate": "5 Mbit/s", "queue": {"queue": "drop-tail", "bytes": "60 kB"}},
        {"element": "delay", "delay": "20 ms"},
        {"element": "loss", "ratio": "40 %"},
    ],
}
RATE = {"of": ["downlink.0.rate", "downlink.0.queue.bytes"], "spread": 0.4}


def scenario(draws: dict[str, Any], **more: object) -> dict[str, Any]:
    return {
        "schema": 1,
        "transfer": {"direction": "download", "size": "10 kB"},
        "link": {"air": LINK | {"draw": draws} | more},
        "path": {"air": {"link": "air"}},
        "mptcp": {"enabled": False},
    }


def values(
    given: dict[str, Any], seeds: range, direction: str = "downlink", number: int = 0
) -> list[dict[str, Any]]:
    read = load(given)[1]
    return [getattr(drawn(read, seed).links["air"], direction)[number] for seed in seeds]


def test_draws_are_lognormal_with_the_given_mean_and_spread() -> None:
    rates = [one["rate"] / 5e6 for one in values(scenario({"rate": RATE}), range(1500))]
    # Standard errors of mean and deviation of 1500 draws are 0.010 and, for this skew, 0.015.
    assert statistics.mean(rates) == pytest.approx(1, abs=0.04)
    assert statistics.stdev(rates) == pytest.approx(0.4, abs=0.06)
    # Half of a lognormal distribution is below 1/sqrt(1 + cv²).
    assert statistics.median(rates) == pytest.approx(1 / math.sqrt(1.16), abs=0.03)


def test_parameters_of_one_draw_have_one_factor() -> None:
    for one in values(scenario({"rate": RATE}), range(20)):
        assert one["queue"]["bytes"] / 60_000 == pytest.approx(one["rate"] / 5e6, rel=1e-3)


def test_draws_depend_on_seed_link_and_name_alone() -> None:
    both = {"rate": RATE, "delay": {"of": ["downlink.1.delay"], "spread": 0.4}}
    rates = [one["rate"] for one in values(scenario(both), range(5))]
    assert rates == [one["rate"] for one in values(scenario({"rate": RATE}), range(5))]
    assert len(set(rates)) == 5
    other = [one["rate"] for one in values(scenario({"other": RATE}), range(5))]
    assert not set(rates) & set(other)


def test_draws_are_the_polar_method_on_a_hash_to_four_digits() -> None:
    """The same in floats, whose logarithms differ between machines, but not in four digits."""
    for seed, one in enumerate(values(scenario({"rate": RATE}), range(9))):
        for number in range(100):
            digest = hashlib.sha256(f"{seed} link.air.draw.rate {number}".encode()).digest()
            words = struct.unpack(">QQ", digest[:16])
            u, v = (word / 2**63 - 1 for word in words)
            square = u * u + v * v
            if 0 < square < 1:
                break
        normal = u * math.sqrt(-2 * math.log(square) / square)
        variance = math.log1p(0.4**2)
        rate = 5e6 * math.exp(math.sqrt(variance) * normal - variance / 2)
        assert one["rate"] == int(float(f"{rate:.4g}"))


def test_a_ratio_stays_one() -> None:
    draws = {"loss": {"of": ["downlink.2.ratio"], "spread": 2}}
    ratios = [one["ratio"] for one in values(scenario(draws), range(200), number=2)]
    assert max(ratios) == 1.0
    assert min(ratios) < 0.05


def test_boxes_before_the_downlink_do_not_mislead_draws() -> None:
    boxed = scenario({"rate": RATE}, middleboxes=[{"element": "firewall"}])
    assert load(boxed)[1].links["air"].draw == {
        "rate": {"of": ["downlink.1.rate", "downlink.1.queue.bytes"], "spread": 0.4}
    }
    plain = [one["rate"] for one in values(scenario({"rate": RATE}), range(3))]
    assert plain == [one["rate"] for one in values(boxed, range(3), number=1)]


def test_a_run_holds_what_was_drawn_and_runs_again_from_there(tmp_path: Path) -> None:
    first = mptcplab.run(scenario({"rate": RATE}), seed=3, out=tmp_path / "first")
    text = (first.mptcp.directory / "scenario.toml").read_text()
    assert "draw" not in text
    (tmp_path / "again.toml").write_text(text)
    again = mptcplab.run(tmp_path / "again.toml", seed=3, out=tmp_path / "again")
    for run in ("mptcp", "tcp-air"):
        captures = [
            (one.directory / run / "client.pcapng").read_bytes()
            for one in (first, again)
            if (one.directory / run).exists()
        ]
        assert captures
        assert len(set(captures)) == 1


def test_campaigns_draw_as_single_runs_do(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(long.write(load(scenario({"rate": RATE}))[1]))
    (tmp_path / "campaign.toml").write_text(
        'schema = 1\nscenario = "mine.toml"\nrepetitions = 3\nbaselines = false\n'
        '[axis.size]\nkey = "transfer.size"\nvalues = ["100 kB", "200 kB"]\n'
    )
    swept = mptcplab.sweep(tmp_path / "campaign.toml", out=tmp_path / "out", jobs=1)
    rates = {
        (row["size"], row["seed"]): row["throughput_mbps"]
        for row in swept.runs.select("size", "seed", "throughput_mbps").iter_rows(named=True)
    }
    assert len(rates) == 6
    for (size, seed), mbps in rates.items():
        given = scenario({"rate": RATE}) | {"transfer": {"direction": "download", "size": size}}
        alone = mptcplab.run(given, seed=seed, baselines=False)
        assert alone.mptcp.throughput_mbps == pytest.approx(mbps, rel=1e-9)


def test_what_the_timeline_brings_is_drawn_too() -> None:
    given = scenario({})
    event = {"at": "1 s", "path": "air", "verb": "profile", **LINK, "draw": {"rate": RATE}}
    read = load(given | {"timeline": [event]})[1]
    brought = [drawn(read, seed).timeline[0] for seed in range(5)]
    assert all(isinstance(one, Profile) and one.draw is None for one in brought)
    assert len({json.dumps(getattr(one, "downlink")) for one in brought}) == 5  # noqa: B009


@pytest.mark.parametrize(
    ("draws", "complaint"),
    [
        ({"rate": 3}, "link.air.draw.rate: is not a table with of and spread"),
        ({"rate": {"of": ["downlink.0.rate"]}}, "link.air.draw.rate: needs spread"),
        (
            {"rate": {"of": ["downlink.0.rate"], "spread": 4}},
            "link.air.draw.rate.spread: 4 is outside 0 to 3",
        ),
        (
            {"rate": {"of": ["downlink.0.rat"], "spread": 0.1}},
            'link.air.draw.rate.of: "downlink.0.rat" is not a quantity here; '
            "did you mean downlink.0.rate?",
        ),
        (
            {"rate": {"of": ["downlink.0.rate", "downlink.0.rate"], "spread": 0.1}},
            'link.air.draw.rate.of: "downlink.0.rate" is drawn twice',
        ),
        (
            {"rate": {"of": [], "spread": 0.1}},
            'link.air.draw.rate.of: a list is not a list of parameters such as ["downlink.0.rate"]',
        ),
        (
            {"rate": {"of": ["downlink.0.rate"], "sd": 0.1}},
            "link.air.draw.rate.sd: there is no such key; known: of, spread",
        ),
    ],
)
def test_bad_draws_are_refused_in_a_line(draws: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ScenarioError) as error:
        load(scenario(draws))
    assert str(error.value) == f"scenario: {complaint}"
