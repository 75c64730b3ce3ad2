"""What notebooks show of runs, campaigns and analyses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from small import SMALL

import mptcplab as lab
from campaigns import CAMPAIGN, written
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


def test_an_analysis_shows_its_connections(download: list[str]) -> None:
    analysis = lab.analyze(download)
    assert analysis._repr_html_() == analysis.connections._repr_html_()
