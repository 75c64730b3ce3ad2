// What all charts of a campaign share: the figure, which axis runs along and which splits, the values of the others, and
// what is hidden. It lives in the address, so that a link shows what its sender saw.
import type { CampaignPage, Figure } from "./shape";

export class View {
  figure: string;
  // Places of axes; -1 for none.
  along: number;
  split: number;
  // A value of each axis: what is shown where the axis neither runs along nor splits.
  readonly at: number[];
  linear = false;
  // Candidates whose throughputs are held against each other.
  across: [number, number];
  // The gain, or the id of a figure.
  heat = "gain";
  readonly hidden = new Set<string>();
  private readonly followers: (() => void)[] = [];
  private readonly initial: string;

  constructor(private readonly page: CampaignPage) {
    const { axes, figures, candidates } = page;
    this.figure = figures[0]?.id ?? "";
    this.along = axes.length ? 0 : -1;
    this.split = axes.length > 1 ? 1 : -1;
    this.at = axes.map(({ values }) => values.length - 1);
    this.across = candidates.length > 2 ? [1, 2] : [0, candidates.length - 1];
    this.initial = this.parameters().toString();
    this.read();
    window.addEventListener("hashchange", () => {
      this.read();
      this.tell();
    });
  }

  get shown(): Figure {
    return this.page.figures.find(({ id }) => id === this.figure) as Figure;
  }

  follow(follower: () => void): void {
    this.followers.push(follower);
  }

  change(change: () => void): void {
    change();
    this.settle();
    const parameters = this.parameters().toString();
    history.replaceState(null, "", parameters === this.initial ? "#" : `#${parameters}`);
    this.tell();
  }

  show(name: string, shown: boolean): void {
    this.change(() => {
      if (shown) this.hidden.delete(name);
      else this.hidden.add(name);
    });
  }

  private tell(): void {
    for (const follower of this.followers) follower();
  }

  private parameters(): URLSearchParams {
    const { axes } = this.page;
    const parameters = new URLSearchParams({
      figure: this.figure,
      heat: this.heat,
      across: this.across.join(","),
    });
    if (this.along >= 0) parameters.set("along", axes[this.along]?.name ?? "");
    if (this.split >= 0) parameters.set("split", axes[this.split]?.name ?? "");
    parameters.set("at", this.at.join(","));
    if (this.linear) parameters.set("linear", "");
    for (const name of this.hidden) parameters.append("hide", name);
    return parameters;
  }

  // What an address asks for and the page does not have is left as it is.
  private read(): void {
    const parameters = new URLSearchParams(location.hash.slice(1) || this.initial);
    const { axes, figures, candidates } = this.page;
    const axis = (name: string | null) => axes.findIndex((one) => one.name === name);
    const among = (index: number, length: number) => Number.isInteger(index) && index >= 0 && index < length;
    const has = (id: string | null): id is string => figures.some((one) => one.id === id);
    const [figure, heat] = [parameters.get("figure"), parameters.get("heat")];
    if (has(figure)) this.figure = figure;
    if (heat === "gain" || has(heat)) this.heat = heat;
    if (axes.length) this.along = Math.max(axis(parameters.get("along")), 0);
    this.split = axis(parameters.get("split"));
    parameters
      .get("at")
      ?.split(",")
      .map(Number)
      .forEach((index, number) => {
        if (number < axes.length && among(index, axes[number]?.values.length ?? 0)) this.at[number] = index;
      });
    const [one, other] = parameters.get("across")?.split(",").map(Number) ?? [];
    if (among(one ?? -1, candidates.length) && among(other ?? -1, candidates.length))
      this.across = [one as number, other as number];
    this.linear = parameters.has("linear");
    this.hidden.clear();
    for (const name of parameters.getAll("hide")) this.hidden.add(name);
    this.settle();
  }

  private settle(): void {
    if (this.split === this.along) this.split = -1;
  }
}
