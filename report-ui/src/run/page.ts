// The page of one run.
import { drawFigure } from "../chart/figure";
import type { Plot } from "../chart/plot";
import { react } from "../chart/pointer";
import { drawTrack } from "../chart/track";
import { make, onWidthChange } from "../page/dom";
import { expose, exposeDrawn } from "../page/expose";
import { header } from "../page/header";
import { provenance } from "../page/provenance";
import type { Page } from "../page/shape";
import { drawTable } from "../page/table";
import { onThemeChange } from "../page/theme";
import { eventTable } from "./events";
import { PacketPanel } from "./packet";
import { Reader } from "./reader";
import { toolbar } from "./toolbar";
import { View } from "./view";

export async function drawRun(page: Page): Promise<void> {
  const view = new View({ from: page.from_s, to: page.to_s });
  const plots: Plot[] = [];
  expose({ page, view, plots });
  const charts = make(
    "section",
    { class: "charts", "aria-label": "charts" },
    make("h2", { class: "unseen" }, "Charts"),
  );
  const packets = new PacketPanel(page);
  document.body.append(
    make(
      "main",
      {},
      header(page, [
        ...page.charts.slice(0, 1).map(named),
        ...page.tables.map(named),
        ...[...page.charts.slice(1), ...page.tracks].map(named),
        ...(page.events.length ? [["event-table", "What happened"] as [string, string]] : []),
        ["provenance", "Where this comes from"],
      ]),
      toolbar(page, view),
      charts,
      ...(page.events.length ? [eventTable(page, view, packets)] : []),
      provenance(page),
    ),
    packets.panel.element,
  );
  const reader = new Reader(page, plots);
  document.body.append(reader.tip.element);
  for (const chart of page.charts) {
    const plot = drawFigure(chart, page, view, charts);
    react(plot, {
      look: (at, time, point) => reader.look(at, time, point),
      choose: (point) => packets.choose(point),
    });
    plots.push(plot);
    if (plots.length === 1) charts.append(...page.tables.map(drawTable));
    // What is drawn is seen, and can be used, before the next one.
    await new Promise((next) => setTimeout(next));
  }
  if (!plots.length) charts.append(...page.tables.map(drawTable));
  for (const track of page.tracks) drawTrack(track, page, view, charts);
  const redraw = () => {
    for (const plot of plots) plot.draw();
  };
  view.follow(redraw);
  onThemeChange(redraw);
  onWidthChange(charts, redraw);
  exposeDrawn();
}

function named({ id, title }: { id: string; title: string }): [string, string] {
  return [id, title];
}
