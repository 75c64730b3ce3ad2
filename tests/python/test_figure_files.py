"""Figures as files: legible, whole, the same each time, and what becomes of mistakes."""

from __future__ import annotations

import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from figured import annotated
from matplotlib import rc_context

import mptcplab as lab
from campaigns import written
from command import Run
from mptcplab import Error
from mptcplab.charts.paper import groups
from mptcplab.charts.paper.kinds import KINDS
from mptcplab.charts.paper.paper import Paper
from mptcplab.charts.run.charts import CHARTS
from mptcplab.charts.run.track import TRACKS
from mptcplab.results.campaign import Campaign
from mptcplab.results.comparison import Comparison


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    return annotated(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    directory = tmp_path_factory.mktemp("campaign")
    return lab.sweep(written(directory, repetitions=5), out=directory / "small", jobs=1)


def test_the_list_has_what_the_page_draws() -> None:
    """With the same words; lanes alone, as those of events, are no figure."""
    drawn = {**CHARTS, **TRACKS}
    del drawn["events"]
    listed = {kind.name: kind.about for kind in KINDS if kind.name in drawn}
    said = {name: str(one.__doc__).partition("\n")[0].rstrip(".") for name, one in drawn.items()}
    assert listed == said


def kinds_of(of: str) -> list[str]:
    return [kind.name for kind in KINDS if kind.of == of]


def drawn(kind: str, of: str, comparison: Comparison, campaign: Campaign) -> Paper:
    if of == "run":
        return lab.figure(kind, comparison)
    value = "throughput_mbps" if kind == "bars" else None
    return lab.figure(kind, campaign, value=value)


@pytest.mark.parametrize(("kind", "of"), [(one.name, one.of) for one in KINDS])
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
    text, _, last = done.stdout.strip().rpartition("\n\n")
    expected = lab.figure("boxes", campaign, by="controller", where={"size": "60 kB"}).caption
    assert text.replace("\n", " ") == expected
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


@pytest.mark.parametrize(
    ("kind", "most", "complaint"),
    [
        ("boxes", 4, "5 series, but a figure shows at most 4: add --paths mptcp"),
        ("boxes", 2, "add --paths mptcp --where 'size=20 kB'"),
        ("gain", 2, "3 series, but a figure shows at most 2: add --where 'size=20 kB'"),
        (
            "rtt-cdf",
            1,
            "add --where 'size=20 kB' --where controller=lia",
        ),
        ("boxes", 0, "choose fewer (by, paths, value, where)"),
    ],
)
def test_too_many_series_are_refused_with_a_choice_that_fits(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch, kind: str, most: int, complaint: str
) -> None:
    monkeypatch.setattr(groups, "MOST", most)
    with pytest.raises(Error, match=re.escape(complaint)):
        lab.figure(kind, campaign)


def test_without_matplotlib_one_line_says_so(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(Error, match=r"figures need matplotlib: pip install 'mptcplab\[figures\]'"):
        lab.figure("rtt", comparison)
