// A figure over two axes, as colours with their values.
import { drawn, group as together, rect, text } from "../chart/shapes";
import { cellsOf, headOf, keysOf } from "./csv";
import { BOTTOM, LEFT, RIGHT } from "./grid";
import { labelOf } from "./layout";
import { chartOf, type Kind } from "./plot";
import { columnsOf } from "./scale";
import { type Option, select } from "./select";
import type { CampaignPage } from "./shape";
import { exact, figure, percent } from "./text";
import type { View } from "./view";

const HEIGHT = 320;
const TOP = 40;
type Colour = [number, number, number];
const WHITE: Colour = [247, 247, 247];
// Blue for more and vermillion for less.
const MORE: Colour = [0, 90, 156];
const LESS: Colour = [200, 80, 0];

interface Cell {
  column: number;
  row: number;
  group: number;
  value: number;
}

export const heat: Kind = {
  id: "heat",
  height: HEIGHT,
  wide: () => false,
  describe(page, view, _width, above) {
    const [along, split] = [page.axes[view.along], page.axes[view.split]];
    const cells = cellsIn(page, view);
    if (!along || !split || !cells.length) return null;
    const shown = page.figures.find(({ id }) => id === view.heat);
    const say = (value: number) => (shown ? figure(value) : percent(value, true));
    const values = cells.map(({ value }) => value);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const option = {
      grid: { left: LEFT, right: RIGHT, top: above + TOP, height: HEIGHT - TOP - BOTTOM },
      xAxis: columnsOf(along.values, along.name),
      yAxis: { ...columnsOf(split.values, split.name), nameLocation: "end", nameGap: 14 },
      series: [
        drawn(cells, ({ column, row, value }, coord) => {
          const colour = shown ? between(low, high, value) : about(Math.max(-low, high), value);
          return together(
            rect(coord([column - 0.49, row - 0.49]), coord([column + 0.49, row + 0.49]), {
              fill: `rgb(${colour.join()})`,
            }),
            text(coord([column, row]), say(value), {
              fill: bright(colour) ? "#1b1f24" : "#ffffff",
              fontSize: 13,
            }),
          );
        }),
      ],
    };
    const unit = shown?.unit ?? "";
    const items = cells.map(({ column, row, group, value }) => ({
      at: [column, row] as [number, number],
      lines: [labelOf(page, group), `${say(value)} ${unit}`.trim()],
      target: { group },
    }));
    return { title: `${nameOf(page, view)} by ${along.name} and ${split.name}`, option, items, keys: [] };
  },
  controls(page, view) {
    const figures = page.figures.map(({ id, name }): Option => [id, name]);
    const set = (id: string) =>
      view.change(() => {
        view.heat = id;
      });
    return [select("heat", "of", [["gain", "Gain"], ...figures], () => view.heat, set, view)];
  },
  rows(page, view) {
    return [
      [...headOf(page), view.heat, "runs"],
      ...cellsIn(page, view).map(({ group, value }) => [
        ...cellsOf(page, group),
        exact(value),
        keysOf(page, group),
      ]),
    ];
  },
};

function nameOf(page: CampaignPage, view: View): string {
  const shown = page.figures.find(({ id }) => id === view.heat);
  if (!shown) return chartOf(page, "gain").title;
  return `Median with MPTCP: ${shown.name.charAt(0).toLowerCase()}${shown.name.slice(1)}`;
}

function cellsIn(page: CampaignPage, view: View): Cell[] {
  const medians = page.figures.find(({ id }) => id === view.heat)?.summary.median;
  const gains = new Map(page.gains.map(({ group, estimate }) => [group, estimate]));
  return page.groups.flatMap((group, number) => {
    if (page.candidates[group.candidate] !== "MPTCP") return [];
    const others = group.values.every(
      (value, axis) => axis === view.along || axis === view.split || value === view.at[axis],
    );
    const value = medians ? medians[number] : (gains.get(number) ?? Number.NaN);
    if (!others || value === undefined || Number.isNaN(value)) return [];
    return [
      { column: group.values[view.along] ?? 0, row: group.values[view.split] ?? 0, group: number, value },
    ];
  });
}

function between(low: number, high: number, value: number): Colour {
  return mixed(MORE, high > low ? (value - low) / (high - low) : 0.5);
}

function about(most: number, value: number): Colour {
  return mixed(value < 0 ? LESS : MORE, most > 0 ? Math.abs(value) / most : 0);
}

function mixed(colour: Colour, part: number): Colour {
  return WHITE.map((white, channel) => Math.round(white + ((colour[channel] ?? 0) - white) * part)) as Colour;
}

function bright([red, green, blue]: Colour): boolean {
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140;
}
