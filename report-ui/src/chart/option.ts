// A chart of the page in ECharts' terms: a curve or points per series above, lanes of marks below, on one time.
import type { Chart, Page, Series } from "../page/shape";
import { tick } from "../page/text";
import { type Style, styleOf, styleOfPlain, theme } from "../page/theme";
import type { View } from "../run/view";
import type { Option } from "./echarts";
import { drawn as shapes, rect } from "./shapes";
import { extent, type Slice, slice } from "./slice";

// A series as it is drawn, in which of the two grids.
export interface Drawn {
  series: Series;
  slice: Slice;
  grid: "values" | "lanes";
  style: Style;
  size: number;
  // Of those that lie on each other, from the lowest.
  layer: number;
}

export interface Described {
  option: Option;
  drawn: Drawn[];
}

// What is left of times: more on wide pages, where names of lanes need it.
const LEFT = 92;
const LONGEST = 190;
const ROOMY = 900;
// Pixels of a letter of a name, and beside it.
const LETTER = 6.5;
const BESIDE = 14;
const RIGHT = 20;
const TOP = 30;
const BOTTOM = 44;
const VALUES = 210;
const LANE = 18;
const GAP = 12;
const BAR = 10;
// More points than this are drawn as one shape.
const MANY = 2000;
const FONT = 12;
const TICKS = 10;
export const LEVEL_DASH = [2, 4];

const MARKS: Partial<Record<Series["role"], { symbol: string; size: number }>> = {
  retransmission: { symbol: "triangle", size: 8 },
  reinjection: { symbol: "diamond", size: 10 },
  timeout: { symbol: "arrow", size: 9 },
};

// The same for all charts, so that their times stand below each other.
export function leftOf(page: Page, width: number): number {
  const letters = page.charts.flatMap((chart) => chart.lanes.map((lane) => lane.name.length));
  if (width < ROOMY) return LEFT;
  return Math.min(Math.max(LEFT, BESIDE + LETTER * Math.max(0, ...letters)), LONGEST);
}

export function heightOf(chart: Chart): number {
  const lanes = chart.lanes.length * LANE;
  if (chart.value === null) return 8 + lanes + BOTTOM;
  return TOP + VALUES + (lanes ? GAP + lanes : 0) + BOTTOM;
}

// `above` is room for what an exported picture says about itself.
export function describe(chart: Chart, view: View, page: Page, width: number, above = 0): Described {
  const left = leftOf(page, width);
  const inner = width - left - RIGHT;
  const drawn: Drawn[] = [];
  for (const series of chart.series)
    if (view.shows(series.subflow)) drawn.push(drawValues(series, view, inner));
  const seen = extent(
    drawn.map((one) => one.slice),
    view.span,
  );
  layer(drawn);
  chart.lanes.forEach((lane, row) => {
    for (const series of lane.series)
      if (view.shows(series.subflow)) drawn.push(drawLane(series, row, view, inner));
  });
  const grids = gridsOf(chart, left, above);
  return { drawn, option: optionOf(chart, view, page, drawn, grids, rangeOf(chart, seen)) };
}

// Where subflows share a place, the one with fewer points lies on the others and is smaller, so that all are seen.
function layer(drawn: Drawn[]): void {
  const points = drawn.filter(({ series }) => series.kind === "points" && series.role === "data");
  points.sort((one, other) => other.slice.numbers.length - one.slice.numbers.length);
  points.forEach((one, index) => {
    one.layer = index;
    if (points.length > 1) one.size = Math.max(6 - 2.5 * index, 1.5);
  });
}

export function styleFor(series: Series): Style & { size: number } {
  const style = styleOf(series.look);
  const mark = MARKS[series.role];
  if (mark) return { ...style, ...mark };
  if (series.role === "baseline") return { ...styleOfPlain(series.look ?? 0, 0), size: 4 };
  if (series.role === "limit") return { ...style, dash: [2, 3], size: 4 };
  return { ...style, size: 4 };
}

function drawValues(series: Series, view: View, width: number): Drawn {
  const { size, ...style } = styleFor(series);
  return { series, slice: slice(series, view.span, width), grid: "values", style, size, layer: 0 };
}

function drawLane(series: Series, row: number, view: View, width: number): Drawn {
  const { size, ...style } = styleFor(series);
  const cut = slice(series, view.span, width);
  for (let index = 1; index < cut.points.length; index += 2) cut.points[index] = row;
  return { series, slice: cut, grid: "lanes", style, size: Math.max(size, 8), layer: 0 };
}

