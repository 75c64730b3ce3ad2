// A chart of a campaign on the page: draws itself as the view changes, and knows what is under a pixel.
import { type EChartsType, init, type Option } from "../chart/echarts";
import type { Key } from "../chart/picture";
import { make } from "../page/dom";
import type { CampaignPage, Chart } from "./shape";
import type { View } from "./view";

// What a point, box or bar stands for.
export type Target = { run: number } | { group: number };

export interface Item {
  // On the axes.
  at: [number, number];
  lines: string[];
  target: Target;
}

export interface Described {
  title: string;
  option: Option;
  items: Item[];
  // What signs mean; null where they are the series of the toolbar.
  keys: Key[] | null;
}

// A kind of chart: how it is drawn, and its numbers.
export interface Kind {
  id: string;
  height: number;
  // Whether it takes the whole width.
  wide(page: CampaignPage): boolean;
  // Null where there is nothing to draw.
  describe(page: CampaignPage, view: View, width: number, above: number): Described | null;
  rows(page: CampaignPage, view: View): string[][];
  // What can be chosen for this chart alone.
  controls?(page: CampaignPage, view: View): HTMLElement[];
}

export function chartOf(page: CampaignPage, id: string): Chart {
  return page.charts.find((one) => one.id === id) as Chart;
}

// The name of the axis of its values.
export function axisNameOf({ value, unit }: Chart): string {
  return unit ? `${value}, ${unit}` : value;
}

export interface Placed {
  item: Item;
  left: number;
  top: number;
}

// How far from a point one may be and still mean it.
const REACH = 18;

export class Plot {
  readonly root: HTMLElement;
  readonly echarts: EChartsType;
  described: Described | null = null;
  private placed: Placed[] | null = null;

  constructor(
    readonly kind: Kind,
    readonly chart: Chart,
    readonly page: CampaignPage,
    readonly view: View,
  ) {
    this.root = make("div", { class: "plot still", tabindex: "0", role: "group" });
    this.root.style.height = `${kind.height}px`;
    const canvas = make("div", { class: "canvas" });
    this.root.append(canvas);
    this.echarts = init(canvas, null, { width: 600, height: kind.height });
  }

  draw(): void {
    const width = this.root.clientWidth;
    this.described = this.describe(width);
    this.placed = null;
    if (!this.described) return;
    if (this.echarts.getWidth() !== width) this.echarts.resize({ width, height: this.kind.height });
    const label = `${this.described.title}. Brackets step through what is drawn, Enter shows the runs behind it.`;
    this.root.setAttribute("aria-label", label);
    const description = `${this.described.title}: ${this.described.items.length} marks.`;
    const aria = { enabled: true, label: { description } };
    this.echarts.setOption({ animation: false, aria, ...this.described.option }, { notMerge: true });
  }

  describe(width: number, above = 0): Described | null {
    return this.kind.describe(this.page, this.view, width, above);
  }

  get marks(): Placed[] {
    this.placed ??= (this.described?.items ?? []).map((item) => {
      const [left, top] = this.echarts.convertToPixel({ gridIndex: 0 }, item.at) as [number, number];
      return { item, left, top };
    });
    return this.placed;
  }

  nearest(left: number, top: number): Placed | null {
    let best: Placed | null = null;
    let least = REACH ** 2;
    for (const placed of this.marks) {
      const distance = (placed.left - left) ** 2 + (placed.top - top) ** 2;
      if (distance < least) [best, least] = [placed, distance];
    }
    return best;
  }
}
