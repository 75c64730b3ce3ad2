"""Which family a link is of, and what stays open of it."""

from __future__ import annotations

import json
import math
import random
import tomllib
from dataclasses import replace
from statistics import fmean, stdev
from typing import Any

import pytest

from experiments.calibration import curves
from mptcplab.calibration import choice, fit, modelled, profile, rows, start
from mptcplab.calibration.families import admissible, families
from mptcplab.calibration.fit import Fit, residuals
from mptcplab.calibration.measure import Measured, measure
from mptcplab.calibration.subject import SAW_TOOTH, Subject
from mptcplab.calibration.target import Residual, Target
from mptcplab.calibration.uncertainty import widened
from mptcplab.scenario import library
from mptcplab.scenario.scenario import load

PRINTED = (
    Target("throughput", 8.0, 1.6),
    Target("rtt", 50.0, 1.0),
    Target("handshake_rtt", 40.0, 2.0),
    Target("loss", 0.2, 0.1),
)


def subject(**other: Any) -> Subject:
    given = Subject(
        name="home",
        title="home",
        origin={"kind": "calibrated", "row": "home"},
        technology="Wi-Fi",
        direction="download",
        targets=PRINTED,
        transfers=({"direction": "download", "size": "4 MB"},),
        mptcp={"era": "2012"},
        tcp={"congestion_control": "reno"},
        draws=True,
    )
    return replace(given, **other)


def made(family: str, **shown: list[float]) -> Fit:
    """Give a fit with these figures in its runs, and all others as printed."""
    model = start.of(subject(), families()[family])
    count = len(next(iter(shown.values()), [0.0, 0.0]))
    runs: list[dict[str, float | None]] = [
        {one.figure: one.value for one in PRINTED} | {"rtt_sd": None} for _ in range(count)
    ]
    for figure, values in shown.items():
        for run, value in zip(runs, values, strict=True):
            run[figure] = value
    measured = Measured(runs)
    link = model.link(model.start)
    found = residuals(model.subject, measured)
    return Fit(model.subject, model.family, model.start, model.fitted, link, found, measured)


def test_losses_that_kept_a_transfer_below_a_capacity_are_told_from_the_capacity() -> None:
    delay = {"element": "delay", "delay": "40 ms"}
    fast = {"element": "rate", "rate": "10 Mbit/s"}
    truth = {
        "uplink": [fast, delay],
        "downlink": [
            fast | {"queue": {"queue": "drop-tail", "bytes": "2.5 MB"}},
            delay,
            {"element": "loss", "ratio": "0.5 %"},
        ],
    }
    printed = printed_of(truth, list(range(1, 7)))
    found = choice.choose(subject(targets=printed), runs=3, tries=4, workers=2)
    assert found.tried[0].fit.family.capacity == "unfilled"


def test_a_constant_capacity_stands_where_no_variation_is_printed() -> None:
    delay = {"element": "delay", "delay": "20 ms"}
    fast = {"element": "rate", "rate": "8 Mbit/s"}
    burst = {"element": "gilbert-elliott-time", "good_time": "3 s", "bad_time": "8 ms"}
    queued = fast | {"queue": {"queue": "drop-tail", "bytes": "60 kB"}}
    truth = {"uplink": [fast, delay], "downlink": [queued, delay, burst]}
    for technology in ("LTE", "Wi-Fi"):
        of = subject(technology=technology, targets=printed_of(truth, list(range(1, 7))))
        found = choice.choose(of, runs=3, tries=4, workers=2)
        assert "steady-bursts" in {one.fit.family.name for one in found.standing}


@pytest.mark.parametrize(("name", "teeth"), SAW_TOOTH.items())
def test_a_curve_says_whether_throughput_varies_at_all(name: str, *, teeth: bool) -> None:
    """What is only a bound is not fitted to: families are chosen by it."""
    of = rows.subject(name)
    bound = of.target("throughput_cv")
    assert bound is not None
    assert (bound.above, bound.below) == (teeth, not teeth)
    models = start.models(of)
    assert all("variation" not in one.fitted for one in models)
    assert any(one.varies for one in models) is teeth


