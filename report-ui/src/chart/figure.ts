// A chart with all that belongs to it: heading, legend, what it shows and how that is computed, ways to take it along.
import { button, make } from "../page/dom";
import type { Chart, Definition, Page } from "../page/shape";
import { onThemeChange } from "../page/theme";
import type { View } from "../run/view";
import { saveCsv, savePng, saveSvg } from "./export";
import { legendOf } from "./legend";
import { Plot } from "./plot";

export function drawFigure(chart: Chart, page: Page, view: View, place: HTMLElement): Plot {
  const head = make("div", { class: "head" }, make("h3", { id: `${chart.id}-title` }, chart.title));
  const figure = make("figure", { id: chart.id, "aria-labelledby": `${chart.id}-title` }, head);
  let legend = legendOf(chart);
  head.append(legend);
  onThemeChange(() => {
    const next = legendOf(chart);
    legend.replaceWith(next);
    legend = next;
  });
  place.append(figure);
  const plot = new Plot(chart, view, page.moments, figure);
  const formats = { PNG: savePng, SVG: saveSvg, CSV: saveCsv };
  head.append(
    make(
      "span",
      { class: "tools" },
      ...Object.entries(formats).map(([name, save]) =>
        button(name, `save ${chart.title} as ${name}`, () => save(plot, page)),
      ),
    ),
  );
  const thinned = chart.thinned ? [make("p", { class: "thinned" }, chart.thinned)] : [];
  figure.append(make("figcaption", {}, ...thinned, computed(chart)));
  return plot;
}

function computed(chart: Chart): HTMLElement {
  return make(
    "details",
    {},
    make("summary", {}, "How computed"),
    make("p", {}, chart.note),
    make("dl", {}, ...chart.definitions.flatMap(defined)),
  );
}

function defined({ column, meaning }: Definition): HTMLElement[] {
  return [make("dt", {}, make("code", {}, column)), make("dd", {}, meaning)];
}
