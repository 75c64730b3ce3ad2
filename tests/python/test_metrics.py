"""Metrics: whatever a column declares is shown wherever it says, without a word of it elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from campaigns import written
from mptcplab import Error, _core, analyze, compare, metrics, open_campaign
from mptcplab.results import run_metrics

# Declares a column as a metric that is shown everywhere, before the package looks; workers, too.
DECLARED = f"""
import sys
from importlib.util import module_from_spec, spec_from_file_location

spec = spec_from_file_location("mptcplab._core", {_core.__file__!r})
core = sys.modules[spec.name] = module_from_spec(spec)
spec.loader.exec_module(core)
views = ["line", "runs", "page", "compare", "document", "seeds", "campaign", "overview"]
one = {{
    "table": "transfers", "column": "rtt_ms_sigma", "kind": "f64", "unit": "ms",
    "meaning": "How it varies.", "quantity": "jitter of all", "brief": "jitter", "better": "less",
    "logarithmic": False, "part": False, "samples": "", "pooled": None, "shown": views,
}}
given = core.metrics()
core.metrics = lambda: [*given, one]
"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("metrics")
    written(directory, repetitions=2)
    (directory / "sitecustomize.py").write_text(DECLARED)
    return directory


def output(directory: Path, *arguments: str) -> str:
    """What a command prints where the metric is declared."""
    done = subprocess.run(
        [sys.executable, "-m", "mptcplab", *arguments],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(directory)},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    return done.stdout


def test_a_metric_that_is_declared_is_shown_everywhere(directory: Path) -> None:
    alone = output(directory, "run", "small.toml", "--out", "alone")
    assert re.search(r"^ +.*· jitter [\d.]+ m?s$", alone, re.MULTILINE)
    assert re.search(r"^  run .* jitter ms", alone, re.MULTILINE)
    assert '"jitter"' in (directory / "alone" / "report.html").read_text()

    for name, more in (("one", ()), ("other", ("--set", "path.lte.rate=3 Mbit/s"))):
        output(directory, "run", "small.toml", "--repeat", "2", "--out", name, *more)
    assert re.search(
        r"^ +jitter +[\d.]+ ms", output(directory, "compare", "one/1", "other/1"), re.M
    )
    assert '"figure": "rtt_ms_sigma"' in output(directory, "compare", "one/1", "other/1", "--json")
    over_seeds = output(directory, "compare", "one", "other")
    assert re.search(r"^  tcp-lte +jitter ms +[\d.]+ ±", over_seeds, re.MULTILINE)

    sweep = ("sweep", "campaign.toml", "--out", "campaign", "--jobs", "1")
    assert re.search(r"^  size .* jitter ms", output(directory, *sweep), re.MULTILINE)
    assert '"rtt_ms_sigma": {' in output(directory, *sweep, "--json")
    assert '"name":"Jitter of all"' in (directory / "campaign" / "report.html").read_text()
    figure = ("figure", "boxes", "campaign", "--value", "rtt_ms_sigma", "--out", "boxes.svg")
    assert output(directory, *figure).startswith("Jitter of all (ms): median and quartiles")


def test_metrics_are_columns_and_say_how_to_be_shown() -> None:
    columns = {table: [name for name, *_ in described] for table, _, described in _core.columns()}
    for one in metrics.ALL:
        assert set(one.columns) <= set(columns[one.table])
        assert one.better in ("more", "less", "neither")
        assert one.brief or one.unit
        assert one.shown
    for several in (metrics.OF_RUNS, metrics.OF_SUBFLOWS):
        labels = [(one.table, one.label) for one in several.values()]
        assert len(set(labels)) == len(labels)


@pytest.mark.parametrize(
    ("column", "label", "line", "head", "shown"),
    [
        ("throughput_mbps", "throughput", "throughput", "Mbit/s", "8.00 Mbit/s"),
        ("bytes", "delivered data", "bytes", "bytes", "8 B"),
        ("rtt_ms_mean", "mean RTT", "RTT, mean", "RTT ms", "8.00 ms"),
        ("rtt_ms_p95", "95th percentile of RTT", "RTT, p95", "RTT ms", "8.00 ms"),
        ("loss_rate_percent", "loss rate", "loss", "loss %", "8.00 %"),
        ("coefficient_of_variation", "coefficient of variation", "CV", "CV", "8.00"),
    ],
)
def test_names(column: str, label: str, line: str, head: str, shown: str) -> None:
    one = metrics.OF_RUNS[column]
    assert (one.label, one.line, one.head, one.show(8)) == (label, line, head, shown)


def test_columns_of_several_statistics_name_their_quantity_once() -> None:
    own = metrics.OF_SUBFLOWS
    names = ("share", "rtt_ms_mean", "rtt_ms_min", "rtt_ms_p95", "one_way_delay_ms_median")
    assert metrics.heads([own[name] for name in names]) == [
        *("share", "RTT mean", "min", "p95"),
        "one-way",
    ]


