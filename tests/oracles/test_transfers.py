"""The bytes of every finished transfer are those that the application sent."""

from __future__ import annotations

import pathlib
import tomllib
from collections import Counter
from collections.abc import Callable

import polars as pl
import pytest

import mptcplab
from kernel import KINDS, MANY, KernelCapture

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
FACTS = tomllib.loads((EXAMPLES / "facts.toml").read_text())
ENDS = ["client", "server", "both"]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", FACTS)
def test_examples(name: str, end: str) -> None:
    captures = [
        file
        for file in sorted((EXAMPLES / name).glob("*.pcapng.gz"))
        if end in (file.name.split(".")[0], "both")
    ]
    if captures:
        facts = FACTS[name]
        check(captures, [(facts["bytes_up"], facts["bytes_down"])])


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("kind", KINDS | MANY)
def test_kernel(kind: str, end: str, kernel_capture: Callable[[str], KernelCapture]) -> None:
    recorded = kernel_capture(kind)
    captures = [getattr(recorded, side) for side in ("client", "server") if end in (side, "both")]
    check(captures, [(recorded.bytes_up, down) for down in recorded.bytes_down])


def check(captures: list[pathlib.Path], sent: list[tuple[int, int]]) -> None:
    analysis = mptcplab.analyze(captures, samples=False)
    assert set(analysis.connections["ended"]) == {"closed"}
    transfers = analysis.transfers.pivot("direction", index="connection", values="bytes")
    assert Counter(transfers.select("up", "down").iter_rows()) == Counter(sent)
    # What first arrived over each subflow adds up to it, and so do the bins of the series.
    flows = analysis.flows.group_by("connection", "direction").agg(
        pl.col("delivered_bytes").sum(),
        pl.col("delivered_bytes").is_null().any().alias("unknown"),
        pl.col("bytes").sum(),
    )
    whole = analysis.throughput.filter(pl.col("subflow").is_null())
    bins = whole.group_by("connection", "direction").agg(pl.col("bytes").sum())
    of_flows = {row[:2]: row[2:] for row in flows.iter_rows()}
    in_bins = {row[:2]: row[2] for row in bins.iter_rows()}
    for row in analysis.transfers.iter_rows(named=True):
        key = (row["connection"], row["direction"])
        assert in_bins[key] == row["bytes"]
        delivered, unknown, carried = of_flows[key]
        # The sender's end alone cannot tell which subflow was first with what went over several.
        assert carried > row["bytes"] if unknown else delivered == row["bytes"]
