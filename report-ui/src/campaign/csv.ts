// Numbers of charts, each with the groups they are of and the keys of the runs behind them.
import { labelOf, valuesOf } from "./layout";
import { keyOf, runsOf } from "./runs";
import type { CampaignPage, Estimated, Group } from "./shape";
import { exact } from "./text";

export function headOf(page: CampaignPage): string[] {
  return ["what", ...page.axes.map(({ name }) => name)];
}

export function cellsOf(page: CampaignPage, number: number): string[] {
  const group = page.groups[number] as Group;
  return [page.candidates[group.candidate] ?? "", ...valuesOf(page, group)];
}

export function keysOf(page: CampaignPage, number: number): string {
  return runsOf(page, number)
    .filter((run) => page.runs.finished[run])
    .map((run) => keyOf(page, run))
    .join(" ");
}

export function estimatedRows(page: CampaignPage, figures: Estimated[], part: string): string[][] {
  const head = [part, "n", "estimate", "sigma", "low", "high", "effect", "p_corrected", "against", "runs"];
  const rows = figures.map((one) => {
    const against = page.groups[one.group]?.against ?? null;
    return [
      ...cellsOf(page, one.group),
      one.part ?? "",
      String(one.n),
      ...[one.estimate, one.sigma, one.low, one.high, one.effect, one.p_value].map(exact),
      part === "best_path" && against !== null ? labelOf(page, against) : "",
      keysOf(page, one.group),
    ];
  });
  return [[...headOf(page), ...head], ...rows];
}

export function csv(rows: string[][]): string {
  return `${rows.map((cells) => cells.map(quoted).join(",")).join("\n")}\n`;
}

function quoted(cell: string): string {
  return /[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
