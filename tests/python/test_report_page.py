"""The page of a run in a browser: quiet, right, drawn, and small enough."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from browser import TEXTS, WIDTHS, Shown, column
from playwright.sync_api import Browser

import mptcplab
from mptcplab.results.comparison import Comparison
from requirements import need_tool

REPORT_UI = Path(__file__).parents[2] / "report-ui"
# Blue and vermillion of Okabe and Ito, as the first two subflows have them.
COLOURS = ((0, 114, 178), (213, 94, 0))


@pytest.fixture(scope="module")
def file(lost: Comparison) -> Path:
    return lost.report()


def series(shown: Shown, chart: str) -> list[tuple[str, str, int | None]]:
    """Name, role and subflow of each series of a chart."""
    rows: list[list[Any]] = shown.ask(
        f"page.charts.find((one) => one.id === {chart!r})"
        ".series.map((one) => [one.name, one.role, one.subflow])"
    )
    return [(row[0], row[1], row[2]) for row in rows]


def test_it_is_quiet_and_asks_for_nothing(shown: Shown, file: Path) -> None:
    shown.page.mouse.wheel(0, 5000)
    shown.page.wait_for_timeout(100)
    assert shown.said == []
    assert {url for url in shown.asked if not url.startswith(("data:", "blob:"))} == {file.as_uri()}
    assert file.stat().st_size < 5e6


def test_no_script_but_ours_runs_and_nothing_is_fetched(shown: Shown) -> None:
    """Whatever gets into the page, its policy forbids it."""
    before = len(shown.said)
    shown.page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.intruder = true";
          document.body.append(script);
          fetch("http://127.0.0.1:9/").catch(() => undefined);
        }"""
    )
    shown.page.wait_for_timeout(200)
    assert shown.page.evaluate("window.intruder") is None
    refused = [line for line in shown.said[before:] if "Content Security Policy" in line]
    assert len(refused) >= 2
    del shown.said[before:]


def test_throughput_is_that_of_the_tables(still: Shown, lost: Comparison) -> None:
    """Nine seconds are too few for bins of 1 s; the shorter ones add up to the same bytes."""
    flows = lost.mptcp.flows.filter(direction="down")
    for number, (_, role, subflow) in enumerate(series(still, "throughput")):
        at, mbps = (column(still, "throughput", number, axis) for axis in "xy")
        moved = sum(
            (end - start) * value * 1e6 / 8
            for (start, end), value in zip(itertools.pairwise(at), mbps, strict=False)
        )
        if role == "total":
            assert lost.mptcp.transfer is not None
            expected = lost.mptcp.transfer["bytes"]
        else:
            expected = flows.filter(subflow=subflow)["delivered_bytes"].item()
        assert moved == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("chart", "table", "value", "scale"),
    [
        ("rtt", "rtt", "rtt_ms", 1),
        ("out-of-order-delay", "reordering", "out_of_order_delay_ms", 1),
        ("data-sequence", "segments", "data_offset_bytes", 1e-6),
        ("subflow-sequence", "segments", "subflow_offset_bytes", 1e-6),
        ("in-flight", "window", "in_flight_bytes", 1e-3),
    ],
)
def test_samples_are_those_of_the_tables(
    still: Shown, lost: Comparison, chart: str, table: str, value: str, scale: float
) -> None:
    rows: pl.DataFrame = getattr(lost.mptcp, table).filter(direction="down").drop_nulls(value)
    drawn = set()
    for number, (_, role, subflow) in enumerate(series(still, chart)):
        names = ("x", "y", "record")
        for at, y, record in zip(
            *(column(still, chart, number, name) for name in names), strict=True
        ):
            drawn.add((role, subflow, record, at, round(y, 9)))
    kinds = rows["kind"].to_list() if "kind" in rows.columns else ["new"] * len(rows)
    there = {
        ("data" if kind == "new" else kind, subflow, record, at, round(y * scale, 9))
        for kind, subflow, record, at, y in zip(
            kinds, *(rows[name] for name in ("subflow", "record", "at_s", value)), strict=True
        )
    }
    assert drawn <= there
    thinned = still.ask(f"page.charts.find((one) => one.id === {chart!r}).thinned")
    if thinned is None:
        assert drawn == there
    else:
        assert f"of {len(rows):,} samples".replace(",", "\u202f") in thinned
        assert thinned in still.page.inner_text(f"#{chart}")
        by_value = sorted(there, key=lambda one: one[-1])
        assert {by_value[0][-1], by_value[-1][-1]} <= {one[-1] for one in drawn}
        assert {one for one in there if one[0] != "data"} <= drawn


