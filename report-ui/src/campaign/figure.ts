// A chart of a campaign with all that belongs to it.
import { frameOf } from "../chart/frame";
import { fileName, HEAD, type Key, type Picture, savePng, saveSvg } from "../chart/picture";
import { make, save } from "../page/dom";
import { csv } from "./csv";
import { shownOf } from "./layout";
import { type Kind, Plot } from "./plot";
import type { CampaignPage, Chart } from "./shape";
import type { View } from "./view";

const WIDE = 1000;
const NARROW = 640;

export function drawFigure(
  kind: Kind,
  chart: Chart,
  page: CampaignPage,
  view: View,
  container: HTMLElement,
): Plot {
  const plot = new Plot(kind, chart, page, view);
  const name = () => fileName(page.title, kind.id, kind.id === "boxes" ? view.figure : "");
  const picture = (): Picture => {
    const width = kind.wide(page) ? WIDE : NARROW;
    const made = plot.describe(width, HEAD);
    return {
      name: name(),
      title: `${made?.title} · ${page.title}`,
      width,
      height: kind.height + HEAD,
      option: made?.option ?? {},
      keys: made?.keys ?? seriesKeys(page, view),
    };
  };
  const controls = kind.controls?.(page, view) ?? [];
  const takes = {
    PNG: () => savePng(picture),
    SVG: () => saveSvg(picture),
    CSV: () => save(`${name()}.csv`, "text/csv", csv(kind.rows(page, view))),
  };
  const frame = frameOf(chart, plot.root, () => legendOf(plot.described?.keys ?? []), takes);
  if (kind.wide(page)) frame.figure.classList.add("broad");
  if (controls.length) frame.title.after(make("span", { class: "controls" }, ...controls));
  container.append(frame.figure);
  const draw = () => {
    plot.draw();
    frame.figure.hidden = plot.described === null;
    frame.title.textContent = plot.described?.title ?? chart.title;
    frame.renew();
  };
  draw();
  view.follow(draw);
  return plot;
}

function legendOf(keys: Key[]): HTMLElement {
  const items = keys.map(({ sign, colour, name }) =>
    make("li", {}, make("span", { "aria-hidden": "true", style: `color: ${colour}` }, sign), name),
  );
  return make("ul", { class: "legend" }, ...items);
}

function seriesKeys(page: CampaignPage, view: View): Key[] {
  return shownOf(page, view).series.map(({ name, style }) => ({
    sign: style.dash === "solid" ? "—" : "- -",
    colour: style.colour,
    name,
  }));
}
