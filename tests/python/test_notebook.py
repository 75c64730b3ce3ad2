"""What notebooks show of runs, campaigns and analyses."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from small import SMALL

import mptcplab as lab
from campaigns import CAMPAIGN, written
from mptcplab.calibration.calibration import Calibration
from mptcplab.calibration.target import Residual, Target
from mptcplab.labels import text
from mptcplab.labels.findings import NOTHING
from mptcplab.results.comparison import Comparison

OUTAGE = Path(__file__).parents[2] / "examples" / "outage"


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    file = tmp_path_factory.mktemp("small") / "small.toml"
    file.write_text(SMALL)
    return lab.run(file)


def cells(shown: str) -> list[list[str]]:
    """The rows of the table."""
    rows = re.findall(r"<tr>(.*?)</tr>", shown)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]


def test_a_comparison_is_a_verdict_a_table_and_a_chart(comparison: Comparison) -> None:
    shown = comparison._repr_html_()
    assert f"best single path: {comparison.best_path} with" in shown
    head, *rows = cells(shown)
    assert [row[0] for row in rows] == ["MPTCP", "TCP over wifi", "TCP over lte"]
    rates = [float(row[head.index("Mbit/s")]) for row in rows]
    assert rates == pytest.approx([run.throughput_mbps for run in comparison.runs], rel=0.005)
    assert '<img alt="Throughput' in shown
    assert "data:image/png;base64,iVBOR" in shown
    assert len(cells(comparison.baselines["wifi"]._repr_html_())) == 2
    assert "The dotted line is the throughput of plain TCP" in comparison.plot().caption
    assert comparison.plot("rtt").caption.startswith("Round-trip time")


def test_a_campaign_shows_its_gains(tmp_path: Path) -> None:
    campaign = lab.sweep(written(tmp_path, CAMPAIGN, repetitions=1), out=tmp_path / "out")
    head, *rows = cells(campaign._repr_html_())
    assert head[:3] == ["size", "controller", "n"]
    assert len(rows) == 6
    (own,) = campaign.runs.filter(size=rows[0][0], controller=rows[0][1], kind="mptcp")["gain"]
    assert rows[0][head.index("gain")] == f"{100 * own:+.0f} %"


def test_what_is_found_is_a_table_with_evidence_and_remedy() -> None:
    found = lab.why([OUTAGE / f"{end}.pcapng.gz" for end in ("client", "server")])
    head, first, *_ = cells(found._repr_html_())
    assert head == ["finding", "cost", "evidence", "remedy"]
    assert first[0].startswith("wifi delivered nothing from ")
    assert first[1] == text.seconds(max(row["cost_s"] or 0.0 for row in found.rows))
    assert repr(found) == f"<mptcplab.Why: {text.plural(found.findings.height, 'finding')}>"


def test_nothing_found_is_said(comparison: Comparison) -> None:
    found = lab.why(comparison)
    assert found.findings.height == 0
    assert NOTHING in found._repr_html_()
    assert f"of {comparison.mptcp.directory}: " in repr(found)


def test_nothing_from_outside_becomes_markup(tmp_path: Path) -> None:
    file = tmp_path / "<b>bold.toml"
    file.write_text(SMALL.replace("300 kB", "3 kB"))
    shown = lab.run(file, baselines=False)._repr_html_()
    assert "<b>" not in shown
    assert "&lt;b&gt;bold" in shown


def test_an_analysis_shows_its_connections_and_a_chart(download: list[str]) -> None:
    analysis = lab.analyze(download)
    shown = analysis._repr_html_()
    head, row = cells(shown)
    assert row[:4] == ["0", "192.0.2.18:47882 → 203.0.113.1:8080", "MPTCP v1", "2"]
    (down,) = analysis.transfers.filter(direction="down").rows(named=True)
    assert row[head.index("data ↓")] == text.size(down["bytes"])
    assert row[head.index("rate ↓")] == text.rate(down["throughput_mbps"])
    assert "<li>wifi lost 1.0 % of its packets at random" in shown
    assert '<img alt="Throughput' in shown
    assert "The total counts bytes" in analysis.plot().caption
    assert "plain TCP" not in analysis.plot().caption
    assert analysis.plot("rtt", connection=0).caption.startswith("Round-trip time")


def test_differences_are_a_table(comparison: Comparison) -> None:
    found = lab.compare(comparison.baselines["wifi"], comparison.baselines["lte"])
    head, *rows = cells(found._repr_html_())
    assert head[-3:] == ["A", "B", "B / A - 1"]
    (rate,) = [row for row in rows if row[2:5] == ["down", "", "throughput"]]
    sides = comparison.baselines["wifi"], comparison.baselines["lte"]
    assert rate[5:7] == [text.rate(one.throughput_mbps) for one in sides]
    a, b = (one.throughput_mbps or 0.0 for one in sides)
    assert rate[7] == f"{100 * (b / a - 1):+.0f} %"


def test_differences_over_seeds_are_a_table(comparison: Comparison) -> None:
    scenario = comparison.mptcp.directory / "scenario.toml"
    slow = lab.run(scenario, baselines=False, settings={"transfer.size": "500 kB"})
    head, *rows = cells(lab.compare([comparison], [slow])._repr_html_())
    assert head == ["configuration", "run", "", "A", "B", "pairs", "B / A - 1", "p corrected"]
    (rate,) = [row for row in rows if row[1:3] == ["mptcp", "throughput"]]
    assert rate[3:6] == [
        *(text.rate(one.mptcp.throughput_mbps) for one in (comparison, slow)),
        "1",
    ]


def test_a_calibration_is_a_table_of_what_was_measured_and_shown() -> None:
    subject = SimpleNamespace(name="mine")
    residuals = [
        Residual(Target("throughput", 10.0, 0.5), 9.8, 0.2),
        Residual(Target("loss", 1.0, below=True), 3.0, None),
    ]
    fit: Any = SimpleNamespace(subject=subject, residuals=residuals, missed=["loss"])
    ranges = {"throughput": (9.5, 10.0), "loss": None}
    choice: Any = SimpleNamespace(tried=[SimpleNamespace(fit=fit)], range=ranges.get)
    shown = Calibration(choice)._repr_html_()
    assert "<h4>mine: does not show loss (%)</h4>" in shown
    assert cells(shown) == [
        ["figure", "measured", "shown", "ratio", "90 % of runs", ""],
        ["throughput (Mbit/s)", "10.0 ± 0.50", "9.80 ± 0.20", "0.98", "9.50 to 10.0", ""],
        ["loss (%)", "&lt; 1.00", "3.00", "3.00", "", "missed"],
    ]
