// A chart over time as a picture, or as numbers.
import { save } from "../page/dom";
import type { Page, Series } from "../page/shape";
import { heightOf, styleFor } from "./option";
import { fileName, HEAD, type Key, type Picture } from "./picture";
import type { Plot } from "./plot";

const WIDTH = 1000;
const SIGNS: Record<string, string> = { circle: "●", rect: "■", triangle: "▲", diamond: "◆", arrow: "▲" };

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
  save(`${fileName(page.name, plot.chart.id)}.csv`, "text/csv", `${lines.join("\n")}\n`);
}

export function pictureOf(plot: Plot, page: Page): Picture {
  const { option } = plot.describe(WIDTH, HEAD);
  return {
    name: fileName(page.name, plot.chart.id),
    title: `${plot.chart.title} · ${page.title}`,
    width: WIDTH,
    height: heightOf(plot.chart) + HEAD,
    option,
    keys: [...keysOf(plot)],
  };
}

function* rows(series: Series, chart: string, page: Page): Iterable<string> {
  const head = [chart, series.name, series.role, series.subflow ?? ""]
    .map((cell) => quoted(String(cell)))
    .join(",");
  for (let index = 0; index < series.x.length; index += 1) {
    const capture = series.capture ? page.captures[series.capture[index] as number] : "";
    yield `${head},${series.x[index]},${series.y[index] ?? ""},${quoted(capture ?? "")},${series.record?.[index] ?? ""}`;
  }
}

function quoted(cell: string): string {
  return /[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function* keysOf(plot: Plot): Iterable<Key> {
  for (const { grid, series } of plot.drawn) {
    if (grid === "lanes" && plot.chart.value !== null) continue;
    const { colour, symbol, dash } = styleFor(series);
    const sign = series.kind === "points" ? (SIGNS[symbol] ?? "+") : dash === "solid" ? "—" : "- -";
    yield { sign, colour, name: series.name };
  }
  for (const { name } of plot.chart.levels) yield { sign: "···", colour: "#59636e", name };
}
