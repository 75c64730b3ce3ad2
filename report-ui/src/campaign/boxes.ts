// A figure of the runs as boxes, with the runs as points.
import { drawn, group as together, line, rect, text } from "../chart/shapes";
import { theme } from "../page/theme";
import { cellsOf, headOf, keysOf } from "./csv";
import { gridOf, slotOf, slotPixels, shownGroups } from "./grid";
import { type Layout, labelOf, penOf, shownOf } from "./layout";
import type { Item, Kind } from "./plot";
import { keyOf } from "./runs";
import { linear, logarithmic, type Scale } from "./scale";
import type { CampaignPage, Figure, Summary } from "./shape";
import { count, exact, figure as say, spread } from "./text";
import type { View } from "./view";

const HEIGHT = 380;
// Pixels of a digit, and between two n.
const DIGIT = 6.5;
const BETWEEN = 5;
const COLUMNS: (keyof Summary)[] = [
  "n",
  "mean",
  "sigma",
  "median",
  "median_low",
  "median_high",
  "minimum",
  "whisker_low",
  "quartile_low",
  "quartile_high",
  "whisker_high",
  "maximum",
];

export const boxes: Kind = {
  id: "boxes",
  height: HEIGHT,
  wide: () => true,
  describe(page, view, width, above) {
    const figure = view.shown;
    const { columns, series } = shownOf(page, view);
    const all = [...shownGroups(series)].filter(({ group }) => figure.summary.n[group]);
    if (!all.length) return null;
    const scale = scaleOf(
      figure,
      all.map(({ group }) => group),
      view,
    );
    const of = (group: number, column: keyof Summary) => scale.of(figure.summary[column][group] as number);
    const marks = all.map(({ series: one, number, column, group }) => {
      const { offset, half } = slotOf(number, series.length);
      return { style: one.style, group, at: column + offset, half };
    });
    const points = pointsOf(page, figure, series.length, { columns, series }, scale);
    const { faint } = theme();
    const numbers = all.map(({ group }) => figure.summary.n[group] as number);
    const digits = Math.max(...numbers.map((n) => count(n).length));
    const same = numbers.every((n) => n === numbers[0]);
    const wide = !same && slotPixels(width, columns, series) >= digits * DIGIT + BETWEEN;
    // Above a group, or once for all where all have as many.
    const aboveBoxes = same
      ? [{ label: `n ${count(numbers[0] as number)} each`, at: columns.length - 0.5, align: "right" }]
      : marks.map(({ group, at }) => ({
          label: count(figure.summary.n[group] as number),
          at,
          align: "center",
        }));
    const option = {
      ...gridOf(page, view, columns, scale, named(figure), HEIGHT, above),
      series: [
        drawn(marks, ({ style, group, at, half }, coord) => {
          const { fill, ...ink } = penOf(style);
          const pen = { ...ink, lineWidth: 1.5, fill: "none" };
          const level = (column: keyof Summary) => of(group, column);
          const across = (y: number, part: number, lineWidth: number) =>
            line(coord([at - half * part, y]), coord([at + half * part, y]), { ...pen, lineWidth });
          const upright = (one: keyof Summary, other: keyof Summary) =>
            line(coord([at, level(one)]), coord([at, level(other)]), pen);
          return together(
            rect(coord([at - half, level("quartile_low")]), coord([at + half, level("quartile_high")]), {
              ...pen,
              fill,
            }),
            line(coord([at - half, level("median")]), coord([at + half, level("median")]), {
              stroke: style.colour,
              lineWidth: 3,
            }),
            upright("whisker_low", "quartile_low"),
            upright("quartile_high", "whisker_high"),
            across(level("whisker_low"), 0.5, 1.5),
            across(level("whisker_high"), 0.5, 1.5),
          );
        }),
        ...points.series,
        wide || same
          ? {
              ...drawn(aboveBoxes, ({ label, at, align }, coord) => {
                const [x, y] = coord([at, scale.max]);
                return text([x, y - 9], label, { fill: faint, fontSize: 11, align });
              }),
              clip: false,
            }
          : {},
      ].filter((one) => "type" in one),
    };
    const items: Item[] = marks.map(({ group, at }) => ({
      at: [at, of(group, "median")],
      lines: [labelOf(page, group), ...said(figure, group)],
      target: { group },
    }));
    return { title: figure.name, option, items: [...items, ...points.items], keys: null };
  },
  rows(page, view) {
    const figure = view.shown;
    const { series } = shownOf(page, view);
    const groups = new Set([...shownGroups(series)].map(({ group }) => group));
    return [
      [...headOf(page), "figure", "unit", ...COLUMNS, "runs"],
      ...[...groups].map((group) => [
        ...cellsOf(page, group),
        figure.id,
        figure.unit,
        ...COLUMNS.map((column) => exact(figure.summary[column][group])),
        keysOf(page, group),
      ]),
    ];
  },
};

export function named({ unit, name }: Figure): string {
  return unit || name.toLowerCase();
}

// Logarithmic where the figure is made for it and nothing forbids it.
function scaleOf(figure: Figure, groups: number[], view: View): Scale {
  const { minimum, maximum } = figure.summary;
  const low = Math.min(...groups.map((group) => minimum[group] as number));
  const high = Math.max(...groups.map((group) => maximum[group] as number));
  if (figure.log && !view.linear && low > 0) return logarithmic(low, high);
  return linear(Math.min(0, low), high);
}

function said({ summary, unit }: Figure, group: number): string[] {
  const [median, low, high] = [summary.median, summary.median_low, summary.median_high].map(
    (one) => one[group],
  );
  const interval = Number.isNaN(low) ? "" : ` [${say(low)}, ${say(high)}]`;
  return [
    `median ${say(median)}${interval} ${unit}`,
    `mean ${spread(summary.mean[group] as number, summary.sigma[group] as number)} ${unit}, n ${summary.n[group]}`,
  ];
}

function pointsOf(
  page: CampaignPage,
  figure: Figure,
  of: number,
  { series }: Layout,
  scale: Scale,
): { series: object[]; items: Item[] } {
  const columnsOf = new Map<number, { number: number; column: number }[]>();
  for (const { number, column, group } of shownGroups(series))
    columnsOf.set(group, [...(columnsOf.get(group) ?? []), { number, column }]);
  const points = series.map((): [number, number][] => []);
  const items: Item[] = [];
  figure.run.forEach((run, index) => {
    const value = figure.value[index] as number;
    for (const { number, column } of columnsOf.get(page.runs.group[run] as number) ?? []) {
      const { offset, half } = slotOf(number, of);
      const at: [number, number] = [column + offset + half * 0.7 * aside(run), scale.of(value)];
      points[number]?.push(at);
      const key = keyOf(page, run);
      items.push({
        at,
        lines: [
          `${series[number]?.name}: ${say(value)} ${figure.unit}`,
          `run ${key}, seed ${page.runs.seed[run]}`,
        ],
        target: { run },
      });
    }
  });
  const drawnPoints = series.map(({ style }, number) => ({
    type: "scatter",
    silent: true,
    symbol: style.symbol,
    symbolSize: 4,
    itemStyle: { color: style.colour, opacity: 0.6 },
    progressive: 0,
    data: points[number],
    z: 3,
  }));
  return { series: drawnPoints, items };
}

// Between −1 and 1, the same for a run each time.
function aside(run: number): number {
  return 2 * ((run * 0.618033988749895) % 1) - 1;
}
