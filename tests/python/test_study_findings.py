"""What findings ask, and what the papers say themselves."""

from __future__ import annotations

from mptcplab.study import questions
from mptcplab.study.experiments import experiments


def test_what_stands_at_an_axis_is_no_number_that_was_printed() -> None:
    unprinted = {
        finding.where: finding.unprinted
        for one in experiments().values()
        for finding in one.findings
        if finding.unprinted
    }
    of_axes = {where for where, reason in unprinted.items() if "of the axis" in reason}
    assert of_axes == {"figure 8", "figure 10", "figure 11"}
    assert set(unprinted) - of_axes == {"figure 9", "§III-A"}


def test_what_a_paper_says_of_some_carriers_is_asked_of_those_with_long_round_trips() -> None:
    """IMC 2013, §5.1, has "some carriers", and does not name them: AT&T is not asked."""
    (finding,) = (
        finding
        for one in experiments().values()
        for finding in one.findings
        if "512 kB" in finding.says
    )
    assert finding.says.startswith("Some carriers")
    assert "Sprint" in finding.asked
    assert "AT&T" not in finding.asked


def test_a_window_caps_the_rate_at_what_it_is_and_not_at_what_was_printed() -> None:
    """100 800 bytes per 65.84 ms are 12.25 Mbit/s; 11.68 takes 2²⁰ bits for a Mbit."""
    (finding,) = (
        finding
        for one in experiments().values()
        for finding in one.findings
        if "11.68" in finding.says
    )
    assert "12.25 Mbit/s (printed as 11.68" in finding.says


def test_what_a_paper_prints_beyond_its_own_single_paths_is_told_apart() -> None:
    """Links that show 0.85 and 3.47 Mbit/s alone have 4.32 together, and never 5.30."""
    alone = [
        "umass-tr/IV/sunderland-verizon-ehrpd-mobile",
        "umass-tr/IV/western-ma-att-hspa-mobile",
    ]
    against = questions.beyond(alone, [{"of": {}, "printed": {"of": 5.30}}])
    assert against == (
        "Printed is 5.3; the paper's single paths, 0.85 and 3.47 Mbit/s, give 4.32 together"
    )
    assert questions.beyond(alone, [{"of": {}, "printed": {"of": 4.30}}]) is None
    ratio = [{"of": {}, "printed": {"ratio": 1.25}}]
    assert questions.beyond(alone, ratio) == (
        "Printed is 1.25; the paper's single paths, 0.85 and 3.47 Mbit/s, give 1.24 together"
    )
    assert questions.beyond(alone, [{"of": {}, "printed": {"ratio": 1.24}}]) is None


def test_the_findings_beyond_their_own_single_paths_are_known() -> None:
    findings = [finding for one in experiments().values() for finding in one.findings]
    against = {finding.says for finding in findings if finding.against}
    assert against == {
        "Upwards four subflows carry more than the best single path: 25 %.",
        "In the 3G zone it has more than the best single path: 5.30 against 3.47 Mbit/s.",
        "In 4G MPTCP has more than the best single path: 5.64 against 4.34 Mbit/s.",
        "In 3G it has more than the best single path: 2.09 against 0.91 Mbit/s.",
        "4G outperforms Wi-Fi.",
    }
