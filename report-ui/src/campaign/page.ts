// The page of a campaign.
import { frameOf } from "../chart/frame";
import { fileName } from "../chart/picture";
import { make, onWidthChange, save, wide } from "../page/dom";
import { expose, exposeDrawn } from "../page/expose";
import { header, listShown } from "../page/header";
import { provenance } from "../page/provenance";
import { drawTable } from "../page/table";
import { onThemeChange } from "../page/theme";
import { Tip } from "../page/tip";
import { share, variation } from "./bars";
import { Behind } from "./behind";
import { boxes } from "./boxes";
import { csv } from "./csv";
import { delay, rtt } from "./curves";
import { drawFigure } from "./figure";
import { gain } from "./gain";
import { heat } from "./heat";
import { headingOf, NOTE, numberRows, numbersOf } from "./numbers";
import { chartOf, type Plot } from "./plot";
import { react } from "./pointer";
import { scatter } from "./scatter";
import type { CampaignPage, Chart } from "./shape";
import { toolbar } from "./toolbar";
import { View } from "./view";

// The answer first: what MPTCP gives.
const KINDS = [gain, heat, boxes, share, rtt, delay, scatter, variation];

export async function drawCampaign(page: CampaignPage): Promise<void> {
  const view = new View(page);
  const plots: Plot[] = [];
  expose({ page, view, plots });
  const behind = new Behind(page, view);
  const tip = new Tip();
  const charts = make(
    "section",
    { class: "charts side-by-side", "aria-label": "charts" },
    make("h2", { class: "unseen" }, "Charts"),
  );
  document.body.append(
    make(
      "main",
      {},
      header(page, [
        ...[...KINDS.map(({ id }) => chartOf(page, id)), chartOf(page, "numbers")]
          .filter(({ title }) => title)
          .map(({ id, title }): [string, string] => [id, title]),
        ...page.tables.map(({ id, title }): [string, string] => [id, title]),
        ["provenance", "Where this comes from"],
      ]),
      toolbar(page, view),
      charts,
      numbers(chartOf(page, "numbers"), page, view, behind),
      ...page.tables.map(drawTable),
      provenance(page),
    ),
    behind.panel.element,
    tip.element,
  );
  for (const kind of KINDS) {
    const plot = drawFigure(kind, chartOf(page, kind.id), page, view, charts);
    react(plot, tip, (target) => behind.choose(target));
    plots.push(plot);
    // What is drawn is seen, and can be used, before the next one.
    await new Promise((next) => setTimeout(next));
  }
  listShown();
  view.follow(listShown);
  const redraw = () => {
    for (const plot of plots) plot.draw();
  };
  onThemeChange(redraw);
  onWidthChange(charts, redraw);
  exposeDrawn();
}

function numbers(chart: Chart, page: CampaignPage, view: View, behind: Behind): HTMLElement {
  const body = wide(chart.title);
  const takes = {
    CSV: () => save(`${fileName(page.title, "numbers")}.csv`, "text/csv", csv(numberRows(page))),
  };
  const { figure, title, caption } = frameOf(chart, body, () => make("ul", { class: "legend" }), takes);
  const fill = () => {
    title.textContent = `${chart.title}: ${headingOf(page, view)}`;
    body.replaceChildren(numbersOf(page, view, (group) => behind.choose({ group })));
  };
  caption.prepend(make("p", {}, NOTE));
  view.follow(fill);
  fill();
  return figure;
}