def test_what_is_within_a_bound_is_no_error() -> None:
    def off(shown: float, **bound: bool) -> float:
        target = Target("throughput_cv", 0.05, **bound)
        of = replace(made("steady-single"), residuals=[Residual(target, shown, None)])
        return choice.errors(of, 3)["throughput, variation within a run"]

    assert off(0.01, below=True) == off(0.1, above=True) == 0
    assert off(0.1, below=True) == pytest.approx(off(0.025, above=True))
    assert 1 < off(0.1, below=True) < off(0.2, below=True)


def test_throughput_grows_between_losses_where_it_has_a_saw_tooth() -> None:
    teeth = [second for _ in range(5) for second in range(5, 15)]
    grown = curves.growth(teeth, [0, 10, 20, 30])
    assert grown is not None
    assert grown > 1.5
    assert curves.growth([10] * 50, [0, 10, 20, 30]) == 1
    assert curves.growth(teeth, [0, 1, 2, 3]) is None


def test_curves_are_set_beside_the_links_that_ship() -> None:
    kept = json.loads(curves.RESULTS.read_text())["rows"]
    assert list(kept) == list(curves.CURVES)
    for row, found in kept.items():
        tried = library.table("links", rows.subject(row).name)["origin"]["families"]
        weights = {one["family"]: one["weight"] for one in tried}
        assert {family: one["weight"] for family, one in found.items()} == {
            family: weight
            for family, weight in weights.items()
            if weight >= choice.LEAST_WEIGHT or family == curves.CONSTANT
        }


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give what is simulated: links, with the seeds of their runs."""
    seen: list[str] = []

    def measured(of: Subject, link: dict[str, Any], seeds: list[int], **words: Any) -> Measured:
        seen.append(f"{link} {seeds}")
        return measure(of, link, seeds, **words)

    monkeypatch.setattr(fit, "measure", measured)
    return seen


def printed_of(link: dict[str, Any], seeds: list[int]) -> tuple[Target, ...]:
    """Give what a table would print of runs over a link."""
    of_runs = measure(subject(), link, seeds, workers=2)
    return tuple(
        Target(one.figure, mean, of_runs.sd(one.figure))
        for one in PRINTED
        if (mean := of_runs.mean(one.figure))
    )


def test_no_link_is_simulated_twice_with_the_same_seeds(simulated: list[str]) -> None:
    choice.choose(subject(), runs=3, tries=3, workers=2)
    assert len(simulated) == len(set(simulated)) > 10


def test_a_search_ends_where_it_starts_if_that_shows_what_was_printed(simulated: list[str]) -> None:
    model = start.of(subject(), families()["wandering-single"])
    seeds = fit.balanced_seeds(model, 3)
    there = replace(model, subject=subject(targets=printed_of(model.link(model.start), seeds)))
    assert fit.searched(there, seeds, 24, 2).parameters == pytest.approx(model.start)
    assert len(simulated) == 1


def test_a_rival_takes_how_figures_change_from_the_first_family(simulated: list[str]) -> None:
    first, rival = (
        start.of(subject(), families()[name]) for name in ("wandering-bursts", "wandering-single")
    )
    seeds = fit.balanced_seeds(first, 3)
    found = fit.searched(first, seeds, 2, 2)
    assert len(simulated) == 2 + len(first.fitted)
    fit.searched(rival, seeds, 2, 2, slopes=found.slopes)
    assert len(simulated) == 4 + len(first.fitted)


def test_a_constant_capacity_differs_between_runs_as_it_was_printed() -> None:
    assert made("retries-single").link["draw"]["rate"] == {"of": ["downlink.0.rate"], "spread": 0.2}


def test_deviations_that_are_small_beside_what_is_near_enough_tell_little() -> None:
    steady = made("wandering-single", rtt=[50.0, 50.2, 49.8])
    wild = made("wandering-single", rtt=[20.0, 50.0, 80.0], rtt_sd=[30.0] * 3)
    off = [choice.errors(one, 3)["deviation of RTT"] for one in (steady, wild)]
    assert off[0] < 0.01
    assert off[1] > 1


def test_runs_differ_by_what_was_printed_and_by_what_is_not_known() -> None:
    """0.2 was printed of six runs, of which deviations are uncertain themselves."""
    link = widened(made("wandering-bursts"), {"throughput": 0.15, "loss": 0.5})
    assert link["draw"]["rate"]["spread"] == pytest.approx(1.225 * 0.25, abs=0.001)
    assert link["draw"]["loss"] == {"of": ["downlink.2.bad_time"], "spread": 0.5}
    single = widened(made("wandering-single"), {"throughput": 0.15, "loss": 0.5})
    assert single["draw"]["loss"]["of"] == ["downlink.2.ratio"]


def test_a_link_can_be_simulated_however_little_a_table_says() -> None:
    """Sunderland's eHRPD lost 0.1 % with σ = 0.32, and no family shows all of its figures."""
    fit = made("wandering-bursts")
    link = widened(fit, {"throughput": 9.0, "loss": 9.0})
    assert measure(fit.subject, link, [1]).mean("throughput")
    assert {link["draw"][what]["spread"] for what in ("rate", "loss")} == {3.0}


