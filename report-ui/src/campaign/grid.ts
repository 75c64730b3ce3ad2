// What charts of groups have in common: where the axes are, and how wide each group's slot is.
import type { Series } from "./layout";
import { axisOf, columnsOf, type Scale } from "./scale";
import type { CampaignPage } from "./shape";
import type { View } from "./view";

export const LEFT = 92;
export const RIGHT = 20;
export const BOTTOM = 50;
const TOP = 40;

export function boxOf(height: number, above: number): object {
  return { left: LEFT, right: RIGHT, top: above + TOP, height: height - TOP - BOTTOM };
}

// Columns along, a value upwards.
export function gridOf(
  page: CampaignPage,
  view: View,
  columns: string[],
  scale: Scale,
  name: string,
  height: number,
  above: number,
): { grid: object; xAxis: object; yAxis: object } {
  return {
    grid: boxOf(height, above),
    xAxis: columnsOf(columns, page.axes[view.along]?.name ?? ""),
    yAxis: axisOf(scale, name, true),
  };
}

// Where a series stands in its column, whose width is 1, and half the width of what stands there.
export function slotOf(number: number, of: number): { offset: number; half: number } {
  const width = 0.84 / of;
  return { offset: (number + 0.5 - of / 2) * width, half: Math.min(0.4 * width, 0.1) };
}

// Width of a slot in pixels.
export function slotPixels(width: number, columns: string[], series: Series[]): number {
  return ((width - LEFT - RIGHT) / columns.length) * (0.84 / Math.max(series.length, 1));
}

// Every group that is shown, with its series and column.
export function* shownGroups(
  series: Series[],
): Iterable<{ series: Series; number: number; column: number; group: number }> {
  for (const [number, one] of series.entries())
    for (const [column, group] of one.groups.entries())
      if (group !== null) yield { series: one, number, column, group };
}
