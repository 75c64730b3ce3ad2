// What MPTCP has over the best single path, with intervals.
import { drawn, group as together, interval, line, rect } from "../chart/shapes";
import { theme } from "../page/theme";
import { estimatedRows } from "./csv";
import { gridOf, slotOf, shownGroups } from "./grid";
import { labelOf, shownOf } from "./layout";
import { axisNameOf, chartOf, type Kind } from "./plot";
import { linear } from "./scale";
import type { Estimated } from "./shape";
import { estimated, pValue } from "./text";

const HEIGHT = 320;
const PERCENT = 100;

export const gain: Kind = {
  id: "gain",
  height: HEIGHT,
  // Beside the heat map, where there is one.
  wide: ({ axes }) => axes.length < 2,
  describe(page, view, _width, above) {
    const chart = chartOf(page, "gain");
    const { columns, series } = shownOf(page, view);
    const own = series.filter(({ candidate }) => page.candidates[candidate] === "MPTCP");
    const known = new Map(page.gains.map((one) => [one.group, one]));
    const marks = [...shownGroups(own)].flatMap(({ series: one, number, column, group }) => {
      const found = known.get(group);
      if (found?.estimate === null || found === undefined) return [];
      return [{ style: one.style, found, group, at: column + slotOf(number, own.length).offset }];
    });
    if (!marks.length) return null;
    const ends = marks.flatMap(({ found }) => endsOf(found));
    const scale = linear(Math.min(0, ...ends), Math.max(0, ...ends), PERCENT);
    const option = {
      ...gridOf(page, view, columns, scale, axisNameOf(chart), HEIGHT, above),
      series: [
        drawn([0], (_, coord) =>
          line(coord([-0.5, 0]), coord([columns.length - 0.5, 0]), {
            stroke: theme().text,
            lineWidth: 1.4,
            lineDash: [2, 4],
          }),
        ),
        drawn(marks, ({ style, found, at }, coord) => {
          const [x, y] = coord([at, found.estimate as number]);
          const mark = rect([x - 5, y - 5], [x + 5, y + 5], { fill: style.colour });
          if (found.low === null || found.high === null) return together(mark);
          return together(mark, interval(coord([at, found.low]), coord([at, found.high]), style));
        }),
      ],
    };
    const items = marks.map(({ found, group, at }) => ({
      at: [at, found.estimate] as [number, number],
      lines: [
        labelOf(page, group),
        `${estimated(found, true)} over TCP over ${found.part}, n ${found.n}`,
        `corrected p ${pValue(found.p_value ?? Number.NaN)}`,
      ],
      target: { group },
    }));
    return { title: chart.title, option, items, keys: null };
  },
  rows: (page) => estimatedRows(page, page.gains, "best_path"),
};

function endsOf({ estimate, low, high }: Estimated): number[] {
  return [estimate, low, high].filter((one) => one !== null);
}
