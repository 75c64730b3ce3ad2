// A chart of a run with all that belongs to it.
import { make } from "../page/dom";
import type { Chart, Page } from "../page/shape";
import type { View } from "../run/view";
import { pictureOf, saveCsv } from "./export";
import { frameOf } from "./frame";
import { legendOf } from "./legend";
import { savePng, saveSvg } from "./picture";
import { Plot } from "./plot";

export function drawFigure(chart: Chart, page: Page, view: View, container: HTMLElement): Plot {
  const body = make("div");
  const picture = () => pictureOf(plot, page);
  const takes = {
    PNG: () => savePng(picture),
    SVG: () => saveSvg(picture),
    CSV: () => saveCsv(plot, page),
  };
  container.append(frameOf(chart, body, () => legendOf(chart), takes).figure);
  const plot = new Plot(chart, view, page, body);
  return plot;
}