def test_losses_that_alone_hold_the_throughput_spread_by_no_more_than_it_did() -> None:
    """It goes with their root: twice as far as rates do (Mathis et al., 1997)."""
    link = widened(made("unfilled-single"), {"throughput": 0.15, "loss": 9.0})
    assert link["draw"]["rate"]["spread"] == pytest.approx(0.306, abs=0.001)
    assert link["draw"]["loss"]["spread"] == pytest.approx(0.612, abs=0.002)


def test_losses_that_alone_hold_the_throughput_are_drawn_before_it_is_judged(
    simulated: list[str],
) -> None:
    delay = {"element": "delay", "delay": "40 ms"}
    fast = {"element": "rate", "rate": "10 Mbit/s"}
    lossy = [fast, delay, {"element": "loss", "ratio": "0.5 %"}]
    printed = printed_of({"uplink": [fast, delay], "downlink": lossy}, list(range(1, 7)))
    printed = tuple(replace(one, sd=one.sd or 0.2 * one.value) for one in printed)
    found = choice.choose(subject(targets=printed), runs=3, tries=4, workers=2)
    (one,) = (each.fit for each in found.standing if each.fit.family.capacity == "unfilled")
    model = start.of(one.subject, one.family)
    drawn = replace(model, loss_spread=one.link["draw"]["loss"]["spread"])
    link = drawn.link(one.parameters)
    assert link["draw"]["loss"] == one.link["draw"]["loss"]
    seeds = fit.balanced_seeds(drawn, 3)
    assert f"{link} {seeds}" in simulated
    assert measure(one.subject, link, seeds) == one.measured


def slept(**other: Any) -> Subject:
    """Give what was printed of a radio that slept before one run of ten, for 2 s."""
    late = (
        Target("throughput", 3.0, 0.5),
        Target("rtt", 125.0, 10.0),
        Target("handshake_rtt", 300.0, 600.0),
        Target("loss", 0.2, 0.1),
    )
    return subject(technology="HSPA+", targets=late, **other)


def test_a_radio_sleeps_before_as_many_runs_as_make_handshakes_so_late() -> None:
    model = start.of(slept(), families()["asleep-bursts"])
    # It answers within 100 ms when awake: 200 ms of lateness are a tenth of 2 s.
    assert model.start["asleep"] == pytest.approx(0.1)
    assert model.fitted["asleep"] == "handshake_rtt"
    link = model.link(model.start)
    handshakes = measure(slept(), link, fit.balanced_seeds(model, 10)).values("handshake_rtt")
    late = [ms for ms in handshakes if ms > 2000]
    assert len(late) == 1
    assert fmean(handshakes) == pytest.approx(300, rel=0.1)
    assert all(ms < 110 for ms in handshakes if ms not in late)