def test_plain_tcp_stands_beside_mptcp_over_time(still: Shown, lost: Comparison) -> None:
    """Dashed in its path's colour; its bytes are those of its own run."""
    named = {name: (number, role) for number, (name, role, _) in enumerate(series(still, "beside"))}
    assert named.pop("MPTCP") == (0, "total")
    for path, run in lost.baselines.items():
        number, role = named.pop(f"TCP over {path}")
        assert role == "baseline"
        at, mbps = (column(still, "beside", number, axis) for axis in "xy")
        steps = zip(itertools.pairwise(at), mbps, strict=False)
        moved = sum((end - start) * value * 1e6 / 8 for (start, end), value in steps)
        assert run.transfer is not None
        assert moved == pytest.approx(run.transfer["bytes"], rel=1e-9)
    assert not named
    styles = still.ask(
        "plots.find((one) => one.chart.id === 'beside').drawn.map(({ style }) => "
        "[style.colour, String(style.dash)])"
    )
    assert styles[1:] == [["#0072b2", "6,3"], ["#d55e00", "6,3"]]
    assert styles[0][1] == "solid"


def test_verdict_and_throughput_are_seen_at_once(tab: Shown, file: Path) -> None:
    tab.show(file, 1366, height=768)
    ends = "(one) => one.getBoundingClientRect().bottom"
    assert tab.page.locator("header .verdict").first.evaluate(ends) < 768
    assert tab.page.locator("#throughput .plot").evaluate(ends) <= 768


def test_contents_lead_to_every_part(shown: Shown) -> None:
    links = shown.page.locator("nav a")
    parts = [str(link.get_attribute("href")) for link in links.all()]
    assert [part for part in parts if not shown.page.locator(part).count()] == []
    figures = shown.page.locator("figure, section[id]").evaluate_all(
        "(all) => all.map(({ id }) => `#${id}`)"
    )
    assert sorted(parts) == sorted(figures)
    before = shown.page.url
    links.last.click()
    assert shown.page.locator("#provenance h2").evaluate(
        "(one) => one.getBoundingClientRect().top < innerHeight"
    )
    assert shown.page.url == before


def test_marks_are_all_there(still: Shown, lost: Comparison) -> None:
    events = lost.mptcp.events.filter(direction="down")
    lanes: list[list[Any]] = still.ask(
        "page.charts[0].lanes.flatMap((lane) => lane.series.map((one) => "
        "[one.role, one.subflow, Array.from(one.record ?? [])]))"
    )
    for event in ("retransmission", "reinjection", "timeout"):
        there = events.filter(event=event)
        assert len(there)
        drawn = {
            (subflow, record)
            for role, subflow, records in lanes
            if role == event
            for record in records
        }
        assert drawn == set(there.select("subflow", "record").iter_rows())


def test_the_best_single_path_and_the_outage_are_marked(still: Shown, lost: Comparison) -> None:
    assert lost.best_path is not None
    best = lost.baselines[lost.best_path].throughput_mbps
    assert still.ask("page.charts[0].levels.map((one) => one.y)") == [best]
    timeline = [one for one in still.ask("page.moments") if not one.pop("found")]
    assert timeline == [{"text": "wifi: blackout", "at_s": 4.0, "to_s": 6.0}]
    assert "wifi: blackout" in {text[0] for text in still.ask(TEXTS)[0]}
    legend = still.page.inner_text("#throughput .legend")
    assert f"TCP over {lost.best_path}: {best:.1f} Mbit/s" in legend


def test_numbers_beside_axes_are_written_as_in_tables(still: Shown) -> None:
    texts = {text[0] for chart in still.ask(TEXTS) for text in chart}
    assert "4\u202f000" in texts
    assert not [text for text in texts if "," in text]


def called(module: str, call: str) -> Any:
    """What a function of the page's script gives."""
    need_tool("node")
    build = (
        f'require("esbuild").buildSync({{ entryPoints: ["src/{module}.ts"], bundle: true,'
        ' write: false, format: "cjs" }).outputFiles[0].text'
    )
    # Colours ask for the scheme as they are read.
    scheme = "globalThis.window = { matchMedia: () => ({ addEventListener() {} }) }"
    code = f"{scheme}; eval({build}); process.stdout.write(JSON.stringify(module.exports.{call}))"
    command = ["node", "--input-type=commonjs", "-e", code]
    done = subprocess.run(command, cwd=REPORT_UI, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *((0.1 + 0.2, "0.3"), (10.25, "10.25"), (100.4, "100.4"), (-12500, "-12\u202f500")),
        *((1e-5, "0.00001"), (2e-7, "2e-7"), (3e6, "3e6"), (1e-16, "0")),
    ],
)
def test_ticks_keep_all_their_digits(value: float, shown: str) -> None:
    """Those of a narrow range differ in later digits than three."""
    assert called("page/text", f"tick({value!r})") == shown


