"""The page of a campaign in a browser: quiet, right, linked to its runs, legible."""

from __future__ import annotations

import csv
import json
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from browser import WIDTHS, Scheme, Shown, assert_apart, violations

import mptcplab
from campaigns import CAMPAIGN, written
from mptcplab.results.campaign import Campaign

REPETITIONS = 7


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """Two sizes by three congestion controls; the larger takes long enough to vary."""
    directory = tmp_path_factory.mktemp("campaign")
    text = CAMPAIGN.replace('"20 kB", "60 kB"', '"60 kB", "30 MB"')
    file = written(directory / "files", text, repetitions=REPETITIONS)
    return mptcplab.sweep(file, out=directory / "small")


@pytest.fixture(scope="module")
def file(campaign: Campaign) -> Path:
    return campaign.report()


def finished(campaign: Campaign, what: dict[str, str], figure: str) -> pl.DataFrame:
    """The finished runs that a row of the page is of, by the table's own words."""
    kind = "mptcp" if what["what"] == "MPTCP" else "tcp"
    path = None if kind == "mptcp" else what["what"].removeprefix("TCP over ")
    rows = campaign.runs.filter(pl.col("finished"), pl.col("path").eq_missing(pl.lit(path)))
    for axis in campaign.axes:
        rows = rows.filter(pl.col(axis).eq_missing(pl.lit(what[axis] or None)))
    return rows.drop_nulls(figure)


def saved(shown: Shown, chart: str, kind: str, directory: Path) -> Path:
    """Take a chart along."""
    with shown.page.expect_download() as download:
        shown.page.click(f"#{chart} button:text-is('{kind}')")
    target = directory / download.value.suggested_filename
    download.value.save_as(target)
    return target


def rows(file: Path) -> list[dict[str, str]]:
    csv.field_size_limit(10**7)
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


def test_it_is_quiet_and_asks_for_nothing(shown: Shown, file: Path) -> None:
    shown.page.mouse.wheel(0, 5000)
    shown.page.wait_for_timeout(100)
    assert shown.said == []
    assert {url for url in shown.asked if not url.startswith(("data:", "blob:"))} == {file.as_uri()}
    assert file.stat().st_size < 5e6


def test_every_number_is_that_of_its_runs(still: Shown, campaign: Campaign, tmp_path: Path) -> None:
    """Recomputed from the campaign's frame, and from the runs that the file names."""
    table = rows(saved(still, "numbers", "CSV", tmp_path))
    kinds = 3 * 2 + 2 * 2
    assert len(table) == kinds * len({row["figure"] for row in table})
    assert len({row["figure"] for row in table}) >= 8
    for row in table:
        there = finished(campaign, row, row["figure"])
        values = there[row["figure"]].cast(pl.Float64).to_numpy()
        assert set(row["runs"].split()) == set(finished(campaign, row, "run")["run"])
        assert int(float(row["n"])) == len(values)
        if not len(values):
            continue
        assert float(row["mean"]) == pytest.approx(values.mean())
        assert float(row["sigma"]) == pytest.approx(values.std(ddof=1))
        assert float(row["median"]) == pytest.approx(np.median(values))
        assert (float(row["minimum"]), float(row["maximum"])) == (values.min(), values.max())
        if row["median_low"]:
            low, high = float(row["median_low"]), float(row["median_high"])
            assert low in values
            assert high in values
            assert low <= np.median(values) <= high


def test_short_times_are_shown_in_milliseconds(tab: Shown, tmp_path: Path) -> None:
    quick = CAMPAIGN.replace('"20 kB", "60 kB"', '"1 kB", "20 kB"')
    campaign = mptcplab.sweep(written(tmp_path, quick, repetitions=2), out=tmp_path / "out")
    tab.show(campaign.report())
    assert tab.page.inner_text("#numbers h3") == "All numbers: Transfer time, ms"
    means = [
        float(text.split(" ± ")[0])
        for text in tab.page.locator("#numbers tbody td:nth-child(6)").all_inner_texts()
    ]
    own = campaign.runs.group_by("kind", "path", *campaign.axes).agg(pl.col("elapsed_s").mean())
    assert sorted(means) == pytest.approx(sorted(own["elapsed_s"] * 1000), rel=0.005)


