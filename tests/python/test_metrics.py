"""Metrics: whatever a column declares is shown wherever it says, without a word of it elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from campaigns import written
from mptcplab import _core, metrics

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


def output(directory: Path, *words: str) -> str:
    """What a command prints where the metric is declared."""
    done = subprocess.run(
        [sys.executable, "-m", "mptcplab", *words],
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
