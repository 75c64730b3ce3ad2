// What the page is about, and what came of it.
import { make } from "./dom";
import type { Page } from "./shape";

export function header(page: Pick<Page, "title" | "subtitle" | "badges" | "verdict">): HTMLElement {
  const badges = page.badges.map(({ text, meaning }) => make("li", { title: meaning }, text));
  return make(
    "header",
    {},
    make("h1", {}, page.title),
    make("p", { class: "faint" }, page.subtitle),
    make("ul", { class: "badges", "aria-label": "kind of run" }, ...badges),
    make("ul", { class: "verdict" }, ...page.verdict.map((sentence) => make("li", {}, together(sentence)))),
  );
}

// A number and its unit stay on one line.
function together(sentence: string): string {
  return sentence.replaceAll(/(\d) (?=(%|[kMGT]?B|[kMG]?bit\/s|ms|s|min|h)\b|%)/g, "$1\u00a0");
}
