// Distributions of samples: the part at or above each value, both axes logarithmic, with bands.
import { drawn } from "../chart/shapes";
import { cellsOf, headOf, keysOf } from "./csv";
import { boxOf } from "./grid";
import { labelOf, shownOf } from "./layout";
import { axisNameOf, chartOf, type Item, type Kind } from "./plot";
import { axisOf, logarithmic } from "./scale";
import { valueOf } from "./select";
import type { CampaignPage, Curve } from "./shape";
import { count, figure, percent } from "./text";
import type { View } from "./view";

const HEIGHT = 340;
// What is smaller by more than this is below what anyone waits for.
const SPAN = 1e4;
type Quantity = keyof CampaignPage["curves"];

interface Point {
  value: number;
  part: number;
  low: number;
  high: number;
}

export const rtt = kindOf("rtt");
export const delay = kindOf("out_of_order_delay");

function kindOf(quantity: Quantity): Kind {
  return {
    id: quantity,
    height: HEIGHT,
    wide: () => false,
    describe(page, view, _width, above) {
      const found = shownCurves(page, view, quantity);
      if (!found.length) return null;
      const values = found.flatMap(({ points }) => points.map(({ value }) => value));
      const parts = found.flatMap(({ points }) => points.map(({ part }) => part));
      const x = logarithmic(Math.max(least(values), most(values) / SPAN), most(values));
      const y = logarithmic(least(parts), 1);
      const position = (value: number, part: number): [number, number] => [
        x.of(value),
        y.of(Math.max(part, 1e-9)),
      ];
      const option = {
        grid: boxOf(HEIGHT, above),
        xAxis: axisOf(x, axisNameOf(chartOf(page, quantity)), false),
        yAxis: axisOf(y, "part of samples at or above", true),
        series: [
          drawn(
            found.filter(({ curve }) => curve.low.length),
            ({ points, style }, coord) => ({
              type: "polygon",
              shape: {
                points: [...stepped(points, "high"), ...stepped(points, "low").reverse()].map(
                  ([value, part]) => coord(position(value, Math.max(part, 10 ** y.min))),
                ),
              },
              style: { fill: style.colour, opacity: 0.15 },
            }),
            1,
          ),
          ...found.map(({ points, style }) => ({
            type: "line",
            silent: true,
            showSymbol: false,
            lineStyle: { color: style.colour, type: style.dash, width: 1.8 },
            data: stepped(points, "part").map(([value, part]) => position(value, part)),
          })),
        ],
      };
      const items = found.flatMap(({ points, group, curve }): Item[] =>
        points
          .filter(({ value }) => x.of(value) >= x.min)
          .map(({ value, part, low, high }) => ({
            at: position(value, part),
            lines: [
              labelOf(page, group),
              `${percent(part)} at ${figure(value)} ms or above${curve.low.length ? ` [${percent(low)}, ${percent(high)}]` : ""}`,
              `${count(curve.samples)} samples of ${count(curve.n)} runs`,
            ],
            target: { group },
          })),
      );
      return { title: titleOf(page, view, quantity), option, items, keys: null };
    },
    controls(page, view) {
      const all = page.axes.map(({ name, values }, number) => valueOf(name, values, number, view));
      const update = () => {
        all.forEach((one, number) => {
          one.hidden = number !== view.along;
        });
      };
      view.follow(update);
      update();
      return all;
    },
    rows(page, view) {
      const head = ["runs_used", "samples", "value_ms", "probability", "low", "high", "runs"];
      const rows = shownCurves(page, view, quantity).flatMap(({ group, points, curve }) => {
        const runs = keysOf(page, group);
        return points.map(({ value, part, low, high }) => [
          ...cellsOf(page, group),
          String(curve.n),
          String(curve.samples),
          ...[value, part, ...(curve.low.length ? [low, high] : [])].map(String),
          ...(curve.low.length ? [] : ["", ""]),
          runs,
        ]);
      });
      return [[...headOf(page), ...head], ...rows];
    },
  };
}

// One column of the layout: curves of all would hide each other.
function shownCurves(page: CampaignPage, view: View, quantity: Quantity) {
  const column = view.along < 0 ? 0 : (view.at[view.along] ?? 0);
  return shownOf(page, view).series.flatMap(({ style, groups }) => {
    const group = groups[column] ?? null;
    const curve = page.curves[quantity].find((one) => one.group === group);
    if (group === null || !curve) return [];
    const points = pointsOf(curve);
    return points.length > 1 ? [{ style, group, curve, points }] : [];
  });
}

// Without 0, which no logarithm has.
function pointsOf({ value, probability, low, high }: Curve): Point[] {
  return Array.from(value, (at, index) => ({
    value: at,
    part: probability[index] as number,
    low: low[index] ?? 0,
    high: high[index] ?? 0,
  })).filter((point) => point.value > 0 && point.part > 0);
}

// Above a value the part is that of the next one.
function stepped(points: Point[], height: "part" | "low" | "high"): [number, number][] {
  return points.flatMap((point, number): [number, number][] => {
    const next = points[number + 1];
    const here: [number, number] = [point.value, point[height]];
    return next ? [here, [point.value, next[height]]] : [here];
  });
}

function titleOf(page: CampaignPage, view: View, quantity: Quantity): string {
  const axis = page.axes[view.along];
  const { title } = chartOf(page, quantity);
  return axis ? `${title} at ${axis.name} ${axis.values[view.at[view.along] ?? 0]}` : title;
}

function least(values: number[]): number {
  return values.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
}

function most(values: number[]): number {
  return values.reduce((one, other) => Math.max(one, other), Number.NEGATIVE_INFINITY);
}
