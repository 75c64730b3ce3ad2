// The table of all numbers of a figure, for the groups that are shown.
import { make } from "../page/dom";
import { cellsOf, headOf, keysOf } from "./csv";
import { shownGroups } from "./grid";
import { layoutOf } from "./layout";
import type { CampaignPage, Group, Summary } from "./shape";
import { count, exact, figure, pValue, signed, spread } from "./text";
import type { View } from "./view";

const COLUMNS: [name: string, meaning: string][] = [
  ["n", "runs that finished, of those planned"],
  ["failed", "runs that failed"],
  ["mean ± σ", "mean and standard deviation (n − 1)"],
  ["median [95 %]", "median with its confidence interval"],
  ["min – max", "smallest and largest value"],
  [
    "difference from best path [95 %]",
    "mean difference from plain TCP over the best single path, with its confidence interval",
  ],
  ["effect, by ranks", "matched-pairs rank-biserial correlation"],
  ["corrected p, by ranks", "Wilcoxon's signed-rank test, corrected over all groups and figures"],
];
export const NOTE =
  "The interval of a difference is that of its mean; effect and p are of the ranks of the pairs' differences.";
// Shorter than this on average, seconds are shown as milliseconds.
const SHORT = 0.1;
const EXACT: (keyof Summary)[] = [
  "n",
  "mean",
  "sigma",
  "median",
  "median_low",
  "median_high",
  "minimum",
  "maximum",
  "difference",
  "difference_low",
  "difference_high",
  "effect",
  "p_value",
];

// The figure that is shown, as the table's heading has it.
export function headingOf(page: CampaignPage, view: View): string {
  const { unit } = scaledOf(page, view);
  return unit ? `${view.shown.name}, ${unit}` : view.shown.name;
}

export function numbersOf(page: CampaignPage, view: View, choose: (group: number) => void): HTMLElement {
  const heads = [
    ...headOf(page).map((name) => make("th", { scope: "col" }, name)),
    ...COLUMNS.map(([name, meaning]) => make("th", { scope: "col", class: "number", title: meaning }, name)),
  ];
  const rows = groupsOf(page, view).map((group) => row(page, view, group, choose));
  return make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows));
}

// Of all groups and figures, whatever is shown.
export function numberRows(page: CampaignPage): string[][] {
  return [
    [...headOf(page), "planned", "done", "finished", "failed", "figure", "unit", ...EXACT, "runs"],
    ...page.groups.flatMap((group, number) => {
      const keys = keysOf(page, number);
      return page.figures.map((one) => [
        ...cellsOf(page, number),
        ...[group.planned, group.done, group.finished, group.failed].map(String),
        one.id,
        one.unit,
        ...EXACT.map((column) => exact(one.summary[column][number])),
        keys,
      ]);
    }),
  ];
}

function groupsOf(page: CampaignPage, view: View): number[] {
  const { series } = layoutOf(page, view);
  return [...new Set([...shownGroups(series)].map(({ group }) => group))].sort((one, other) => one - other);
}

// The unit that suits all rows, and how many of it the figure's own has.
function scaledOf(page: CampaignPage, view: View): { unit: string; factor: number } {
  const { unit, summary } = view.shown;
  const short = groupsOf(page, view).some((group) => (summary.mean[group] as number) < SHORT);
  return unit === "s" && short ? { unit: "ms", factor: 1000 } : { unit, factor: 1 };
}

function row(page: CampaignPage, view: View, number: number, choose: (group: number) => void): HTMLElement {
  const group = page.groups[number] as Group;
  const { summary } = view.shown;
  const { factor } = scaledOf(page, view);
  const plain = (column: keyof Summary) => summary[column][number] as number;
  const of = (column: keyof Summary) => factor * plain(column);
  const [what, ...values] = cellsOf(page, number);
  const name = make("button", { type: "button", title: "the runs behind this row" }, what ?? "");
  name.addEventListener("click", () => choose(number));
  const cells = [
    group.finished === group.planned ? count(plain("n")) : `${count(plain("n"))} of ${count(group.planned)}`,
    group.failed ? count(group.failed) : "",
    spread(of("mean"), of("sigma")),
    `${figure(of("median"))}${ends(of("median_low"), of("median_high"), figure)}`,
    `${figure(of("minimum"))} – ${figure(of("maximum"))}`,
    ...(group.against === null
      ? ["", "", ""]
      : [
          `${signed(of("difference"))}${ends(of("difference_low"), of("difference_high"), signed)}`,
          Number.isNaN(plain("effect")) ? "–" : plain("effect").toFixed(2),
          pValue(plain("p_value")),
        ]),
  ];
  return make(
    "tr",
    {},
    make("td", {}, name),
    ...values.map((value, axis) => make("td", {}, value || sharedOf(page, group, axis))),
    ...cells.map((cell) => make("td", { class: "number" }, cell)),
  );
}

// Some values of an axis may have plain TCP of their own.
function sharedOf(page: CampaignPage, { candidate }: Group, axis: number): string {
  const own = page.groups.some((one) => one.candidate === candidate && one.values[axis] !== null);
  return own ? "other" : "all";
}

function ends(low: number, high: number, say: (value: number) => string): string {
  return Number.isNaN(low) || Number.isNaN(high) ? "" : ` [${say(low)}, ${say(high)}]`;
}