def test_a_family_of_two_states_is_written_as_two_links() -> None:
    model = start.of(slept(), families()["asleep-bursts"])
    link = model.link(model.start)
    fits = [
        Fit(one.subject, one.family, one.start, one.fitted, one.link(one.start), [], Measured([]))
        for one in (model, start.of(slept(), families()["deep-bursts"]))
    ]
    for order in (fits, fits[::-1]):
        parts = zip(order, (0.6, 0.4), strict=True)
        both = choice.Choice(
            [choice.Scored(one, {"RTT": 1.0}, weight=weight) for one, weight in parts]
        )
        made = profile.link(both)
        weights = [one["weight"] for one in made["alternatives"]]
        assert len(weights) == 2
        assert "alternatives" not in made["alternatives"][0]
        own = 0.54 if order is fits else 0.6
        assert sum(weights) == pytest.approx(1 - own, abs=0.002)
        read = tomllib.loads(profile.text(both))
        assert [one["weight"] for one in read["alternatives"]] == weights
        load(
            {
                "schema": 1,
                "transfer": {"size": "1 MB"},
                "link": {"radio": made},
                "path": {"radio": {"link": "radio"}},
            }
        )
    widths = widened(fits[0], {"throughput": 0.2, "loss": 0.5})
    assert [one["draw"]["loss"]["spread"] for one in (widths, *widths["alternatives"])] == [0.5] * 2
    assert "draw" in link


def test_a_radio_sleeps_only_where_handshakes_are_late() -> None:
    late = {
        name
        for name, one in rows.subjects().items()
        if any(family.waking_ms for family in admissible(one))
    }
    assert late == {
        "umass-tr/II/amherst-verizon-lte",
        "umass-tr/II/amherst-att-hspa",
        "umass-tr/IV/western-ma-att-hspa-mobile",
    }


def test_a_neighbouring_band_takes_its_part_of_a_capacity() -> None:
    rcn = rows.subject("umass-tr/II/boston-rcn-wifi")
    model = start.of(rcn, families()["interfered-single"])
    limited = model.link(model.start)["downlink"][0]
    on, off = (float(limited[f"{which}_time"].split()[0]) for which in ("high", "low"))
    high = float(limited["high"].split()[0])
    assert on + off == pytest.approx(5)
    assert high * on / (on + off) == pytest.approx(model.start["rate_mbps"], rel=0.001)
    assert model.family in admissible(rcn)
    assert model.family not in admissible(rows.subject("umass-tr/II/amherst-umass-wifi"))


def test_what_even_the_best_family_misses_flattens_weights_and_widens_links() -> None:
    near = [made(name, rtt=[50.0] * 3) for name in ("wandering-single", "wandering-bursts")]
    far = [made(name, rtt=[90.0] * 3) for name in ("wandering-single", "wandering-bursts")]
    spreads = [
        choice.weighed(fits, 3).tried[0].fit.link["draw"]["rate"]["spread"] for fits in (near, far)
    ]
    assert spreads[0] == pytest.approx(1.225 * 0.22, abs=0.01)
    assert spreads[1] > 1.2 * spreads[0]


def test_a_window_holds_what_loses_nothing_below_a_capacity() -> None:
    """Prague: 2.74 Mbit/s with round trips of 43.25 ms are 14.8 kB in flight."""
    prague = rows.subject("ctu-lte/2/ppp1")
    model = start.of(prague, families()["unfilled-single"])
    assert model.subject.tcp["max_receive_buffer"] == "14813 B"
    assert model.start["rate_mbps"] == pytest.approx(4 * 2.74)
    assert start.of(prague).subject.tcp["max_receive_buffer"] == "64 KiB"


def test_delays_of_the_same_technology_stay_where_nothing_waits() -> None:
    model = start.of(rows.subject("naist/A/wimax"), families()["unfilled-single"])
    assert model.start["base_ms"] == 158.16
    assert "base_ms" not in model.fitted


def test_a_capture_is_one_run_that_is_off_by_as_much_as_runs_differ() -> None:
    printed = made("wandering-single", throughput=[8.0, 12.0, 16.0])
    captured = replace(
        printed, subject=replace(printed.subject, draws=False, loss_percent=0.2, base_rtt_ms=40.0)
    )
    # By chance 12 is none: runs differ by a third, the one captured and the mean of three by 0.38.
    assert choice.errors(captured, 3)["throughput"] == pytest.approx(1.11, abs=0.01)
    assert choice.errors(printed, 3)["throughput"] > 3


