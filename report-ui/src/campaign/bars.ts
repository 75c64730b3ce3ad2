// Means as bars with intervals: traffic shares, stacked by path, and the variation of the throughput.
import { drawn, group as together, interval, rect } from "../chart/shapes";
import { styleOf } from "../page/theme";
import { estimatedRows } from "./csv";
import { gridOf, slotOf, shownGroups } from "./grid";
import { labelOf, penOf, shownOf, styleOfPath } from "./layout";
import { axisNameOf, chartOf, type Kind } from "./plot";
import { linear } from "./scale";
import type { Estimated } from "./shape";
import { estimated, figure, spread } from "./text";

const HEIGHT = 320;

export const share: Kind = {
  id: "share",
  height: HEIGHT,
  wide: () => false,
  describe(page, view, _width, above) {
    const chart = chartOf(page, "share");
    const { columns, series } = shownOf(page, view);
    const own = series.filter(({ candidate }) => page.candidates[candidate] === "MPTCP");
    const bars = [...shownGroups(own)].flatMap(({ number, column, group }) => {
      const { offset, half } = slotOf(number, own.length);
      let below = 0;
      return page.shares
        .filter((one) => one.group === group && one.estimate !== null)
        .map((found) => {
          const from = below;
          below += found.estimate as number;
          return { found, group, from, to: below, at: column + offset, half };
        });
    });
    if (!bars.length) return null;
    const last = page.paths[page.paths.length - 1];
    const scale = { ...linear(0, 1, 100), max: 1 };
    const option = {
      ...gridOf(page, view, columns, scale, axisNameOf(chart), HEIGHT, above),
      series: [
        drawn(bars, ({ found, from, to, at, half }, coord) => {
          const style = styleOfPath(page, found.part ?? "");
          return rect(coord([at - half, from]), coord([at + half, to]), {
            fill: style.colour,
            opacity: 0.75,
          });
        }),
        // The last one ends at 100 %, whatever it is.
        drawn(
          bars.filter(({ found }) => found.part !== last && found.low !== null),
          ({ found, from, at }, coord) =>
            interval(
              coord([at, from + (found.low as number)]),
              coord([at, from + (found.high as number)]),
              styleOf(null),
            ),
        ),
      ],
    };
    const items = bars.map(({ found, group, from, to, at }) => ({
      at: [at, (from + to) / 2] as [number, number],
      lines: [labelOf(page, group), `${found.part}: ${estimated(found)}, n ${found.n}`],
      target: { group },
    }));
    const keys = page.paths.map((name) => ({
      sign: "■",
      colour: styleOfPath(page, name).colour,
      name,
    }));
    return { title: chart.title, option, items, keys };
  },
  rows: (page) => estimatedRows(page, page.shares, "path"),
};

export const variation: Kind = {
  id: "variation",
  height: HEIGHT,
  wide: () => false,
  describe(page, view, _width, above) {
    const chart = chartOf(page, "variation");
    const { columns, series } = shownOf(page, view);
    const known = new Map(page.variation.map((one) => [one.group, one]));
    const bars = [...shownGroups(series)].flatMap(({ series: one, number, column, group }) => {
      const found = known.get(group);
      if (found?.estimate === null || found === undefined) return [];
      const { offset, half } = slotOf(number, series.length);
      return [{ found, group, style: one.style, at: column + offset, half }];
    });
    if (!bars.length) return null;
    const scale = linear(0, Math.max(...bars.map(({ found }) => topOf(found))));
    const option = {
      ...gridOf(page, view, columns, scale, axisNameOf(chart), HEIGHT, above),
      series: [
        drawn(bars, ({ found, style, at, half }, coord) =>
          together(
            rect(coord([at - half, 0]), coord([at + half, found.estimate as number]), penOf(style)),
            found.low !== null && found.high !== null
              ? interval(coord([at, found.low]), coord([at, found.high]), styleOf(null))
              : null,
          ),
        ),
      ],
    };
    const items = bars.map(({ found, group, at }) => ({
      at: [at, found.estimate] as [number, number],
      lines: [labelOf(page, group), `mean ${said(found)}, n ${found.n}`],
      target: { group },
    }));
    return { title: chart.title, option, items, keys: null };
  },
  rows: (page) => estimatedRows(page, page.variation, "part"),
};

function topOf({ estimate, high }: Estimated): number {
  return Math.max(estimate ?? 0, high ?? 0);
}

function said({ estimate, sigma, low, high }: Estimated): string {
  const interval = low === null ? "" : ` [${figure(low)}, ${figure(high)}]`;
  return `${spread(estimate ?? Number.NaN, sigma ?? Number.NaN)}${interval}`;
}