@pytest.fixture
def own_metric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """That of the documentation, installed; the file of its entry points."""
    page = (Path(__file__).parents[2] / "docs" / "extending.md").read_text()
    code = re.search(r"<!-- module: my_metrics.py -->\n```python\n(.*?)```", page, re.DOTALL)
    points = re.search(r"```toml\n\[project\.entry-points\.\"(.*?)\"\]\n(.*?)```", page, re.DOTALL)
    assert code is not None
    assert points is not None
    (tmp_path / "my_metrics.py").write_text(code[1])
    about = tmp_path / "my_metrics-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-metrics\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[{points[1]}]\n{points[2]}".replace('"', ""))
    monkeypatch.syspath_prepend(str(tmp_path))
    metrics.of_users.cache_clear()
    yield about / "entry_points.txt"
    metrics.of_users.cache_clear()
    sys.modules.pop("my_metrics", None)


def test_a_metric_of_a_user_is_one_of_runs(own_metric: Path) -> None:
    captures = Path(__file__).parents[2] / "examples"
    a, b = (captures / name / "client.pcapng.gz" for name in ("download", "outage"))
    (figure,) = (
        one
        for one in compare(a, b).figures
        if (one.figure, one.direction) == ("largest_share", "down")
    )
    shares = [analyze(one).flows.filter(direction="down")["share"].max() for one in (a, b)]
    assert [figure.a, figure.b] == shares
    assert metrics.OF_RUNS["largest_share"].label == "largest share"
    assert "largest_share" in run_metrics.schema()
    # Tables as they stand have no such column.
    assert "largest_share" not in analyze(a).transfers.columns


def test_analyze_and_pages_show_a_metric_of_a_user(own_metric: Path) -> None:
    home = own_metric.parents[1]
    capture = str(Path(__file__).parents[2] / "examples" / "download" / "client.pcapng.gz")
    text = output(home, "analyze", capture)
    assert re.search(r"^ .* · largest share 0\.\d\d$", text, re.MULTILINE)
    output(home, "analyze", capture, "--report", "one.html")
    assert '"largest share"' in (home / "one.html").read_text()
    written(home, repetitions=1)
    ran = output(home, "run", "small.toml", "--out", "alone")
    assert re.search(r"^  run .* largest share$", ran, re.MULTILINE)
    output(home, "report", "alone", capture, "--out", "both.html")
    for page in (home / "alone" / "report.html", home / "both.html"):
        assert '"largest share"' in page.read_text()


def test_campaigns_have_a_metric_of_a_user(own_metric: Path, tmp_path: Path) -> None:
    """Workers measure it, each in a process of its own."""
    home = own_metric.parents[1]
    written(home, repetitions=1)
    sweep = output(home, "sweep", "campaign.toml", "--out", "campaign", "--jobs", "1")
    assert re.search(r"^  size .* largest share", sweep, re.MULTILINE)
    shares = open_campaign(home / "campaign").runs["largest_share"].drop_nulls()
    assert len(shares) > 0
    assert shares.is_between(0.3, 1).all()
    assert '"name":"Largest share"' in (home / "campaign" / "report.html").read_text()
    figure = ("figure", "boxes", "campaign", "--value", "largest_share", "--out", "boxes.svg")
    assert output(home, *figure).startswith("Largest share: median and quartiles")
    # Whoever has it not opens the campaign all the same.
    own_metric.write_text("")
    metrics.of_users.cache_clear()
    assert "throughput_mbps" in open_campaign(home / "campaign").runs.columns


@pytest.mark.parametrize(
    ("point", "message"),
    [
        (
            "broken = my_metrics:NOTHING",
            r"the metric broken \(my_metrics:NOTHING\) cannot be loaded",
        ),
        (
            "none = my_metrics:__name__",
            r"the metric none \(.*\) has no name, unit, better, meaning, measure",
        ),
        ("named = my_metrics:LargestShare", "cannot be measured: TypeError: "),
    ],
)
def test_a_metric_of_a_user_that_fails_is_told_in_one_line(
    own_metric: Path, point: str, message: str
) -> None:
    own_metric.write_text(f"[mptcplab.metrics]\n{point}\n")
    with pytest.raises(Error, match=message) as refused:
        run_metrics.metrics_of({"bytes": 1}, [])
    assert "\n" not in str(refused.value)


def test_a_metric_of_a_user_that_fails_stops_only_what_needs_it(own_metric: Path) -> None:
    own_metric.write_text("[mptcplab.metrics]\nbroken = my_metrics:NOTHING\n")
    assert output(own_metric.parents[1], "--help").startswith("usage: mptcplab")


def test_a_metric_of_a_user_takes_no_name_of_ours(own_metric: Path) -> None:
    code = own_metric.parents[1] / "my_metrics.py"
    code.write_text(code.read_text().replace('"largest_share"', '"bytes"'))
    with pytest.raises(Error, match="cannot be called 'bytes': names are of small letters"):
        metrics.of_users()