def test_boxes_are_quartiles_and_points_are_runs(
    still: Shown, campaign: Campaign, tmp_path: Path
) -> None:
    for row in rows(saved(still, "boxes", "CSV", tmp_path)):
        values = finished(campaign, row, "elapsed_s")["elapsed_s"].to_numpy()
        low, high = np.percentile(values, [25, 75])
        assert float(row["quartile_low"]) == pytest.approx(low)
        assert float(row["quartile_high"]) == pytest.approx(high)
        within = values[
            (values >= low - 1.5 * (high - low)) & (values <= high + 1.5 * (high - low))
        ]
        assert float(row["whisker_low"]) == within.min()
        assert float(row["whisker_high"]) == within.max()
    held = dict(
        still.ask(
            """(() => {
              const { run, value } = page.figures.find((one) => one.id === "elapsed_s");
              const hex = (half) => half.toString(16).padStart(8, "0");
              return Array.from(run, (index, at) =>
                [hex(page.runs.key_high[index]) + hex(page.runs.key_low[index]), value[at]]);
            })()"""
        )
    )
    assert held == dict(campaign.runs.filter("finished").select("run", "elapsed_s").iter_rows())


def test_shares_and_gains_are_those_of_the_tables(
    still: Shown, campaign: Campaign, tmp_path: Path
) -> None:
    flows = (
        campaign.table("flows")
        .filter(direction="down")
        .join(campaign.table("subflows"), on=["run", "connection", "subflow"])
        .collect()
    )
    for row in rows(saved(still, "share", "CSV", tmp_path)):
        own = flows.filter(pl.col("run").is_in(row["runs"].split()), path=row["path"])
        mean = float(own["share"].sum()) / int(row["n"])
        assert float(row["estimate"]) == pytest.approx(mean)
        if row["low"]:
            assert float(row["low"]) <= mean <= float(row["high"])
    table = rows(saved(still, "gain", "CSV", tmp_path))
    assert len(table) == 6
    for row in table:
        own = finished(campaign, row, "throughput_mbps")
        plain = campaign.runs.filter(
            pl.col("kind") == "tcp", pl.col("pair").is_in(own["pair"].implode())
        )
        best = (
            plain.group_by("path").agg(pl.col("throughput_mbps").mean()).sort("throughput_mbps")[-1]
        )
        assert row["best_path"] == best["path"].item()
        ratio = own["throughput_mbps"].sum() / own.height / best["throughput_mbps"].item()
        assert float(row["estimate"]) == pytest.approx(ratio - 1)
    for row in rows(saved(still, "variation", "CSV", tmp_path)):
        own = finished(campaign, row, "coefficient_of_variation")
        assert row["what"] == "MPTCP" or row["controller"] == ""
        assert int(row["n"]) == own.height
        mean = float(own["coefficient_of_variation"].sum()) / own.height
        assert float(row["estimate"]) == pytest.approx(mean)


def test_curves_are_those_of_all_samples(still: Shown, campaign: Campaign, tmp_path: Path) -> None:
    bins = (
        campaign.table("distributions")
        .filter(pl.col("subflow").is_null(), direction="down", quantity="rtt")
        .collect()
    )
    table = rows(saved(still, "rtt", "CSV", tmp_path))
    assert len({(row["what"], row["controller"]) for row in table}) == 5
    for row in table:
        own = bins.filter(pl.col("run").is_in(row["runs"].split()))
        above = own.filter(pl.col("from_ms") >= float(row["value_ms"]))["count"].sum()
        part = int(above) / int(own["count"].sum())
        assert float(row["probability"]) == pytest.approx(part)
        assert float(row["low"]) <= float(row["probability"]) <= float(row["high"])