@pytest.mark.parametrize(("low", "high"), [(5.1, 5.33), (0.2, 70.0), (2.0, 2.0)])
def test_a_logarithmic_axis_is_as_long_as_its_values_need(low: float, high: float) -> None:
    scale = called("campaign/scale", f"logarithmic({low}, {high})")
    least, most = math.log10(low), math.log10(high)
    assert scale["min"] < least <= most < scale["max"]
    if high > low:
        assert most - least > 0.8 * (scale["max"] - scale["min"])
    assert len(scale["ticks"]) >= 2
    assert all(scale["min"] <= tick <= scale["max"] for tick in scale["ticks"])


@pytest.mark.parametrize(("width", "left"), [(1320, 176.5), (340, 92)])
def test_names_of_lanes_have_room_on_wide_pages(width: int, left: float) -> None:
    lanes = "[{ lanes: [{ name: 'slower than a single path' }] }, { lanes: [] }]"
    assert called("chart/option", f"leftOf({{ charts: {lanes} }}, {width})") == left


def test_charts_are_drawn_in_their_colours(still: Shown) -> None:
    counts: list[list[int]] = still.ask(
        f"""plots.map((plot) => {{
          const canvas = plot.root.querySelector("canvas");
          const {{ width, height }} = canvas;
          const {{ data }} = canvas.getContext("2d").getImageData(0, 0, width, height);
          return {[list(colour) for colour in COLOURS]}.map(([red, green, blue]) => {{
            let count = 0;
            for (let index = 0; index < data.length; index += 4)
              if (Math.abs(data[index] - red) + Math.abs(data[index + 1] - green)
                + Math.abs(data[index + 2] - blue) < 24) count += 1;
            return count;
          }});
        }})"""
    )
    ids = still.ask("page.charts.map((one) => one.id)")
    assert {"throughput", "events", "rtt", "congestion-window", "window", "queues"} < set(ids)
    for name, (wifi, lte) in zip(ids, counts, strict=True):
        assert wifi + lte > 20, f"{name} is empty"
    looks = "page.subflows.map(({ name, look }) => [name, look])"
    assert still.ask(looks) == [["wifi", 0], ["lte", 1]]
    assert all(least > 100 for least in counts[ids.index("throughput")])


def test_curves_keep_the_extremes_of_every_pixel(still: Shown) -> None:
    """As drawn, against the whole series, in columns of one pixel."""
    wrong = still.ask(
        """(() => {
          const plot = plots.find((one) => one.chart.id === "in-flight");
          const width = plot.root.clientWidth - 112;
          const length = view.span.to - view.span.from;
          const extremes = (points) => {
            const found = new Map();
            for (const [x, y] of points) {
              const pixel = Math.floor(((x - view.span.from) * width) / length);
              const [least, most] = found.get(pixel) ?? [y, y];
              found.set(pixel, [Math.min(least, y), Math.max(most, y)]);
            }
            return found;
          };
          let thinned = 0;
          for (const { series, slice } of plot.drawn) {
            thinned += slice.thinned;
            const all = extremes(Array.from(series.x, (x, index) => [x, series.y[index]]));
            const drawn = extremes(Array.from(slice.numbers, (_, index) =>
              [slice.points[2 * index], slice.points[2 * index + 1]]));
            for (const [pixel, [least, most]] of all) {
              const [drawnLeast, drawnMost] = drawn.get(pixel) ?? [];
              if (drawnLeast !== least || drawnMost !== most) return `pixel ${pixel}`;
            }
          }
          return thinned ? null : "nothing was thinned";
        })()"""
    )
    assert wrong is None


def test_every_chart_says_how_it_is_computed(shown: Shown) -> None:
    columns = {
        f"{table}.{column}"
        for table, _, described in mptcplab._core.columns()
        for column, *_ in described
    }
    for figure in shown.page.locator("figure").all():
        figure.locator("summary").click()
        named = {code.inner_text() for code in figure.locator("dt code").all()}
        assert named
        assert named <= columns


def test_many_samples(
    browser: Browser, tmp_path: Path, record_property: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """More than 100 000 samples stay small; how long drawing takes is told, not asserted."""
    comparison = mptcplab.run("path-lost", out=tmp_path / "many", baselines=False)
    tables = ("segments", "rtt", "reordering", "window")
    samples = sum(len(getattr(comparison.mptcp, table)) for table in tables)
    assert samples > 100_000
    file = comparison.report()
    assert file.stat().st_size < 5e6
    shown = Shown(browser, file, WIDTHS[0])
    milliseconds = shown.page.evaluate("mptcplab.drawnAfterMs")
    assert math.isfinite(milliseconds)
    held = shown.ask(
        "page.charts.flatMap((one) => one.series).reduce((n, one) => n + one.x.length, 0)"
    )
    record_property("milliseconds_to_draw", milliseconds)
    with capsys.disabled():
        print(
            f"\n{samples} samples, {held} in the page of {file.stat().st_size / 1e6:.1f} MB, "
            f"drawn {milliseconds:.0f} ms after it was opened"
        )
    shown.close()
