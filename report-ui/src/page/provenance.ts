// Where the figures come from, what limits trust in them, and how to get them again.
import { button, copies, make, save } from "./dom";
import type { Document, Page } from "./shape";

export function provenance({
  provenance: { facts, remarks, command, documents },
}: Pick<Page, "provenance">): HTMLElement {
  const section = make("section", { id: "provenance" }, make("h2", {}, "Where this comes from"));
  if (remarks.length)
    section.append(
      make("h3", {}, "What limits trust in the figures"),
      make("ul", { class: "remarks" }, ...remarks.map((remark) => make("li", {}, remark))),
    );
  if (command)
    section.append(
      make("p", {}, "Run it again, with the scenario below: ", make("code", {}, command), copies(command)),
    );
  section.append(
    make("dl", {}, ...facts.flatMap(({ name, value }) => [make("dt", {}, name), make("dd", {}, value)])),
  );
  section.append(...documents.map(unfolding));
  return section;
}

function unfolding({ title, file, text }: Document): HTMLElement {
  return make(
    "details",
    {},
    make("summary", {}, title),
    button(`save ${file}`, `save ${title} as ${file}`, () => save(file, "text/plain", text)),
    make("pre", {}, text),
  );
}
