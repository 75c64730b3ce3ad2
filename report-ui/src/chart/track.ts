// Where the client was: positions in metres, as far across as up, in the colours of subflows or in grades.
import { make, onWidthChange, save } from "../page/dom";
import type { Page, Series, Track } from "../page/shape";
import { CROSS, onThemeChange, type Style, styleOf, theme } from "../page/theme";
import type { View } from "../run/view";
import { type EChartsType, init, type Option } from "./echarts";
import { frameOf } from "./frame";
import { swatchOf } from "./legend";
import { niceStep } from "./option";
import { fileName, HEAD, type Picture, savePng, saveSvg } from "./picture";

const WIDTH = 640;
const HEIGHT = 460;
const BOX = { left: 72, right: 24, top: 16, bottom: 48 };
const FONT = 12;
// From good to bad, on light and on dark ground alike.
const GRADES = ["#0072b2", "#56b4e9", "#009e73", "#e69f00", "#d55e00"];
const SYMBOLS = ["circle", "rect", "diamond", "triangle", CROSS];

export function drawTrack(track: Track, page: Page, view: View, container: HTMLElement): void {
  const root = make("div", { class: "plot", role: "group", "aria-label": labelOf(track) });
  root.style.height = `${HEIGHT}px`;
  const picture = () => pictureOf(track, page, view);
  const takes = {
    PNG: () => savePng(picture),
    SVG: () => saveSvg(picture),
    CSV: () => save(`${fileName(page.name, track.id)}.csv`, "text/csv", csvOf(track)),
  };
  container.append(frameOf({ ...track, thinned: null }, root, () => legendOf(track), takes).figure);
  const echarts: EChartsType = init(root, null, { width: root.clientWidth, height: HEIGHT });
  const draw = () => {
    const width = root.clientWidth;
    if (echarts.getWidth() !== width) echarts.resize({ width, height: HEIGHT });
    echarts.setOption(optionOf(track, view, width, 0), { notMerge: true });
  };
  draw();
  view.follow(draw);
  onThemeChange(draw);
  onWidthChange(root, draw);
}

function optionOf(track: Track, view: View, width: number, above: number): Option {
  const { faint, line } = theme();
  const size = { width: width - BOX.left - BOX.right, height: HEIGHT - BOX.top - BOX.bottom };
  const [east, north] = rangesOf(track, size);
  const axis = ([min, max]: [number, number], name: string, gap: number) => {
    const step = niceStep(max - min, 5);
    const first = Math.ceil(min / step);
    const count = Math.floor(max / step) - first + 1;
    const ticks = Array.from({ length: count }, (_, number) => (first + number) * step);
    return {
      type: "value",
      min,
      max,
      axisLine: { onZero: false, lineStyle: { color: faint } },
      axisTick: { customValues: ticks, lineStyle: { color: faint } },
      axisLabel: {
        color: faint,
        fontSize: FONT,
        customValues: ticks,
        formatter: (at: number) => String(Number(at.toPrecision(6))),
      },
      splitLine: { show: false, lineStyle: { color: line } },
      name,
      nameLocation: "middle",
      nameGap: gap,
      nameTextStyle: { color: faint, fontSize: FONT },
    };
  };
  const shown = track.series.filter(({ subflow }) => track.graded || view.shows(subflow));
  return {
    animation: false,
    aria: { enabled: true, label: { description: labelOf(track) } },
    grid: { left: BOX.left, top: above + BOX.top, ...size },
    xAxis: axis(east, "metres east", 28),
    yAxis: axis(north, "metres north", 50),
    series: [
      {
        type: "line",
        data: pairs(track.line),
        silent: true,
        showSymbol: false,
        lineStyle: { color: faint, width: 1 },
        z: 1,
      },
      ...shown.map((series) => {
        const { colour, symbol } = styleFor(track, series);
        return {
          type: "scatter",
          name: series.name,
          data: pairs(series),
          silent: true,
          symbol,
          symbolSize: 7,
          itemStyle: { color: colour, opacity: 0.9 },
          progressive: 0,
        };
      }),
    ],
  };
}

// A metre is as long across as up, and all positions are within.
function rangesOf(
  track: Track,
  size: { width: number; height: number },
): [[number, number], [number, number]] {
  const [x, y] = [endsOf(track.line.x), endsOf(track.line.y)];
  const scale = Math.max((x[1] - x[0]) / size.width, (y[1] - y[0]) / size.height, 1e-2) * 1.08;
  const around = ([low, high]: [number, number], pixels: number): [number, number] => {
    const [middle, half] = [(low + high) / 2, (pixels * scale) / 2];
    return [middle - half, middle + half];
  };
  return [around(x, size.width), around(y, size.height)];
}

function endsOf(values: Float64Array): [number, number] {
  return values.reduce<[number, number]>(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
}

function pairs({ x, y }: Series): [number, number][] {
  return Array.from(x, (east, number) => [east, y[number] as number]);
}

function styleFor({ graded }: Track, { subflow, look }: Series): Style {
  if (subflow === null) return { ...styleOf(null), colour: theme().faint };
  if (!graded) return styleOf(look);
  return {
    colour: GRADES[subflow % GRADES.length] as string,
    dash: "solid",
    symbol: SYMBOLS[subflow % SYMBOLS.length] as string,
  };
}

function legendOf(track: Track): HTMLElement {
  const items = track.series.map((series) => make("li", {}, swatchOf(styleFor(track, series)), series.name));
  return make("ul", { class: "legend" }, ...items);
}

function pictureOf(track: Track, page: Page, view: View): Picture {
  return {
    name: fileName(page.name, track.id),
    title: `${track.title} · ${page.title}`,
    width: WIDTH,
    height: HEIGHT + HEAD,
    option: optionOf(track, view, WIDTH, HEAD),
    keys: track.series.map((series) => ({
      sign: "●",
      colour: styleFor(track, series).colour,
      name: series.name,
    })),
  };
}

function csvOf(track: Track): string {
  const rows = track.series.flatMap((series) =>
    pairs(series).map(([east, north]) => `"${series.name.replaceAll('"', '""')}",${east},${north}`),
  );
  return `${["class,east_m,north_m", ...rows].join("\n")}\n`;
}

function labelOf(track: Track): string {
  const parts = track.series.map(({ name, x }) => `${name}, ${x.length} positions`);
  return `${track.title}: ${parts.join("; ")}.`;
}
