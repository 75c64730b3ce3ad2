// What the page is about, and what came of it.
import { make } from "./dom";
import type { Page } from "./shape";

export function header(page: Page): HTMLElement {
  const badges = page.badges.map(({ text, meaning }) => make("li", { title: meaning }, text));
  return make(
    "header",
    {},
    make("h1", {}, page.title),
    make("p", { class: "faint" }, page.subtitle),
    make("ul", { class: "badges", "aria-label": "kind of run" }, ...badges),
    make("p", { class: "verdict" }, page.verdict.join(" ")),
  );
}