def test_a_family_with_which_anything_may_happen_says_little_of_a_capture() -> None:
    fits = []
    for values in ([7.9, 8.0, 8.1], [2.0, 8.0, 14.0]):
        one = made("wandering-single", throughput=values)
        subject = replace(one.subject, draws=False, loss_percent=0.2, base_rtt_ms=40.0)
        fits.append(replace(one, subject=subject))
    found = choice.weighed(fits, 3)
    assert found.tried[0].fit.residuals == fits[0].residuals
    # Both show 8 Mbit/s: their likelihoods differ as their standard errors do.
    assert found.tried[1].weight < 0.2


def test_nine_of_ten_runs_lie_within_what_six_tell_of_them() -> None:
    """Runs of a capacity whose mean and deviation are known from six alone."""
    chance = random.Random(7)
    held = 0
    for _ in range(trials := 4000):
        six = [chance.gauss(1.0, 0.2) for _ in range(choice.PRINTED_RUNS)]
        mean, sd = fmean(six), stdev(six)
        error = sd / math.sqrt(choice.PRINTED_RUNS) / mean
        fit = made("wandering-single")
        draw = {"rate": {"of": ["downlink.0.mean"], "spread": sd / mean}}
        link = widened(replace(fit, link=fit.link | {"draw": draw}), {"throughput": error})
        far = 1.645 * link["draw"]["rate"]["spread"] * mean
        held += abs(chance.gauss(1.0, 0.2) - mean) <= far
    # Without what deviations of six runs leave open, it would be 84 %.
    assert held / trials == pytest.approx(0.9, abs=0.015)


def test_bursts_over_a_fast_link_are_as_short_as_states_may_be() -> None:
    model = start.of(subject(burst_packets=3), families()["wandering-bursts"])
    link = model.link(model.start | {"rate_mbps": 2000.0, "burst_percent": 1.0})
    burst = link["downlink"][-1]
    assert burst["bad_time"] == "0.1 ms"
    assert burst["good_time"] == "9.9 ms"
    scenario = {"schema": 1, "transfer": {"size": "1 MB"}, "link": {"fast": link}}
    load(scenario | {"path": {"fast": {"link": "fast"}}})


def test_a_delay_of_nearly_nothing_is_a_length_of_time() -> None:
    model = start.of(subject(), families()["steady-single"])
    link = model.link(model.start | {"base_ms": 5e-7})
    scenario = {"schema": 1, "transfer": {"size": "1 MB"}, "link": {"near": link}}
    load(scenario | {"path": {"near": {"link": "near"}}})


def test_a_range_leaves_a_twentieth_of_all_runs_on_each_side() -> None:
    # One family has 30 runs of 1 to 30, and three quarters of the weight; the other 10 of 100.
    shares = [float(number) for number in range(1, 31)]
    fits = [
        made("steady-bursts", throughput=shares),
        made("steady-single", throughput=[100.0] * 10),
    ]
    tried = [
        choice.Scored(one, {}, weight=weight)
        for one, weight in zip(fits, (0.75, 0.25), strict=True)
    ]
    # Each of the 30 has a fortieth of all.
    assert choice.Choice(tried).range("throughput") == (2.0, 100.0)
    assert choice.Choice(tried[:1]).range("throughput") == (2.0, 29.0)


@pytest.mark.parametrize(
    ("named", "paths"),
    [
        (["wifi", "lte"], ["wifi", "lte"]),
        (["wifi", "wifi"], ["path0", "path1"]),
        (["wifi", None], ["path0", "path1"]),
        # Captures of different runs in one.
        (["client:eth0", "server:eth0"], ["path0", "path1"]),
    ],
)
def test_paths_of_a_model_have_names_that_a_scenario_takes(
    named: list[str | None], paths: list[str]
) -> None:
    subflows = [{"subflow": number, "path": path} for number, path in enumerate(named)]
    assert list(modelled._names(subflows).values()) == paths
