// Where the figures come from, what limits trust in them, and how to get them again.
import { button, copies, make, save } from "./dom";
import type { Page } from "./shape";

export function provenance({ provenance: { facts, remarks, command, scenario } }: Page): HTMLElement {
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
  if (scenario)
    section.append(
      make(
        "details",
        {},
        make("summary", {}, "The scenario in full"),
        button("save scenario.toml", "save the scenario as a file", () =>
          save("scenario.toml", "application/toml", scenario),
        ),
        make("pre", {}, scenario),
      ),
    );
  return section;
}
