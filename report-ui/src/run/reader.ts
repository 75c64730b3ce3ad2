// What is under the pointer: a line through all charts at its time, and the point's figures beside it.
import type { Plot, Point } from "../chart/plot";
import type { Page } from "../page/shape";
import { Tip } from "../page/tip";
import { packetOf } from "./packet";

export class Reader {
  readonly tip = new Tip();

  constructor(
    private readonly page: Page,
    private readonly plots: Plot[],
  ) {}

  look(plot: Plot, time: number | null, point: Point | null): void {
    for (const other of this.plots) other.mark(time);
    plot.root.classList.toggle("on-point", point !== null);
    if (point) this.show(plot, point);
    else this.tip.hide();
  }

  private show(plot: Plot, point: Point): void {
    const { series, grid } = point.drawn;
    const lane = grid === "lanes" ? plot.chart.lanes[point.value]?.name : undefined;
    const value = lane ?? `${Number(point.value.toPrecision(7))} ${plot.chart.value ?? ""}`;
    const packet = packetOf(this.page, point);
    this.tip.show(
      plot.root,
      point.left,
      point.top,
      `${series.name} · ${value}`,
      `${point.at.toFixed(6)} s`,
      ...(packet ? [`packet ${packet.record} of ${packet.capture}`] : []),
    );
  }
}