interface Grids {
  left: number;
  names: ("values" | "lanes")[];
  boxes: object[];
}

function gridsOf(chart: Chart, left: number, above: number): Grids {
  const names: Grids["names"] = [];
  const boxes: object[] = [];
  const common = { left, right: RIGHT };
  if (chart.value !== null) {
    names.push("values");
    boxes.push({ ...common, top: above + TOP, height: VALUES });
  }
  if (chart.lanes.length) {
    const top = above + (chart.value === null ? 8 : TOP + VALUES + GAP);
    names.push("lanes");
    boxes.push({ ...common, top, height: chart.lanes.length * LANE });
  }
  return { left, names, boxes };
}

function optionOf(chart: Chart, view: View, page: Page, drawn: Drawn[], grids: Grids, range: Range): Option {
  const { text, faint, line } = theme();
  const label = { color: faint, fontSize: FONT };
  const last = grids.names.length - 1;
  const step = niceStep(view.span.to - view.span.from);
  return {
    animation: false,
    aria: { enabled: true, label: { description: ariaOf(chart, drawn, view) } },
    grid: grids.boxes,
    xAxis: grids.names.map((_, number) => ({
      type: "value",
      gridIndex: number,
      min: view.span.from,
      max: view.span.to,
      axisLine: { show: number === last, lineStyle: { color: faint }, onZero: false },
      axisTick: { show: number === last, lineStyle: { color: faint } },
      interval: step,
      axisLabel: {
        ...label,
        show: number === last,
        hideOverlap: true,
        showMinLabel: isMultiple(view.span.from, step),
        showMaxLabel: isMultiple(view.span.to, step),
        formatter: (at: number) => at.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9))),
      },
      splitLine: { lineStyle: { color: line } },
      name: number === last ? page.time : "",
      nameLocation: "middle",
      nameGap: 26,
      nameTextStyle: label,
    })),
    yAxis: grids.names.map((name, number) =>
      name === "values"
        ? {
            type: "value",
            gridIndex: number,
            ...range,
            axisLabel: { ...label, hideOverlap: true, formatter: tick },
            splitLine: { lineStyle: { color: line } },
            name: chart.value,
            nameLocation: "end",
            nameGap: 12,
            nameTextStyle: { ...label, align: "right", padding: [0, 8, 0, 0] },
          }
        : {
            type: "category",
            gridIndex: number,
            inverse: true,
            data: chart.lanes.map((lane) => lane.name),
            axisLine: { show: false },
            axisTick: { show: false },
            axisLabel: { ...label, interval: 0, width: grids.left - BESIDE, overflow: "truncate" },
            splitLine: { show: true, interval: 0, lineStyle: { color: line } },
          },
    ),
    series: [
      ...barsOf(chart, view, grids),
      ...drawn.map((one) => seriesOf(one, grids)),
      ...grids.names.map((name, number) => backOf(chart, view, page, name, number, text)),
    ],
  };
}

function seriesOf({ series, slice: cut, grid, style, size, layer }: Drawn, grids: Grids): object {
  const index = grids.names.indexOf(grid);
  const common = {
    name: series.name,
    data: cut.points,
    dimensions: ["x", "y"],
    xAxisIndex: index,
    yAxisIndex: index,
    silent: true,
    clip: true,
  };
  if (series.kind === "points" || grid === "lanes") {
    const several = cut.numbers.length > MANY;
    return {
      ...common,
      type: "scatter",
      symbol: style.symbol,
      symbolSize: several && series.role === "data" ? Math.max(size - 1, 1.5) : size,
      itemStyle: { color: style.colour, opacity: 1 },
      large: several,
      largeThreshold: MANY,
      // All at once: a picture of it must not miss what would come later.
      progressive: 0,
      progressiveThreshold: Number.POSITIVE_INFINITY,
      z: series.role === "data" ? 2 + layer / 100 : 3,
    };
  }
  return {
    ...common,
    type: "line",
    step: series.kind === "step" ? "end" : false,
    showSymbol: false,
    lineStyle: { color: style.colour, width: series.role === "total" ? 2.5 : 1.6, type: style.dash },
    itemStyle: { color: style.colour },
    z: series.role === "total" ? 3 : 2,
  };
}

