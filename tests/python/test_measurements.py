"""The papers' numbers: all there, as printed, and refused where they are not as rows are."""

import math
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import mptcplab
from mptcplab import measurements


def test_rows_and_figures_are_as_many_as_were_printed() -> None:
    data = measurements.load()
    rows = data.single_path.values()
    assert len(rows) == 28
    assert sum(None not in (row.throughput, row.rtt) for row in rows) == 26
    assert sum(row.loss is not None for row in rows) == 23
    assert sum(row.handshake_rtt is not None for row in rows) == 17
    assert (len(data.multipath), len(data.mobile), len(data.papers)) == (8, 7, 5)


#: The papers' numbers, read independently of ours, where they lie beside the project.
REFERENCE = Path(__file__).parents[3] / "shared" / "reference" / "measurements.toml"


def numbers(value: Any, *keys: str) -> Iterator[tuple[tuple[str, ...], float]]:
    """Give every number of a document with its place; rows go by their ids."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from numbers(one, *keys, key)
    elif isinstance(value, list):
        for at, one in enumerate(value):
            name = one.get("id", str(at)) if isinstance(one, dict) else str(at)
            yield from numbers(one, *keys, name)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        # What has no end is the largest number there, or none.
        yield keys, math.inf if value == 1e9 else value


def test_every_number_is_the_one_that_was_read_independently() -> None:
    for file in (one for one in (REFERENCE,) if one.exists()):
        ours, theirs = (
            dict(numbers(tomllib.loads(one.read_text()))) for one in (measurements.HERE, file)
        )
        assert len(theirs) > 500
        assert ours == theirs


def test_deviations_of_losses_are_those_of_table_iii() -> None:
    """UM-CS-2012-022, the four that were once read from other rows."""
    printed = {
        ("amherst-8", "verizon-2"): 0.08,
        ("amherst-8", "sprint-2"): 0.08,
        ("boston-8", "sprint-1"): 0.16,
        ("boston-8", "sprint-2"): 0.13,
    }
    rows = measurements.load().multipath
    for (row, subflow), sd in printed.items():
        loss = rows[f"umass-tr/III/{row}"].subflows[subflow].loss
        assert loss is not None
        assert loss.sd == sd


def test_where_words_and_numbers_of_a_paper_differ_both_are_named() -> None:
    """What is recomputed from the rows stands beside what is printed, in `inconsistent`."""
    data = measurements.load()
    att = data.single_path["umass-tr/II/boston-att-lte"]
    assert att.receive_window == "100800 B"
    assert att.rtt is not None
    bits_per_s = 8 * 100_800 / (att.rtt.mean / 1000)
    units = (f"{bits_per_s / 1e6:.2f}", f"{bits_per_s / 2**20:.2f}")
    assert units == ("12.25", "11.68")
    said = " ".join(data.papers["umass-tr"].inconsistent)
    assert f"are {units[0]} Mbit/s, printed {units[1]}" in said

    lte, ehrpd = (
        data.single_path[f"umass-up/1/verizon-{one}"].throughput_cv for one in ("lte", "ehrpd")
    )
    assert lte is not None
    assert ehrpd is not None
    times = f"{lte.mean / ehrpd.mean:.1f}"
    assert times == "5.5"
    said = " ".join(data.papers["umass-up"].inconsistent)
    assert f"is {times} times as large, the text says 4 times" in said


@pytest.mark.parametrize("name", ["umass-tr/III/amherst-8", "umass-tr/III/boston-8"])
def test_subflows_add_up_to_the_carriers_and_those_to_the_aggregate(name: str) -> None:
    """Table III of UM-CS-2012-022 prints all three, each rounded to a hundredth."""
    row = measurements.load().multipath[name]
    assert row.aggregate
    assert row.best_single_path
    sums: dict[str, float] = {}
    for subflow, figures in row.subflows.items():
        carrier = subflow.rpartition("-")[0]
        sums[carrier] = sums.get(carrier, 0) + figures.throughput.mean
    assert sums == pytest.approx(row.carrier_aggregates, abs=0.011)
    assert sum(sums.values()) == pytest.approx(row.aggregate, abs=0.05)
    gain = 100 * (row.aggregate / row.best_single_path.throughput - 1)
    assert gain == pytest.approx(row.gain_percent, abs=0.5)


def test_phases_of_a_drive_follow_each_other() -> None:
    for row in measurements.load().mobile.values():
        parts = [phase for phase in row.phases if phase.what != "all"]
        assert all(phase.start_s < phase.end_s for phase in parts)
        assert all(one.end_s <= after.start_s for one, after in pairwise(parts))


def test_a_bound_is_read_as_one() -> None:
    first, second, *_ = measurements.load().single_path["imc13/5/att-lte"].loss_by_size
    assert (first.mean, first.se, first.below) == (0.1, 0.1, False)
    assert (second.mean, second.se, second.below) == (0.03, None, True)


ROW = '[papers.p]\ntitle = "t"\nsource = "s"\n[[multipath]]\nid = "p/1/a"\npaper = "p"\n'


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("=", "cannot be read"),
        (ROW, "multipath: p/1/a: needs direction"),
        (ROW + 'direction = "up"\nagregate = 1', "no key agregate; did you mean aggregate?"),
        (ROW + 'direction = "up"\nsubflows = { a = { rtt = 1 } }', "p/1/a: needs throughput"),
        (ROW.replace('paper = "p"', 'paper = "q"\ndirection = "up"'), "there is no paper 'q'"),
        (
            ROW + 'direction = "up"\n' + ROW.partition("[[")[2].join(("[[", 'direction="up"')),
            "twice",
        ),
    ],
)
def test_what_is_no_row_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(text)
    with pytest.raises(mptcplab.Error, match=r"own\.toml") as error:
        measurements.load(file)
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)
