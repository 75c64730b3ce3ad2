// What is under the pointer: a line through all charts at its time, and the point's figures beside it.
import type { Plot, Point } from "../chart/plot";
import { make } from "../page/dom";
import type { Page } from "../page/shape";
import { packetOf } from "./packet";

export class Reader {
  readonly element = make("div", { class: "reader", role: "status", hidden: "" });

  constructor(
    private readonly page: Page,
    private readonly plots: Plot[],
  ) {}

  look(plot: Plot, time: number | null, point: Point | null): void {
    for (const other of this.plots) other.mark(time);
    plot.root.classList.toggle("on-point", point !== null);
    this.element.hidden = point === null;
    if (point) this.show(plot, point);
  }

  private show(plot: Plot, point: Point): void {
    const { series, grid } = point.drawn;
    const lane = grid === "lanes" ? plot.chart.lanes[point.value]?.name : undefined;
    const value = lane ?? `${Number(point.value.toPrecision(7))} ${plot.chart.value ?? ""}`;
    const packet = packetOf(this.page, point);
    this.element.replaceChildren(
      make("strong", {}, `${series.name} · ${value}`),
      make("span", {}, `${point.at.toFixed(6)} s`),
      ...(packet ? [make("span", {}, `packet ${packet.record} of ${packet.capture}`)] : []),
    );
    const box = plot.root.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = this.element;
    const left = Math.min(box.left + point.left + 12, window.innerWidth - offsetWidth - 8);
    const top = Math.max(box.top + point.top - offsetHeight - 12, 4);
    this.element.style.transform = `translate(${left}px, ${top}px)`;
  }
}