// What lasted, from its mark to its end, in lanes.
function barsOf(chart: Chart, view: View, grids: Grids): object[] {
  const index = grids.names.indexOf("lanes");
  const { from, to } = view.span;
  const bars: object[] = [];
  chart.lanes.forEach((lane, row) => {
    for (const series of lane.series) {
      const { until, x } = series;
      if (!until || !view.shows(series.subflow)) continue;
      const all = Array.from(x, (begin, number) => [begin, until[number] as number] as [number, number]);
      const seen = all.filter(([begin, end]) => end > begin && begin <= to && end >= from);
      const { colour } = styleFor(series);
      const shape = (
        [begin, end]: [number, number],
        coord: (point: [number, number]) => [number, number],
      ) => {
        const [left, middle] = coord([Math.max(begin, from), row]);
        const [right] = coord([Math.min(end, to), row]);
        return rect([left, middle - BAR / 2], [right, middle + BAR / 2], { fill: colour, opacity: 0.45 });
      };
      bars.push({ ...shapes(seen, shape), xAxisIndex: index, yAxisIndex: index });
    }
  });
  return bars;
}

// What lies behind the data: the timeline of the scenario, spans of findings, and levels to compare with.
function backOf(
  chart: Chart,
  view: View,
  { moments }: Page,
  name: string,
  index: number,
  colour: string,
): object {
  const { shade, found: foundShade } = theme();
  const seen = moments.filter(({ at_s, to_s }) => at_s <= view.span.to && (to_s ?? at_s) >= view.span.from);
  const named = index === 0 && chart.lanes.length > 0 && name === "values";
  const label = { show: named, color: colour, fontSize: FONT, formatter: "{b}" };
  const levels = name === "values" ? chart.levels : [];
  return {
    type: "line",
    data: [],
    xAxisIndex: index,
    yAxisIndex: index,
    silent: true,
    markArea: {
      silent: true,
      itemStyle: { color: shade },
      label: { ...label, position: "insideTop" },
      data: seen
        .filter((moment) => moment.to_s !== null)
        .map(({ text, at_s, to_s, found }) => [
          {
            name: text,
            xAxis: Math.max(at_s, view.span.from),
            // The lanes below name findings.
            ...(found ? { itemStyle: { color: foundShade }, label: { show: false } } : {}),
          },
          { xAxis: Math.min(to_s as number, view.span.to) },
        ]),
    },
    markLine: {
      silent: true,
      symbol: "none",
      lineStyle: { color: colour, type: LEVEL_DASH, width: 1.4 },
      data: [
        ...levels.map((level) => ({ yAxis: level.y, label: { show: false } })),
        ...seen
          .filter((moment) => moment.to_s === null)
          .map(({ text, at_s }) => ({
            name: text,
            xAxis: at_s,
            label: { ...label, position: "insideEndTop", rotate: 0 },
          })),
      ],
    },
  };
}

function ariaOf(chart: Chart, drawn: Drawn[], view: View): string {
  const parts = drawn.map(({ series, slice: cut }) => `${series.name}, ${cut.numbers.length} points`);
  const { from, to } = view.span;
  return `${chart.title} from ${from.toFixed(3)} to ${to.toFixed(3)} seconds: ${parts.join("; ") || "nothing"}.`;
}

// The ends of a span are ticks, too: their labels would stand between others.
function isMultiple(value: number, step: number): boolean {
  return Math.abs(value / step - Math.round(value / step)) < 1e-6;
}

// A round part of a length, of about so many.
export function niceStep(length: number, parts = TICKS): number {
  const power = 10 ** Math.floor(Math.log10(length / parts));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= length / parts) ?? 10);
}

interface Range {
  min: number;
  max: number;
  interval: number;
}

// A range that ends at ticks, with about five of them.
function rangeOf(chart: Chart, [least, most]: [number, number]): Range {
  const top = Math.max(most, ...chart.levels.map((level) => level.y));
  const low = chart.from_zero ? 0 : least;
  if (!(top > low))
    return { min: Number.isFinite(low) ? low : 0, max: (Number.isFinite(low) ? low : 0) + 1, interval: 1 };
  const interval = niceStep(top - low, TICKS / 2);
  return { min: Math.floor(low / interval) * interval, max: Math.ceil(top / interval) * interval, interval };
}