def test_counts_beside_the_line_are_those_of_the_pairs(
    still: Shown, campaign: Campaign, tmp_path: Path
) -> None:
    plain = campaign.runs.filter(kind="tcp").pivot("path", index="pair", values="throughput_mbps")
    more = plain.filter(pl.col("wifi") > pl.col("lte")).height
    legend = still.page.inner_text("#scatter .legend")
    assert f"TCP over wifi faster: {more}\n" in legend
    assert legend.endswith(f"TCP over lte faster: {plain.height - more}")
    table = rows(saved(still, "scatter", "CSV", tmp_path))
    held = sorted(
        (float(row["TCP over wifi Mbit/s"]), float(row["TCP over lte Mbit/s"])) for row in table
    )
    assert held == sorted(plain.select("wifi", "lte").rows())


def test_selectors_turn_all_charts_and_stand_in_the_address(shown: Shown) -> None:
    assert shown.page.inner_text("#boxes h3") == "Transfer time"
    shown.page.select_option("select[name=figure]", "throughput_mbps")
    assert shown.page.inner_text("#boxes h3") == "Throughput"
    assert "Throughput, Mbit/s" in shown.page.inner_text("#numbers h3")
    shown.page.select_option("select[name=figure]", "coefficient_of_variation")
    assert shown.page.inner_text("#boxes h3") == "Coefficient of variation"
    assert shown.ask("plots[2].described.items.some((one) => 'group' in one.target)")
    shown.page.select_option("select[name=figure]", "throughput_mbps")
    shown.page.select_option("select[name=along]", "1")
    assert shown.ask("[view.along, view.split]") == [1, 0]
    shown.page.select_option("select[name=split]", "-1")
    shown.page.select_option("select[name='at-size'] >> visible=true", "0")
    labels = shown.ask(
        "plots[2].described.items.filter((one) => 'group' in one.target).map((one) => one.lines[0])"
    )
    assert all("60 kB" in label for label in labels)
    assert len(labels) == 3 * 3
    shown.page.uncheck("input[name='TCP over lte']")
    shown.open(shown.page.url)
    assert shown.page.input_value("select[name=figure]") == "throughput_mbps"
    assert shown.ask("[view.along, view.split, view.at[0]]") == [1, -1, 0]
    assert not shown.page.is_checked("input[name='TCP over lte']")
    assert shown.page.is_hidden("#heat")
    assert shown.said == []


def test_plain_tcp_stands_beside_what_it_is_compared_with(tab: Shown, tmp_path: Path) -> None:
    # Over one path LIA and OLIA are Reno; CUBIC has plain TCP of its own.
    given = CAMPAIGN.replace('"tcp.congestion_control" = "reno"', "")
    campaign = mptcplab.sweep(written(tmp_path, given, repetitions=1), out=tmp_path / "out")
    tab.show(campaign.report())
    tab.page.select_option("select[name=along]", "1")
    tab.page.select_option("select[name=split]", "-1")
    labels = tab.ask(
        "plots[2].described.items.filter((one) => 'group' in one.target).map((one) => one.lines[0])"
    )
    plain = [label for label in labels if label.startswith("TCP over wifi")]
    assert plain == ["TCP over wifi, 60 kB", "TCP over wifi, 60 kB", "TCP over wifi, 60 kB, cubic"]
    table = [row.inner_text().split("\t")[:3] for row in tab.page.query_selector_all("#numbers tr")]
    wifi = [values for what, *values in table if what.strip() == "TCP over wifi"]
    assert wifi == [["60 kB", "other"], ["60 kB", "cubic"]]


def test_plain_tcp_of_others_does_not_stand_in_for_what_is_to_be(
    tab: Shown, tmp_path: Path
) -> None:
    given = CAMPAIGN.replace('"tcp.congestion_control" = "reno"', "")
    campaign = mptcplab.sweep(written(tmp_path, given, repetitions=1), out=tmp_path / "out")
    own = campaign.plan.filter(kind="tcp", path="wifi", controller="cubic", size="60 kB")
    assert own.height == 1
    # As if the sweep had been interrupted before this run.
    for sums in (campaign.directory / "shards").rglob("sums.json"):
        sums.unlink()
    for file in (campaign.directory / "shards").rglob("*.parquet"):
        rows = pl.read_parquet(file)
        rows.filter(pl.col("run") != own["run"][0]).write_parquet(file)
    campaign = mptcplab.open_campaign(campaign.directory)
    assert campaign.runs.height == campaign.plan.height - 1
    tab.show(campaign.report())
    tab.page.select_option("select[name=along]", "1")
    tab.page.select_option("select[name=split]", "-1")
    labels = tab.ask(
        "plots[2].described.items.filter((one) => 'group' in one.target).map((one) => one.lines[0])"
    )
    plain = [label for label in labels if label.startswith("TCP over wifi")]
    assert plain == ["TCP over wifi, 60 kB", "TCP over wifi, 60 kB"]
    assert sum(label.startswith("TCP over lte") for label in labels) == 3
    assert tab.said == []


