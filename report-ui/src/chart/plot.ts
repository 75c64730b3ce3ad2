// A chart on the page: draws itself as the view changes, finds the point under a pixel, and shows where the others are
// looked at.
import { make } from "../page/dom";
import type { Chart, Page } from "../page/shape";
import type { View } from "../run/view";
import { type EChartsType, init } from "./echarts";
import { type Described, type Drawn, describe, heightOf, leftOf } from "./option";

export interface Point {
  drawn: Drawn;
  // Among the drawn points, and in the series.
  index: number;
  number: number;
  at: number;
  value: number;
  // Where it is, in pixels of the plot.
  left: number;
  top: number;
}

// How far from a point one may be and still mean it.
const REACH = 14;

export class Plot {
  readonly root: HTMLElement;
  readonly echarts: EChartsType;
  drawn: Drawn[] = [];
  private readonly height: number;
  private readonly crosshair = make("div", { class: "crosshair", hidden: "" });

  constructor(
    readonly chart: Chart,
    readonly view: View,
    private readonly page: Page,
    frame: HTMLElement,
  ) {
    this.root = make("div", { class: "plot", tabindex: "0", role: "group" });
    this.height = heightOf(chart);
    this.root.style.height = `${this.height}px`;
    const canvas = make("div", { class: "canvas" });
    this.root.append(canvas, this.crosshair);
    frame.append(this.root);
    this.echarts = init(canvas, null, { width: this.root.clientWidth, height: this.height });
    this.draw();
  }

  // Where its times begin, in pixels.
  get left(): number {
    return leftOf(this.page, this.root.clientWidth);
  }

  draw(): void {
    const width = this.root.clientWidth;
    const { option, drawn } = this.describe(width);
    this.drawn = drawn;
    if (this.echarts.getWidth() !== width) this.echarts.resize({ width, height: this.height });
    this.echarts.setOption(option, { notMerge: true });
    this.root.setAttribute("aria-label", this.label());
  }

  // What is shown, as a picture of some width with room above.
  describe(width: number, above = 0): Described {
    return describe(this.chart, this.view, this.page, width, above);
  }

  // The time at a pixel, if it is within the axes.
  timeAt(left: number): number {
    return this.echarts.convertFromPixel({ xAxisIndex: 0 }, left) as unknown as number;
  }

  pixelAt(time: number): number {
    return this.echarts.convertToPixel({ xAxisIndex: 0 }, time) as unknown as number;
  }

  nearest(left: number, top: number): Point | null {
    let best: Point | null = null;
    let least = REACH ** 2;
    for (const drawn of this.drawn) {
      const toPixel = this.scale(drawn);
      const { points } = drawn.slice;
      for (let index = 0; 2 * index < points.length; index += 1) {
        const [x, y] = toPixel(index);
        const distance = (x - left) ** 2 + (y - top) ** 2;
        if (distance < least) {
          least = distance;
          best = this.point(drawn, index);
        }
      }
    }
    return best;
  }

  // The one after (or before) a point in its series; without a point the first of the chart.
  beside(point: Point | null, step: number): Point | null {
    const drawn = point?.drawn ?? this.drawn.find((one) => one.slice.numbers.length > 0);
    if (!drawn) return null;
    const index = point ? point.index + step : 0;
    return index >= 0 && index < drawn.slice.numbers.length ? this.point(drawn, index) : point;
  }

  mark(time: number | null): void {
    this.crosshair.hidden = time === null;
    if (time !== null) this.crosshair.style.left = `${this.pixelAt(time)}px`;
  }

  private point(drawn: Drawn, index: number): Point {
    const [left, top] = this.scale(drawn)(index);
    const at = drawn.slice.points[2 * index] as number;
    const value = drawn.slice.points[2 * index + 1] as number;
    return { drawn, index, number: drawn.slice.numbers[index] as number, at, value, left, top };
  }

  // Axes are linear: two points of them give all others, faster than asking for each.
  private scale(drawn: Drawn): (sample: number) => [number, number] {
    const index = this.chart.value !== null && drawn.grid === "lanes" ? 1 : 0;
    const pixel = (axis: "x" | "y", value: number) =>
      this.echarts.convertToPixel({ [`${axis}AxisIndex`]: index }, value) as unknown as number;
    const { from, to } = this.view.span;
    const [left, right] = [pixel("x", from), pixel("x", to)];
    const [zero, one] = [pixel("y", 0), pixel("y", 1)];
    const { points } = drawn.slice;
    return (sample) => [
      left + (((points[2 * sample] as number) - from) * (right - left)) / (to - from),
      zero + (points[2 * sample + 1] as number) * (one - zero),
    ];
  }

  private label(): string {
    return `${this.chart.title}. Arrow keys move, plus and minus zoom, 0 shows all, brackets step through points.`;
  }
}
