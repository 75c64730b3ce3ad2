"""Figures for papers: what is drawn is what the tables say, in files that a publisher takes."""

from __future__ import annotations

import re
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib import cbook, colors, rc_context
from matplotlib.patches import PathPatch, Rectangle
from scipy import stats

import mptcplab as lab
from campaigns import CAMPAIGN, written
from command import Run
from mptcplab import Error
from mptcplab.api.pages import figure_kinds
from mptcplab.charts.paper.paper import COLOURS, Paper
from mptcplab.charts.run.charts import CHARTS
from mptcplab.results.campaign import Campaign
from mptcplab.results.comparison import Comparison, open_comparison
from mptcplab.results.statistics import box

PATH_LOST = ["transfer.duration=3s", "timeline.0.at=1s", "timeline.1.at=2s"]

RADIO = """\
time,path,technology,rsrp_dbm,rssi_dbm,sinr_db,down_mbps
2026-11-25T12:00:00.5Z,lte,lte,-97,-70,11,
2026-11-25T12:00:01.5Z,lte,lte,-99,-71,9,
2026-11-25T12:00:02.5Z,lte,lte,-112,-80,-2,
2026-11-25T12:00:00.5Z,wifi,wifi,,-55,,54
"""
GPX = """\
<gpx version="1.1"><trk><trkseg>
<trkpt lat="60" lon="179.999"><time>2026-11-25T12:00:00.5Z</time></trkpt>
<trkpt lat="60.001" lon="-180"><time>2026-11-25T12:00:01.5Z</time></trkpt>
<trkpt lat="60.001" lon="-179.999"><time>2026-11-25T12:00:02.5Z</time></trkpt>
</trkseg></trk></gpx>
"""


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    directory = tmp_path_factory.mktemp("runs")
    lab.run("path-lost", out=directory / "lost", settings=PATH_LOST)
    (directory / "radio.csv").write_text(RADIO)
    (directory / "drive.gpx").write_text(GPX)
    radio, positions = directory / "radio.csv", directory / "drive.gpx"
    began = "2026-11-25T12:00:00Z"
    lab.annotate(directory / "lost", radio=radio, positions=positions, began=began)
    return open_comparison(directory / "lost")


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


def kinds_of(of: str) -> list[str]:
    return [kind.name for kind in figure_kinds() if kind.of == of]


def drawn(kind: str, of: str, comparison: Comparison, campaign: Campaign) -> Paper:
    if of == "run":
        return lab.figure(kind, comparison)
    value = "throughput_mbps" if kind == "bars" else None
    return lab.figure(kind, campaign, value=value)