def test_mptcp_and_plain_tcp_never_look_alike(still: Shown) -> None:
    """Plain TCP is hollow and dashed in the colour of its path, which MPTCP never has."""
    looks = still.ask(
        """[...document.querySelectorAll(".series label")].map((one) => {
          const drawn = one.querySelector("path");
          const dash = drawn.getAttribute("stroke-dasharray");
          return [one.innerText, drawn.getAttribute("stroke"), dash];
        })"""
    )
    assert [name for name, _, _ in looks] == [
        *("MPTCP lia", "MPTCP olia", "MPTCP cubic"),
        *("TCP over wifi", "TCP over lte"),
    ]
    assert len({tuple(look) for _, *look in looks}) == len(looks)
    assert [dash for _, _, dash in looks] == ["", "", "", "6,3", "6,3"]
    paths = [colour for name, colour, _ in looks if name.startswith("TCP")]
    assert paths == ["#0072b2", "#d55e00"]
    assert not set(paths) & {colour for name, colour, _ in looks if name.startswith("MPTCP")}
    shares = still.page.locator("#share .legend span").evaluate_all(
        "(all) => all.map((one) => one.style.color)"
    )
    assert shares == ["rgb(0, 114, 178)", "rgb(213, 94, 0)"]


def test_no_more_is_drawn_than_can_be_told_apart(shown: Shown) -> None:
    """Six values of MPTCP that paths leave colours for; the others take their place when chosen."""
    shown.page.evaluate(
        """() => {
          const { page, view } = mptcplab;
          const axis = page.axes[1];
          for (let number = axis.values.length; number < 8; number += 1) {
            axis.keys.push(`v${number}`);
            axis.values.push(`v${number}`);
            const copy = { ...page.groups[0], values: [0, number] };
            page.groups.push(copy);
          }
          for (const { summary } of page.figures) {
            for (const [name, known] of Object.entries(summary)) {
              const all = new known.constructor(page.groups.length).fill(known[0]);
              all.set(known);
              summary[name] = all;
            }
          }
          view.change(() => undefined);
        }"""
    )
    boxes = shown.page.locator(".series input")
    checked = [box.get_attribute("name") for box in boxes.all() if box.is_checked()]
    plain = ["TCP over wifi", "TCP over lte"]
    first = ["lia", "olia", "cubic", "v3", "v4", "v5"]
    assert checked == [*(f"MPTCP {one}" for one in first), *plain]
    assert "cannot be told apart" in shown.page.inner_text(".series")
    shown.page.check("input[name='MPTCP v6']")
    checked = [box.get_attribute("name") for box in boxes.all() if box.is_checked()]
    assert checked == [*(f"MPTCP {one}" for one in [*first[1:], "v6"]), *plain]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_axe_finds_nothing(tab: Shown, file: Path, width: int, scheme: Scheme) -> None:
    tab.show(file, width, scheme=scheme)
    assert violations(tab) == []
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width


def test_pictures(shown: Shown, tmp_path: Path) -> None:
    charts = shown.ask("plots.map((plot) => plot.kind.id)")
    assert charts == [
        "gain",
        "heat",
        "boxes",
        "share",
        "rtt",
        "out_of_order_delay",
        "scatter",
        "variation",
    ]
    for chart in charts:
        assert saved(shown, chart, "PNG", tmp_path).read_bytes().startswith(b"\x89PNG")
        root = ET.parse(saved(shown, chart, "SVG", tmp_path)).getroot()
        text = "".join(root.itertext())
        assert shown.page.inner_text(f"#{chart} h3") in text
        assert sum(1 for _ in root.iter("{http://www.w3.org/2000/svg}path")) > 5


