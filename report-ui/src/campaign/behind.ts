// What is behind a mark: a run with the command that repeats it, or a group with its runs.
import { button, copies, make, save } from "../page/dom";
import { Panel } from "../page/panel";
import { csv } from "./csv";
import { labelOf } from "./layout";
import type { Target } from "./plot";
import { commandOf, keyOf, runsOf } from "./runs";
import type { CampaignPage, Group } from "./shape";
import { count, figure } from "./text";
import type { View } from "./view";

// Runs that a panel lists; the file has all.
const MOST = 60;

export class Behind {
  readonly panel = new Panel();

  constructor(
    private readonly page: CampaignPage,
    private readonly view: View,
  ) {}

  choose(target: Target): void {
    if ("run" in target) this.run(target.run);
    else this.group(target.group);
  }

  private run(run: number): void {
    const { page } = this;
    const { runs } = page;
    const [key, group] = [keyOf(page, run), runs.group[run] as number];
    const [again, report] = [commandOf(page, run), runs.command.replace("{run}", key)];
    const known = page.figures.flatMap(({ name, unit, run: there, value }) => {
      const index = there.indexOf(run);
      return index < 0 ? [] : [make("dt", {}, name), make("dd", {}, `${figure(value[index])} ${unit}`)];
    });
    this.panel.show(
      `Run ${key}`,
      make("p", {}, `${labelOf(page, group)}, seed ${runs.seed[run]}`),
      ...(runs.finished[run] ? [] : [make("p", {}, "The transfer did not finish.")]),
      ...(runs.pages.includes(run)
        ? [make("p", {}, make("a", { href: `reports/${key}.html` }, "the page of this run"))]
        : [make("p", {}, "Its page: ", make("code", {}, report), copies(report))]),
      ...(runs.kept ? [make("p", {}, make("a", { href: `runs/${key}/` }, "its directory"))] : []),
      make("p", {}, "Repeat it: ", make("code", {}, again), copies(again)),
      make("dl", {}, ...known),
      make(
        "p",
        {},
        button("its group", "show the group of this run", () => this.group(group)),
      ),
    );
  }

  private group(number: number): void {
    const { page, view } = this;
    const { seed, finished } = page.runs;
    const { run: there, value, unit } = view.shown;
    const values = new Map(Array.from(there, (run, index) => [run, value[index]]));
    const group = page.groups[number] as Group;
    const runs = [...runsOf(page, number)].sort(
      (one, other) => (seed[one] as number) - (seed[other] as number),
    );
    const listed = runs.slice(0, MOST).map((run) => {
      const known = values.has(run) ? [`${figure(values.get(run))} ${unit}`.trim()] : [];
      const parts = [`seed ${seed[run]}`, ...(finished[run] ? known : ["not finished"]), keyOf(page, run)];
      return make(
        "li",
        {},
        button(parts.join(" · "), `run ${keyOf(page, run)}`, () => this.run(run)),
      );
    });
    const rest = runs.length > MOST ? `, the first ${MOST} here` : "";
    this.panel.show(
      labelOf(page, number),
      make(
        "p",
        {},
        `${count(group.planned)} runs planned, ${count(group.done)} done, ${count(group.finished)} finished, ` +
          `${count(group.failed)} failed`,
      ),
      make(
        "p",
        {},
        `Runs${rest}: `,
        button("CSV", "save all runs of this group as CSV", () => this.list(number)),
      ),
      make("ul", { class: "keys" }, ...listed),
    );
  }

  private list(number: number): void {
    const { page } = this;
    const rows = runsOf(page, number).map((run) => [
      keyOf(page, run),
      String(page.runs.seed[run]),
      page.runs.finished[run] ? "true" : "false",
      commandOf(page, run),
    ]);
    save(`${page.title}-runs.csv`, "text/csv", csv([["run", "seed", "finished", "command"], ...rows]));
  }
}
