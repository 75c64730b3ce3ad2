// What the signs of a chart mean.
import { make } from "../page/dom";
import type { Chart, Series } from "../page/shape";
import { type Style, styleOf } from "../page/theme";
import { LEVEL_DASH, styleFor } from "./option";

const SHAPES: Record<string, string> = {
  circle: '<circle cx="12" cy="6" r="4"/>',
  rect: '<rect x="8" y="2" width="8" height="8"/>',
  triangle: '<path d="M12 1 L17 11 L7 11 Z"/>',
  diamond: '<path d="M12 0 L17 6 L12 12 L7 6 Z"/>',
  arrow: '<path d="M12 1 L16 11 L12 8 L8 11 Z"/>',
};
const PATH = "path://";

export function legendOf(chart: Chart): HTMLElement {
  const items = [
    ...chart.series.map((series) => item(swatch(series), series.name)),
    ...chart.levels.map((level) => item(line(styleOf(null).colour, LEVEL_DASH), level.name)),
  ];
  return make("ul", { class: "legend" }, ...items);
}

// A piece of the line, or the symbol of the points.
export function swatch(series: Pick<Series, "kind" | "role" | "look">): HTMLElement {
  const style = styleFor(series as Series);
  return series.kind === "points" ? swatchOf(style) : line(style.colour, style.dash);
}

export function swatchOf({ colour, symbol }: Style): HTMLElement {
  return sign(
    colour,
    SHAPES[symbol] ?? `<path transform="translate(7 1)" d="${symbol.slice(PATH.length)}"/>`,
  );
}

export function line(colour: string, dash: Style["dash"]): HTMLElement {
  const dashes = dash === "solid" ? "" : dash;
  return sign(
    colour,
    `<path d="M0 6 H24" stroke="${colour}" stroke-width="2.5" stroke-dasharray="${dashes}"/>`,
  );
}

function sign(colour: string, shape: string): HTMLElement {
  const element = make("span", { class: "swatch", "aria-hidden": "true" });
  element.innerHTML = `<svg width="24" height="12" fill="${colour}">${shape}</svg>`;
  return element;
}

function item(sign: HTMLElement, name: string): HTMLElement {
  return make("li", {}, sign, name);
}
