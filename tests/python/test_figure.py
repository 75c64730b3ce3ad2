"""Figures for papers: what is drawn is what the tables say, in files that a publisher takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from figured import annotated
from matplotlib import cbook, colors
from matplotlib.patches import PathPatch, Rectangle
from scipy import stats

import mptcplab as lab
from campaigns import CAMPAIGN, written
from mptcplab import Error
from mptcplab.charts.paper.paper import COLOURS, Paper
from mptcplab.results.campaign import Campaign
from mptcplab.results.comparison import Comparison
from mptcplab.results.statistics import box


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    return annotated(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    directory = tmp_path_factory.mktemp("campaign")
    return lab.sweep(written(directory, repetitions=5), out=directory / "small", jobs=1)


def chart(figure: Paper, number: int = 0) -> Any:
    return figure.axes[number]


def line(figure: Paper, label: str) -> Any:
    (found,) = (one for one in chart(figure).lines if one.get_label() == label)
    return found


def legend(figure: Paper) -> list[str]:
    (found,) = figure.legends
    return [one.get_text() for one in found.get_texts()]


def test_throughput_over_time_is_the_table(comparison: Comparison) -> None:
    figure = lab.figure("throughput", comparison)
    assert legend(figure)[:3] == ["total", "wifi", "lte"]
    for number, name in ((0, "wifi"), (1, "lte")):
        sent = comparison.mptcp.reordering.filter(direction="down", subflow=number)["bytes"].sum()
        x, y = line(figure, name).get_data()
        assert line(figure, name).get_drawstyle() == "steps-post"
        # What lies under the steps is what came.
        assert np.sum(np.diff(x) * y[:-1]) * 1e6 / 8 == pytest.approx(sent)
    best = comparison.baselines[str(comparison.best_path)].throughput_mbps
    (level,) = (one for one in chart(figure).lines if one.get_label().startswith("TCP over"))
    assert set(level.get_ydata()) == {best}
    (shade,) = (one for one in chart(figure).patches if isinstance(one, Rectangle))
    assert (shade.get_x(), shade.get_width()) == (1.0, 1.0)
    assert [one.get_text() for one in chart(figure).texts] == ["wifi: blackout"]
    # It is a single chart, not a page of them.
    assert "all charts" not in figure.caption


def test_path_scatter_sets_the_bins_of_two_paths_against_each_other(comparison: Comparison) -> None:
    figure = lab.figure("path-scatter", comparison)
    bins = comparison.mptcp.throughput.filter(direction="down")
    wifi, lte = (
        dict(bins.filter(subflow=number).select("at_s", "throughput_mbps").rows())
        for number in (0, 1)
    )
    times = sorted(wifi | lte)
    expected = {(wifi.get(at, 0), lte.get(at, 0)) for at in times}
    assert set(zip(*chart(figure).lines[0].get_data(), strict=True)) == expected
    assert f"of {len(times)}, lte" in figure.caption
    with pytest.raises(Error, match="of two paths, and there are wifi"):
        lab.figure("path-scatter", comparison.baselines["wifi"])


def test_marks_are_packets_that_were_sent_again(comparison: Comparison) -> None:
    figure = lab.figure("throughput", comparison)
    lanes = chart(figure, 1)
    events = comparison.mptcp.events.filter(direction="down")
    names = [label.get_text() for label in lanes.get_yticklabels()]
    for event, name in (("retransmission", "resent"), ("reinjection", "reinjected")):
        marks = [one for one in lanes.lines if set(one.get_ydata()) == {names.index(name)}]
        at = sorted(float(x) for one in marks for x in one.get_xdata())
        assert at == sorted(events.filter(event=event)["at_s"])
        assert at


@pytest.mark.parametrize(
    ("kind", "table", "column", "scale"),
    [
        ("rtt", "rtt", "rtt_ms", 1),
        ("out-of-order-delay", "reordering", "out_of_order_delay_ms", 1),
        ("in-flight", "window", "in_flight_bytes", 1e-3),
    ],
)
def test_samples_are_those_of_the_tables(
    comparison: Comparison, kind: str, table: str, column: str, scale: float
) -> None:
    figure = lab.figure(kind, comparison)
    frame = getattr(comparison.mptcp, table).filter(direction="down").drop_nulls(column)
    for number, name in ((0, "wifi"), (1, "lte")):
        own = frame.filter(subflow=number)
        assert own.height > 100
        x, y = line(figure, name).get_data()
        assert list(x) == own["at_s"].to_list()
        assert list(y) == pytest.approx([scale * one for one in own[column]])


def test_the_sequence_graph_shows_what_was_sent_again(comparison: Comparison) -> None:
    figure = lab.figure("data-sequence", comparison)
    sent = comparison.mptcp.segments.filter(direction="down").drop_nulls("data_offset_bytes")
    again = sent.filter(subflow=0, kind="retransmission")
    x, y = line(figure, "wifi retransmission").get_data()
    assert again.height
    assert list(x) == again["at_s"].to_list()
    assert [round(1e6 * one) for one in y] == again["data_offset_bytes"].to_list()


def test_distributions_of_a_run_are_those_of_its_samples(comparison: Comparison) -> None:
    figure = lab.figure("rtt-ccdf", comparison)
    samples = comparison.mptcp.rtt.filter(direction="down", subflow=1)["rtt_ms"].to_numpy()
    value, above = line(figure, "lte").get_data()
    # Bins are at most half a percent wide.
    exact = [np.mean(samples >= one) for one in value]
    assert np.allclose(above, exact, atol=1e-12)
    cdf = line(lab.figure("rtt-cdf", comparison), "lte").get_data()[1]
    assert np.allclose(above + cdf, 1)


# Black and what paths leave for MPTCP; plain TCP has its path's, as on pages.
EXPECTED = ("#000000", COLOURS[2], COLOURS[3], COLOURS[0], COLOURS[1])


def test_boxes_are_matplotlibs_own(campaign: Campaign) -> None:
    figure = lab.figure("boxes", campaign)
    assert legend(figure) == [
        *("MPTCP lia", "MPTCP olia", "MPTCP cubic"),
        *("TCP over wifi", "TCP over lte"),
    ]
    axes = chart(figure)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["20 kB", "60 kB"]
    boxes: list[Any] = [one for one in axes.patches if isinstance(one, PathPatch)]
    assert len(boxes) == 2 * 5
    for series, (controller, path) in enumerate(
        [("lia", None), ("olia", None), ("cubic", None), (None, "wifi"), (None, "lte")]
    ):
        for index, size in enumerate(("20 kB", "60 kB")):
            runs = campaign.runs.filter(
                pl.col("controller").eq_missing(pl.lit(controller)),
                pl.col("path").eq_missing(pl.lit(path)),
                size=size,
            )
            (expected,) = cbook.boxplot_stats(runs["elapsed_s"].to_list())
            (edges,) = (
                box.get_path().vertices
                for box in boxes
                if colors.same_color(box.get_edgecolor(), EXPECTED[series])
                and round(box.get_path().vertices[:, 0].mean()) == index
            )
            assert min(edges[:, 1]) == pytest.approx(expected["q1"])
            assert max(edges[:, 1]) == pytest.approx(expected["q3"])
            assert index - 0.5 < min(edges[:, 0]) < max(edges[:, 0]) < index + 0.5
            points = [list(one.get_ydata()) for one in axes.lines if one.get_marker() == "."]
            assert runs["elapsed_s"].to_list() in points
            medians = [set(one.get_ydata()) for one in axes.lines if one.get_color() == "#000000"]
            assert {expected["med"]} in medians
    assert "n = 5 runs each." in figure.caption


@pytest.mark.parametrize("n", [1, 2, 3, 7, 40])
def test_boxes_tell_outliers_apart(n: int) -> None:
    values = list(np.random.default_rng(n).lognormal(sigma=1.5, size=n))
    found = box([*values, None])
    (expected,) = cbook.boxplot_stats(values)
    assert found
    assert (found.n, found.missing) == (n, 1)
    assert (found.low, found.high) == (expected["whislo"], expected["whishi"])
    assert list(found.outliers) == sorted(expected["fliers"])
    # Of many there are some, or nothing would be compared.
    assert found.outliers or n < 40


def test_bars_are_means_with_the_intervals_of_scipy(campaign: Campaign) -> None:
    figure = lab.figure("bars", campaign, value="throughput_mbps", by="size", paths="mptcp")
    axes = chart(figure)
    bars = [one for one in axes.patches if isinstance(one, Rectangle)]
    whiskers = [one.get_segments()[0] for one in axes.collections]
    for bar, whisker, size in zip(bars, whiskers, ("20 kB", "60 kB"), strict=True):
        values = campaign.runs.filter(kind="mptcp", size=size)["throughput_mbps"].to_numpy()
        assert len(values) == 15
        assert bar.get_height() == pytest.approx(values.mean())
        found = stats.t.interval(0.95, 14, loc=values.mean(), scale=stats.sem(values))
        assert whisker[:, 1] == pytest.approx(found)
    assert "Runs of all values of controller are taken together." in figure.caption


def test_plain_tcp_is_said_to_be_of_any_value_only_where_it_is(
    campaign: Campaign, tmp_path: Path
) -> None:
    given = CAMPAIGN.replace('"tcp.congestion_control" = "reno"', "")
    # Over one path LIA and OLIA are Reno; CUBIC has plain TCP of its own.
    own = lab.sweep(written(tmp_path, given, repetitions=1), out=tmp_path / "out", jobs=1)
    for source, last in ((campaign, "any controller"), (own, "other controller")):
        figure = lab.figure("boxes", source, by="controller", where={"size": "60 kB"})
        names = [one.get_text() for one in chart(figure).get_xticklabels()]
        assert names == ["lia", "olia", "cubic", last]


def test_shares_are_of_what_was_delivered(campaign: Campaign) -> None:
    figure = lab.figure("share", campaign, paths="wifi", where={"controller": "lia"})
    bars = [one.get_height() for one in chart(figure).patches if isinstance(one, Rectangle)]
    flows = campaign.table("flows").filter(direction="down").collect()
    paths = campaign.table("subflows").collect().select("run", "subflow", "path")
    own = campaign.runs.filter(kind="mptcp", controller="lia").select("run", "size")
    wifi = flows.join(paths, on=["run", "subflow"]).filter(path="wifi").join(own, on="run")
    means = [np.mean(wifi.filter(size=size)["share"].to_numpy()) for size in ("20 kB", "60 kB")]
    assert bars == pytest.approx([100 * mean for mean in means])


def test_gains_are_over_one_path_for_all_runs(campaign: Campaign) -> None:
    figure = lab.figure("gain", campaign, by=["size", "controller"])
    points = {one.get_label(): one for one in chart(figure).lines if one.get_marker() == "^"}
    ((_, y),) = (one.get_data() for one in points.values() if one.get_xdata()[0] > 0.5)
    runs = campaign.runs.filter(size="60 kB")
    means = [
        np.mean(runs.filter(one)["throughput_mbps"].to_numpy())
        for one in (
            pl.col("controller") == "olia",
            pl.col("path") == "wifi",
            pl.col("path") == "lte",
        )
    ]
    assert y[0] == pytest.approx(100 * (means[0] / max(means[1:]) - 1))


def test_scatter_counts_both_sides(campaign: Campaign) -> None:
    figure = lab.figure("scatter", campaign, paths=["wifi", "mptcp"], where={"size": "60 kB"})
    runs = campaign.runs.filter(size="60 kB")
    wifi = dict(runs.filter(path="wifi").select("pair", "throughput_mbps").iter_rows())
    pairs = {
        (wifi[pair], own)
        for pair, own in runs.filter(kind="mptcp").select("pair", "throughput_mbps").iter_rows()
    }
    drawn = chart(figure).lines[0]
    assert set(zip(*drawn.get_data(), strict=True)) == pairs
    above = sum(own > other for other, own in zip(*drawn.get_data(), strict=True))
    below = sum(own < other for other, own in zip(*drawn.get_data(), strict=True))
    assert above + below > 0
    assert [one.get_text() for one in chart(figure).texts] == [f"{above} above", f"{below} below"]


def test_the_heat_map_holds_means(campaign: Campaign) -> None:
    figure = lab.figure("heat-map", campaign, value="rtt_ms_mean")
    (image,) = chart(figure).images
    for row, controller in enumerate(("lia", "olia", "cubic")):
        for column, size in enumerate(("20 kB", "60 kB")):
            runs = campaign.runs.filter(controller=controller, size=size)
            assert image.get_array()[row, column] == pytest.approx(runs["rtt_ms_mean"].mean())


def test_distributions_of_a_campaign_pool_its_runs(campaign: Campaign) -> None:
    figure = lab.figure("rtt-ccdf", campaign, by="size")
    runs = campaign.runs.filter(kind="mptcp", size="60 kB")["run"]
    bins = (
        campaign.table("distributions")
        .filter(pl.col("subflow").is_null(), quantity="rtt", direction="down")
        .filter(pl.col("run").is_in(runs.implode()))
        .collect()
    )
    value, above = line(figure, "MPTCP 60 kB").get_data()
    counts = [bins.filter(pl.col("from_ms") >= one)["count"].sum() for one in value]
    assert list(above * bins["count"].sum()) == pytest.approx(counts)
    assert len(chart(figure).collections) == 2


def test_the_signal_is_that_of_each_path(comparison: Comparison) -> None:
    figure = lab.figure("signal", comparison)
    # RSRP where it is known, and RSSI only where it is all that is.
    assert legend(figure) == ["lte RSRP", "wifi RSSI"]
    assert list(line(figure, "lte RSRP").get_ydata()) == [-97, -99, -112]
    assert list(line(figure, "lte RSRP").get_xdata()) == [0.5, 1.5, 2.5]
    assert legend(lab.figure("signal-quality", comparison)) == ["lte SINR"]
    assert legend(lab.figure("radio-rate", comparison)) == ["wifi"]


def test_the_track_is_in_metres_and_says_which_path_carried_most(comparison: Comparison) -> None:
    figure = lab.figure("track", comparison)
    # A thousandth of a degree: 111.195 m to the north, half of that to the east at 60°, also
    # across the 180th meridian.
    (track,) = (one for one in chart(figure).lines if one.get_label().startswith("_"))
    assert np.allclose(track.get_xdata(), [0, 55.5975, 111.195], atol=0.01)
    assert np.allclose(track.get_ydata(), [0, 111.195, 111.195], atol=0.01)
    # Wi-Fi is away from second 1 to 2.
    bins = comparison.mptcp.throughput.drop_nulls("subflow").filter(
        pl.col("at_s") < 2.5, direction="down"
    )
    paths = dict(comparison.mptcp.subflows.select("subflow", "path").iter_rows())
    most: dict[str, int] = {}
    for (_,), own in bins.filter(pl.col("bytes") > 0).group_by(pl.col("at_s").floor()):
        best = paths[own.sort("bytes", descending=True)["subflow"][0]]
        most[best] = most.get(best, 0) + 1
    drawn = {name: len(line(figure, name).get_xdata()) for name in legend(figure)}
    assert drawn == most
    assert most["lte"] >= 1


def test_the_track_has_grades_of_signal(comparison: Comparison) -> None:
    figure = lab.figure("track-signal", comparison)
    assert legend(figure) == ["from -100 dBm", "below -110 dBm"]
    assert len(line(figure, "from -100 dBm").get_xdata()) == 2
