// Throughput of one candidate against that of another under the same conditions.
import { drawn, line, text } from "../chart/shapes";
import { type Style, theme } from "../page/theme";
import { cellsOf, headOf } from "./csv";
import { BOTTOM, LEFT, shownGroups } from "./grid";
import { labelOf, layoutOf, styleOfCandidate } from "./layout";
import { chartOf, type Item, type Kind } from "./plot";
import { keyOf } from "./runs";
import { axisOf, linear } from "./scale";
import { type Option, select } from "./select";
import type { CampaignPage, Sides } from "./shape";
import { count, figure } from "./text";
import type { View } from "./view";

const HEIGHT = 440;
const TOP = 40;
const SIZE = HEIGHT - TOP - BOTTOM;

// Two runs under the same conditions with the same seed.
interface Pair {
  one: number;
  other: number;
  x: number;
  y: number;
}

export const scatter: Kind = {
  id: "scatter",
  height: HEIGHT,
  wide: () => false,
  describe(page, view, width, above) {
    const pairs = pairsOf(page, view);
    if (!pairs.length || page.candidates.length < 2) return null;
    const [one, other] = view.across.map((index) => page.candidates[index]) as [string, string];
    const scale = linear(
      0,
      pairs.reduce((most, { x, y }) => Math.max(most, x, y), 0),
    );
    const styles = view.across.map((candidate) => styleOfCandidate(page, view, candidate)) as [Style, Style];
    const sides = [
      { pairs: pairs.filter(({ x, y }) => x >= y), style: styles[0] },
      { pairs: pairs.filter(({ x, y }) => x < y), style: styles[1] },
    ];
    const { more, less, same } = counted(page, view);
    const { unit } = chartOf(page, "scatter");
    const size = Math.min(SIZE, width - LEFT - 24);
    const { faint } = theme();
    const option = {
      grid: { left: LEFT, top: above + TOP, width: size, height: SIZE },
      xAxis: axisOf(scale, `${one}, ${unit}`, false),
      yAxis: axisOf(scale, `${other}, ${unit}`, true),
      series: [
        drawn([0], (_, coord) =>
          line(coord([0, 0]), coord([scale.max, scale.max]), {
            stroke: faint,
            lineWidth: 1.2,
            lineDash: [5, 4],
          }),
        ),
        ...sides.map(({ pairs: some, style }) => ({
          type: "scatter",
          silent: true,
          symbol: style.symbol,
          symbolSize: 6,
          itemStyle: { color: style.colour, opacity: 0.7 },
          progressive: 0,
          data: some.map(({ x, y }) => [x, y]),
        })),
        drawn(
          [
            { label: `n ${count(less)}`, at: [0.1, 0.93] },
            { label: `n ${count(more)}`, at: [0.9, 0.07] },
          ],
          ({ label, at }, coord) =>
            text(coord([(at[0] ?? 0) * scale.max, (at[1] ?? 0) * scale.max]), label, {
              fill: theme().text,
              fontSize: 14,
              fontWeight: "bold",
            }),
          4,
        ),
      ],
    };
    const items = pairs.map(({ one: first, other: second, x, y }): Item => ({
      at: [x, y],
      lines: [
        `${one} ${figure(x)}, ${other} ${figure(y)} ${unit}`,
        labelOf(page, page.runs.group[first] as number),
        `runs ${keyOf(page, first)}, ${keyOf(page, second)}`,
      ],
      target: { run: x >= y ? first : second },
    }));
    const keys = [
      { sign: "●", colour: styles[0].colour, name: `${one} faster: ${count(more)}` },
      { sign: "●", colour: styles[1].colour, name: `${other} faster: ${count(less)}` },
      ...(same ? [{ sign: "=", colour: faint, name: `the same: ${count(same)}` }] : []),
    ];
    return { title: `Throughput of ${other} against ${one}`, option, items, keys };
  },
  controls(page, view) {
    const options = page.candidates.map((name, index): Option => [String(index), name]);
    return ([1, 0] as const).map((side) => {
      const set = (index: string) =>
        view.change(() => {
          view.across[side] = Number(index);
        });
      const get = () => String(view.across[side]);
      return select(`across-${side}`, side ? "up" : "along", options, get, set, view);
    });
  },
  rows(page, view) {
    const [one, other] = view.across.map((index) => page.candidates[index]);
    const { unit } = chartOf(page, "scatter");
    return [
      [...headOf(page), "seed", `${one} ${unit}`, `${other} ${unit}`, `${one} run`, `${other} run`],
      ...pairsOf(page, view).map(({ one: first, other: second, x, y }) => [
        ...cellsOf(page, page.runs.group[first] as number),
        String(page.runs.seed[first]),
        String(x),
        String(y),
        keyOf(page, first),
        keyOf(page, second),
      ]),
    ];
  },
};

// The groups that are on the page, hidden or not.
function groupsOf(page: CampaignPage, view: View): Set<number> {
  return new Set([...shownGroups(layoutOf(page, view).series)].map(({ group }) => group));
}

function pairsOf(page: CampaignPage, view: View): Pair[] {
  const throughput = page.figures.find(({ id }) => id === "throughput_mbps");
  if (!throughput) return [];
  const groups = groupsOf(page, view);
  const [one, other] = view.across;
  const second = new Map<number, [number, number][]>();
  const first: [number, number][] = [];
  throughput.run.forEach((run, index) => {
    const group = page.runs.group[run] as number;
    if (!groups.has(group)) return;
    const found: [number, number] = [run, throughput.value[index] as number];
    const candidate = page.groups[group]?.candidate;
    const pair = page.runs.pair[run] as number;
    if (candidate === one) first.push(found);
    if (candidate === other) second.set(pair, [...(second.get(pair) ?? []), found]);
  });
  return first.flatMap(([run, x]) =>
    (second.get(page.runs.pair[run] as number) ?? []).map(([partner, y]) => ({
      one: run,
      other: partner,
      x,
      y,
    })),
  );
}

// Of all runs, drawn or not.
function counted(page: CampaignPage, view: View): Pick<Sides, "more" | "less" | "same"> {
  const groups = groupsOf(page, view);
  const [one, other] = view.across;
  const sum = { more: 0, less: 0, same: 0 };
  for (const sides of page.sides) {
    if (!groups.has(sides.one) || !groups.has(sides.other)) continue;
    const [a, b] = [page.groups[sides.one]?.candidate, page.groups[sides.other]?.candidate];
    if (a === one && b === other) {
      sum.more += sides.more;
      sum.less += sides.less;
    } else if (a === other && b === one) {
      sum.more += sides.less;
      sum.less += sides.more;
    } else continue;
    sum.same += sides.same;
  }
  return sum;
}
