// What the page is about, and what came of it.
import { make } from "./dom";
import type { Page } from "./shape";

// Sentences that are seen at once; the others unfold.
const FIRST = 7;

// `contents` are the parts of the page: their ids and titles.
export function header(
  page: Pick<Page, "title" | "subtitle" | "badges" | "verdict">,
  contents: [string, string][],
): HTMLElement {
  const badges = page.badges.map(({ text, meaning }) => make("li", { title: meaning }, text));
  return make(
    "header",
    {},
    make("h1", {}, together(page.title)),
    make(
      "div",
      { class: "about" },
      make("p", { class: "faint" }, page.subtitle),
      make("ul", { class: "badges", "aria-label": "kind of run" }, ...badges),
    ),
    sentences(page.verdict.slice(0, FIRST)),
    ...more(page.verdict.slice(FIRST)),
    navigation(contents),
  );
}

function sentences(verdict: string[]): HTMLElement {
  return make("ul", { class: "verdict" }, ...verdict.map((sentence) => make("li", {}, together(sentence))));
}

function more(verdict: string[]): HTMLElement[] {
  if (!verdict.length) return [];
  const unfolding = make("details", {}, make("summary", {}, `${verdict.length} more`), sentences(verdict));
  window.addEventListener("beforeprint", () => {
    unfolding.open = true;
  });
  return [unfolding];
}

// The address says what the charts show: following a link leaves it alone.
function navigation(contents: [string, string][]): HTMLElement {
  const links = contents.map(([id, title]) => {
    const link = make("a", { href: `#${id}` }, title);
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const part = document.getElementById(id);
      part?.scrollIntoView();
      part?.querySelector<HTMLElement>("[tabindex], a, button, summary")?.focus({ preventScroll: true });
    });
    return make("li", {}, link);
  });
  return make("nav", { "aria-label": "contents" }, make("ul", {}, ...links));
}

// Lists what is on the page: a chart with nothing to draw is not.
export function listShown(): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('nav[aria-label="contents"] a')) {
    const part = document.getElementById(link.hash.slice(1));
    (link.parentElement as HTMLElement).hidden = part?.hidden ?? true;
  }
}

// A number and its unit stay on one line.
function together(sentence: string): string {
  return sentence.replaceAll(/(\d) (?=(%|[kMGT]?B|[kMG]?bit\/s|ms|s|min|h)\b|%)/g, "$1\u00a0");
}