def test_a_click_leads_to_the_run(shown: Shown, campaign: Campaign, tmp_path: Path) -> None:
    """And the command that the page gives repeats it, to the last digit."""
    point = shown.ask(
        "(({ left, top }) => ({ left, top }))"
        "(plots[2].marks.filter(({ item }) => 'run' in item.target).at(-1))"
    )
    plot = shown.page.locator("#boxes .plot")
    plot.scroll_into_view_if_needed()
    plot.click(position={"x": point["left"], "y": point["top"]})
    panel = shown.page.locator("aside.panel")
    key = panel.locator("h2").inner_text().removeprefix("Run ")
    row = campaign.runs.filter(run=key).row(0, named=True)
    assert f"seed {row['seed']}" in panel.inner_text()
    codes = [code.inner_text() for code in panel.locator("code").all()]
    assert codes[0] == f"mptcplab report {campaign.directory} --run {key}"
    command = [
        sys.executable,
        "-m",
        *shlex.split(codes[1]),
        "--json",
        "--out",
        str(tmp_path / "again"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    name = "mptcp" if row["path"] is None else f"tcp-{row['path']}"
    assert json.loads(done.stdout)["runs"][name]["throughput_mbps"] == row["throughput_mbps"]
    panel.get_by_role("button", name="show the group of this run").click()
    listed = [one.inner_text().split(" · ") for one in panel.locator(".keys button").all()]
    assert len(listed) == REPETITIONS
    own = campaign.runs.filter(pl.col("run").is_in([key for _, _, key in listed])).sort("seed")
    assert [(f"seed {seed}", key) for seed, key in own.select("seed", "run").iter_rows()] == [
        (seed, key) for seed, _, key in listed
    ]
    assert [float(value.removesuffix(" s")) for _, value, _ in listed] == pytest.approx(
        own["elapsed_s"].to_list(), rel=0.005
    )
    assert row["run"] in own["run"]
    shown.page.keyboard.press("Escape")
    assert panel.is_hidden()


def test_it_works_without_a_mouse(shown: Shown) -> None:
    plot = shown.page.locator("#gain .plot")
    for _ in range(80):
        shown.page.keyboard.press("Tab")
        if plot.evaluate("(one) => one === document.activeElement"):
            break
    else:
        pytest.fail("the chart cannot be reached by Tab")
    shown.page.keyboard.press("]")
    shown.page.keyboard.press("]")
    label = shown.ask("plots[0].marks[1].item.lines[0]")
    assert label in shown.page.inner_text(".reader")
    shown.page.keyboard.press("Enter")
    assert shown.page.inner_text("aside.panel h2") == label
    shown.page.keyboard.press("Escape")
    assert plot.evaluate("(one) => one === document.activeElement")


def test_every_chart_and_control_has_a_name(shown: Shown) -> None:
    nameless = shown.page.evaluate(
        """[...document.querySelectorAll("button, input, select, figure, .plot, [role]")]
          .filter((one) =>
          !(one.getAttribute("aria-label") || one.getAttribute("aria-labelledby") || one.innerText
            || one.labels?.length || one.closest("[hidden]"))).map((one) => one.outerHTML)"""
    )
    assert nameless == []
    for figure in shown.page.locator("figure:visible").all():
        figure.locator("summary").click()
        assert len(figure.locator("details p").inner_text()) > 60


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_overlaps(tab: Shown, file: Path, width: int) -> None:
    tab.show(file, width)
    assert_apart(tab, least=40)
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width


def test_paper_is_white(tab: Shown, file: Path) -> None:
    tab.show(file, scheme="dark")
    back = "getComputedStyle(document.body).backgroundColor"
    assert tab.page.evaluate(back) == "rgb(21, 25, 30)"
    tab.page.emulate_media(media="print", color_scheme="dark")
    assert tab.page.evaluate(back) == "rgb(255, 255, 255)"
    # What tells the series apart, without what switches them.
    assert tab.page.locator(".series label:visible").count() > 1
    assert tab.page.locator("input:visible").count() == 0
    assert tab.page.locator("#numbers td:first-child :visible").count() > 1
    assert tab.page.pdf().startswith(b"%PDF")
    assert tab.said == []
