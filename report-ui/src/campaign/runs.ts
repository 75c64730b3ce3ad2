// Runs by their places: keys, groups, commands.
import type { CampaignPage, Group } from "./shape";

const members = new WeakMap<CampaignPage, number[][]>();

export function keyOf({ runs }: CampaignPage, run: number): string {
  return hex(runs.key_high[run] as number) + hex(runs.key_low[run] as number);
}

// Places of a group's runs.
export function runsOf(page: CampaignPage, group: number): number[] {
  let found = members.get(page);
  if (!found) {
    found = page.groups.map((): number[] => []);
    for (let run = 0; run < page.runs.group.length; run += 1)
      found[page.runs.group[run] as number]?.push(run);
    members.set(page, found);
  }
  return found[group] ?? [];
}

export function commandOf(page: CampaignPage, run: number): string {
  const group = page.groups[page.runs.group[run] as number] as Group;
  return group.command.replace("{seed}", String(page.runs.seed[run]));
}

function hex(half: number): string {
  return half.toString(16).padStart(8, "0");
}
