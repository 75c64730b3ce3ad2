// Which groups stand where: columns along an axis, and in each a group per series.
import { type Style, styleOfMptcp, styleOfPlain, styleOfPath as styleOfPathNumber } from "../page/theme";
import type { Expected, CampaignPage, Group } from "./shape";
import type { View } from "./view";

export interface Series {
  name: string;
  candidate: number;
  style: Style;
  // Number of the group in each column.
  groups: (number | null)[];
}

// What plain TCP over a path is called.
const TCP_OVER = "TCP over ";

export interface Layout {
  columns: string[];
  series: Series[];
}

// All series that there are with these axes; those that are hidden, too.
export function layoutOf(page: CampaignPage, view: View): Layout {
  const along = page.axes[view.along];
  const splits = page.axes[view.split]?.values.map((_, index) => index) ?? [null];
  const columns = along?.values ?? [""];
  const series: Series[] = [];
  page.candidates.forEach((name, candidate) => {
    for (const split of [null, ...splits.filter((one) => one !== null)]) {
      const groups = columns.map((_, column) => groupOf(page, view, candidate, column, split));
      if (groups.every((group) => group === null)) continue;
      const value = split === null ? "" : (page.axes[view.split]?.values[split] ?? "");
      const style = styleFor(page, name, split ?? 0);
      series.push({ name: value ? `${name} ${value}` : name, candidate, groups, style });
    }
  });
  return { columns, series };
}

// What is drawn: of those that look the same the first that is not hidden.
export function shownOf(page: CampaignPage, view: View): Layout {
  const { columns, series } = layoutOf(page, view);
  const shown: Series[] = [];
  for (const one of series)
    if (!view.hidden.has(one.name) && !shown.some((other) => alike(one, other))) shown.push(one);
  return { columns, series: shown };
}

// Show a series, and hide the one that looks like it.
export function exchange(page: CampaignPage, view: View, wanted: Series): void {
  const others = shownOf(page, view).series.filter((one) => alike(one, wanted));
  view.change(() => {
    view.hidden.delete(wanted.name);
    for (const { name } of others) view.hidden.add(name);
  });
}

function alike({ style: one }: Series, { style: other }: Series): boolean {
  return one.colour === other.colour && String(one.dash) === String(other.dash);
}

// How boxes and bars are drawn.
export function penOf({ colour, hollow }: Style): {
  stroke: string;
  fill: string;
  lineDash: number[] | null;
} {
  return { stroke: colour, fill: hollow ? "none" : `${colour}66`, lineDash: hollow ? [4, 2] : null };
}

function styleFor(page: CampaignPage, candidate: string, number: number): Style {
  const path = candidate.startsWith(TCP_OVER) ? page.paths.indexOf(candidate.slice(TCP_OVER.length)) : -1;
  return path < 0 ? styleOfMptcp(number, page.paths.length) : styleOfPlain(path, number);
}

export function labelOf(page: CampaignPage, number: number): string {
  const group = page.groups[number] as Group;
  return [page.candidates[group.candidate], ...valuesOf(page, group).filter(Boolean)].join(", ");
}

// The style of the first series of a candidate: the same thing has the same colour everywhere.
export function styleOfCandidate(page: CampaignPage, view: View, candidate: number): Style {
  const found = layoutOf(page, view).series.find((one) => one.candidate === candidate);
  return found?.style ?? styleFor(page, page.candidates[candidate] ?? "", 0);
}

export function styleOfPath(page: CampaignPage, path: string): Style {
  return styleOfPathNumber(Math.max(page.paths.indexOf(path), 0));
}

// A group's value of each axis, empty where it is the same for all.
export function valuesOf(page: CampaignPage, group: Group): string[] {
  return page.axes.map((axis, number) => {
    const index = group.values[number];
    return index === null || index === undefined ? "" : (axis.values[index] ?? "");
  });
}

// Plain TCP has no value of an axis that does not touch it: it stands in every column, and in one series for all,
// unless there is some with just these values, or is to be: what others share does not stand in for that.
function groupOf(
  page: CampaignPage,
  view: View,
  candidate: number,
  column: number,
  split: number | null,
): number | null {
  const fits = (group: Group | Expected) =>
    group.candidate === candidate &&
    group.values.every((value, axis) => {
      if (axis === view.split) return value === split;
      return value === null || value === (axis === view.along ? column : view.at[axis]);
    });
  const known = ({ values }: Group | Expected) => values.filter((value) => value !== null).length;
  const best = [...page.groups, ...page.expected]
    .filter(fits)
    .reduce<Group | Expected | null>(
      (best, one) => (best === null || known(one) > known(best) ? one : best),
      null,
    );
  const number = page.groups.findIndex((group) => group === best);
  return number < 0 ? null : number;
}
