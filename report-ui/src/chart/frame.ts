// What every chart has around it: heading, legend, ways to save it, what it shows and how that is computed.
import { button, make } from "../page/dom";
import type { Definition } from "../page/shape";
import { onThemeChange } from "../page/theme";

export interface About {
  id: string;
  title: string;
  note: string;
  definitions: Definition[];
  thinned: string | null;
}

export interface Frame {
  figure: HTMLElement;
  title: HTMLElement;
  // Draws the legend again.
  renew(): void;
  caption: HTMLElement;
}

// `takes` are ways to save it, by the name of the format.
export function frameOf(
  about: About,
  body: Node,
  legend: () => HTMLElement,
  takes: Record<string, () => void>,
): Frame {
  const title = make("h3", { id: `${about.id}-title` }, about.title);
  let keys = legend();
  const renew = () => {
    const next = legend();
    keys.replaceWith(next);
    keys = next;
  };
  onThemeChange(renew);
  const tools = Object.entries(takes).map(([format, take]) =>
    button(format, `save ${about.title} as ${format}`, take),
  );
  const head = make("div", { class: "head" }, title, keys, make("span", { class: "tools" }, ...tools));
  const caption = make("figcaption", {}, ...(about.thinned ? [thinned(about.thinned)] : []), computed(about));
  const figure = make("figure", { id: about.id, "aria-labelledby": title.id }, head, body, caption);
  return { figure, title, renew, caption };
}

function thinned(content: string): HTMLElement {
  return make("p", { class: "thinned" }, content);
}

function computed(about: About): HTMLElement {
  return make(
    "details",
    {},
    make("summary", {}, "How computed"),
    make("p", {}, about.note),
    make("dl", {}, ...about.definitions.flatMap(defined)),
  );
}

function defined({ column, meaning }: Definition): HTMLElement[] {
  return [make("dt", {}, make("code", {}, column)), make("dd", {}, meaning)];
}
