// A chart as a picture that explains itself, or as numbers.
import { save } from "../page/dom";
import type { Page, Series } from "../page/shape";
import { onPaper } from "../page/theme";
import { init, type Option } from "./echarts";
import { heightOf, styleFor } from "./option";
import type { Plot } from "./plot";

const WIDTH = 1000;
const HEAD = 48;
const SIGNS: Record<string, string> = { circle: "●", rect: "■", triangle: "▲", diamond: "◆", arrow: "▲" };

export function savePng(plot: Plot, page: Page): void {
  const place = document.createElement("div");
  const [height, option] = picture(plot, page);
  const chart = init(place, null, { renderer: "canvas", width: WIDTH, height, devicePixelRatio: 2 });
  chart.setOption(option);
  const canvas = chart.renderToCanvas({ pixelRatio: 2, backgroundColor: "#ffffff" });
  chart.dispose();
  canvas.toBlob((blob) => blob && save(`${name(plot, page)}.png`, "image/png", blob));
}

export function saveSvg(plot: Plot, page: Page): void {
  const [height, option] = picture(plot, page);
  const chart = init(null, null, { renderer: "svg", ssr: true, width: WIDTH, height });
  chart.setOption(option);
  save(`${name(plot, page)}.svg`, "image/svg+xml", chart.renderToSVGString());
  chart.dispose();
}

// Every point that the page holds of the chart, whatever is shown.
export function saveCsv(plot: Plot, page: Page): void {
  const { chart } = plot;
  const value = chart.value === null ? "" : `${chart.title} (${chart.value})`;
  const lines = [
    ["chart", "series", "kind", "subflow", "at_s", value || "value", "capture", "record"]
      .map(quoted)
      .join(","),
  ];
  for (const series of chart.series) lines.push(...rows(series, chart.title, page));
  for (const lane of chart.lanes)
    for (const series of lane.series) lines.push(...rows(series, lane.name, page));
  save(`${name(plot, page)}.csv`, "text/csv", `${lines.join("\n")}\n`);
}

function* rows(series: Series, chart: string, page: Page): Iterable<string> {
  const head = [chart, series.name, series.role, series.subflow ?? ""]
    .map((cell) => quoted(String(cell)))
    .join(",");
  for (let place = 0; place < series.x.length; place += 1) {
    const capture = series.capture ? page.captures[series.capture[place] as number] : "";
    yield `${head},${series.x[place]},${series.y[place] ?? ""},${quoted(capture ?? "")},${series.record?.[place] ?? ""}`;
  }
}

function quoted(cell: string): string {
  return /[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function name(plot: Plot, page: Page): string {
  return `${page.title}-${plot.chart.id}`.replaceAll(/[^\w.-]+/g, "-");
}

function picture(plot: Plot, page: Page): [number, Option] {
  return onPaper(() => onWhite(plot, page));
}

function onWhite(plot: Plot, page: Page): [number, Option] {
  const { option } = plot.describe(WIDTH, HEAD);
  const rich: Record<string, object> = {};
  const names = plot.drawn
    .filter(({ grid }) => grid === "values" || plot.chart.value === null)
    .map(({ series }, place) => {
      const { colour, symbol, dash } = styleFor(series);
      rich[`s${place}`] = { color: colour, fontWeight: "bold" };
      const sign = series.kind === "points" ? (SIGNS[symbol] ?? "+") : dash === "solid" ? "—" : "- -";
      return `{s${place}|${sign}} ${series.name}`;
    });
  names.push(...plot.chart.levels.map((level) => `··· ${level.name}`));
  const title = {
    text: `${plot.chart.title} · ${page.title}`,
    subtext: names.join("   "),
    left: 16,
    top: 6,
    textStyle: { fontSize: 15, color: "#1b1f24" },
    subtextStyle: { fontSize: 12, color: "#59636e", rich },
  };
  return [heightOf(plot.chart) + HEAD, { ...option, title, backgroundColor: "#ffffff" }];
}