@pytest.mark.parametrize(("kind", "of"), [(one.name, one.of) for one in figure_kinds()])
def test_nothing_is_cut_off_and_no_name_covers_another(
    comparison: Comparison, campaign: Campaign, kind: str, of: str
) -> None:
    figure = drawn(kind, of, comparison, campaign)
    figure.draw_without_rendering()
    page = figure.bbox

    texts = [*figure.texts, *(one for legend in figure.legends for one in legend.get_texts())]
    for axes in figure.axes:
        texts += [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            # Ticks beyond the ends are there, but not drawn.
            shown = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
            texts += [one for tick in shown for one in (tick.label1, tick.label2)]
    boxes = [
        (one.get_text(), figure.extent(one))
        for one in texts
        if one.get_visible() and one.get_text()
    ]
    assert len(boxes) > 6
    for number, (name, extent) in enumerate(boxes):
        assert extent.x0 >= page.x0 - 1, name
        assert extent.x1 <= page.x1 + 1, name
        assert extent.y0 >= page.y0 - 1, name
        assert extent.y1 <= page.y1 + 1, name
        for other, beside in boxes[number + 1 :]:
            across = min(extent.x1, beside.x1) - max(extent.x0, beside.x0)
            up = min(extent.y1, beside.y1) - max(extent.y0, beside.y0)
            assert across <= 1 or up <= 1, (name, other)


def fonts(pdf: bytes) -> list[bytes]:
    """The dictionaries of a PDF that are of fonts."""
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    packed = [one for one in streams if one[:1] == b"x"]
    texts = [pdf, *(zlib.decompressobj().decompress(one) for one in packed)]
    return [one for each in texts for one in re.findall(rb"<<[^<>]*/Type /Font[ /][^<>]*>>", each)]


def test_fonts_are_in_the_file(comparison: Comparison, tmp_path: Path) -> None:
    file = tmp_path / "figure.pdf"
    lab.figure("throughput", comparison, file)
    pdf = file.read_bytes()
    kinds = {kind for font in fonts(pdf) for kind in re.findall(rb"/Subtype /(\w+)", font)}
    assert kinds <= {b"Type0", b"CIDFontType2", b"TrueType"}
    assert kinds
    assert b"/FontFile2" in pdf
    assert b"/Subtype /Image" not in pdf
    assert re.search(rb"/MediaBox \[ 0 0 244\.8 158\.4 \]", pdf)
    svg = tmp_path / "figure.svg"
    lab.figure("throughput", comparison, svg)
    # Outlines: no font is asked for, and nothing is fetched.
    assert "<text" not in svg.read_text()
    assert "<image" not in svg.read_text()


@pytest.mark.parametrize("form", ["pdf", "svg", "png"])
def test_the_same_tables_give_the_same_bytes(
    campaign: Campaign, tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / f"{number}.{form}" for number in range(3)]
    lab.figure("boxes", campaign, files[0])
    # Neither a style of the user's nor another process makes a difference.
    with rc_context(
        {"font.size": 20, "pdf.fonttype": 3, "lines.linewidth": 9, "svg.hashsalt": "x"}
    ):
        lab.figure("boxes", campaign, files[1])
    command = [sys.executable, "-m", "mptcplab", "figure", "boxes", str(campaign.directory)]
    subprocess.run([*command, "--out", str(files[2])], check=True, capture_output=True)
    assert len({file.read_bytes() for file in files}) == 1


def test_the_command_prints_a_caption(mptcplab: Run, campaign: Campaign, tmp_path: Path) -> None:
    file = tmp_path / "new" / "figure.svg"
    asked = ("--by", "controller", "--where", "size=60 kB", "--size", "9x5cm", "--title", "Hello")
    done = mptcplab("figure", "boxes", campaign.directory, "--out", file, *asked)
    assert done.returncode == 0, done.stderr
    words, _, last = done.stdout.strip().rpartition("\n\n")
    expected = lab.figure("boxes", campaign, by="controller", where={"size": "60 kB"}).caption
    assert words.replace("\n", " ") == expected
    assert last == f"{file} shows it"
    width = 9 / 2.54 * 72
    assert float(re.findall(r'<svg .*?width="([\d.]+)pt"', file.read_text(), re.DOTALL)[0]) == (
        pytest.approx(width, abs=0.01)
    )


def test_all_kinds_are_listed(mptcplab: Run) -> None:
    done = mptcplab("figure", "--list")
    assert done.returncode == 0
    names = re.findall(r"^  ([a-z-]+)  ", done.stdout, re.MULTILINE)
    assert names == [*kinds_of("run"), *kinds_of("campaign")]
    # What the page draws over time is a figure, too; lanes alone are none.
    assert set(CHARTS) - {"events"} <= set(kinds_of("run"))


def test_captures_have_figures_too(mptcplab: Run, download: list[str], tmp_path: Path) -> None:
    file = tmp_path / "figure.pdf"
    done = mptcplab("figure", "rtt", Path(download[0]).parent, "--out", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert file.exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["nothing", "runs"],
            "there is no figure 'nothing' of a run; known: beside, congestion-window, ",
        ),
        (["rt", "runs"], "there is no figure 'rt' of a run; did you mean rtt?"),
        (["boxes", "runs"], "boxes is a figure of a campaign, and this is a run"),
        (["rtt", "small"], "rtt is a figure of a run, and this is a campaign"),
        (["rtt", "runs", "--out", "x.eps"], "x.eps must end in one of .pdf, .svg, .png"),
        (["rtt", "runs", "--out", "there.pdf"], "cannot write there.pdf: Is a directory"),
        (["rtt", "runs", "--connection", "3"], "there is no connection 3, only 0 to 0"),
        (["rtt", "runs", "--by", "size"], "rtt of a run heeds no by, only connection"),
        (["throughput", "runs", "--size", "1x1in"], "1 by 1 inches are too small for it"),
        (["rtt", "runs", "--size", "99in"], "argument --size: '99in' is not a size such as"),
        (["boxes", "small", "--by", "place"], "campaign has no axis place; its axes: size, contr"),
        (
            ["boxes", "small", "--where", "size=1"],
            "axis size has no value '1': there are 20 kB, 60",
        ),
        (["boxes", "small", "--where", "size"], "argument --where: 'size' is not AXIS=VALUE"),
        (["boxes", "small", "--value", "speed"], "runs have no figure 'speed'; they have through"),
        (["boxes", "small", "--paths", "5g"], "campaign has no path '5g': there are mptcp, wifi"),
        (["bars", "small"], "small: no run that finished has coefficient_of_variation"),
        (["gain", "nowhere"], "nowhere: no such file or directory"),
        (["gain", "empty"], "empty holds no runs, no campaign and no captures"),
    ],
)
def test_mistakes_get_one_line(
    mptcplab: Run,
    comparison: Comparison,
    campaign: Campaign,
    tmp_path: Path,
    arguments: list[str],
    complaint: str,
) -> None:
    (tmp_path / "runs").symlink_to(comparison.directory)
    (tmp_path / "small").symlink_to(campaign.directory)
    (tmp_path / "empty").mkdir()
    (tmp_path / "there.pdf").mkdir()
    before = sorted(tmp_path.iterdir())
    out = [] if "--out" in arguments else ["--out", "figure.pdf"]
    done = mptcplab("figure", *arguments, *out, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert complaint in done.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_without_matplotlib_one_line_says_so(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(Error, match=r"figures need matplotlib: pip install 'mptcplab\[figures\]'"):
        lab.figure("rtt", comparison)
