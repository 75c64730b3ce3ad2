// What is shown, for all charts at once: which subflows, which span of time.
import { swatch } from "../chart/legend";
import { button, make } from "../page/dom";
import type { Page, Subflow } from "../page/shape";
import { onThemeChange } from "../page/theme";
import type { View } from "./view";

export function toolbar(page: Page, view: View): HTMLElement {
  return make(
    "div",
    { class: "toolbar", role: "toolbar", "aria-label": "what is shown" },
    ...(page.subflows.length > 1 ? [subflows(page, view)] : []),
    times(view),
    make("span", { class: "hint" }, "drag to zoom, double-click for all; click a point for its packet"),
  );
}

function subflows(page: Page, view: View): HTMLElement {
  return make(
    "fieldset",
    {},
    make("legend", {}, page.parts),
    ...page.subflows.map((one) => toggle(one, view)),
  );
}

function toggle({ subflow, name, look }: Subflow, view: View): HTMLElement {
  const box = make("input", { type: "checkbox", name: `subflow-${subflow}` });
  const update = () => {
    box.checked = view.shows(subflow);
  };
  box.addEventListener("change", () => view.show(subflow, box.checked));
  view.follow(update);
  update();
  let sign = swatch({ kind: "line", role: "data", look });
  const label = make("label", {}, box, sign, name);
  onThemeChange(() => {
    const next = swatch({ kind: "line", role: "data", look });
    sign.replaceWith(next);
    sign = next;
  });
  return label;
}

function times(view: View): HTMLElement {
  const from = time("from", view);
  const to = time("to", view);
  return make(
    "fieldset",
    {},
    make("legend", {}, "Time"),
    from,
    "–",
    to,
    "s",
    button("◀", "earlier", () => view.move(-0.5)),
    button("▶", "later", () => view.move(0.5)),
    button("+", "zoom in", () => view.scale(0.5)),
    button("−", "zoom out", () => view.scale(2)),
    button("all", "show the whole time", () => view.reset()),
  );
}

function time(end: "from" | "to", view: View): HTMLElement {
  const field = make("input", { type: "number", step: "any", "aria-label": `${end}, in seconds`, name: end });
  const update = () => {
    field.value = String(Number(view.span[end].toFixed(6)));
  };
  field.addEventListener("change", () => view.zoom({ ...view.span, [end]: Number(field.value) }));
  view.follow(update);
  update();
  return field;
}
