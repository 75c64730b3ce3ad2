// What is shown, for all charts at once: the figure, which axis is where, which candidates.
import { line } from "../chart/legend";
import { make } from "../page/dom";
import { onThemeChange } from "../page/theme";
import { exchange, layoutOf, shownOf } from "./layout";
import { type Option, select, valueOf } from "./select";
import type { Axis, CampaignPage } from "./shape";
import type { View } from "./view";

export function toolbar(page: CampaignPage, view: View): HTMLElement {
  const { axes, figures } = page;
  const names: Option[] = axes.map(({ name }, index) => [String(index), name]);
  const selects: HTMLElement[] = [
    select(
      "figure",
      "Figure",
      figures.map(({ id, name }) => [id, name]),
      () => view.figure,
      (id) =>
        view.change(() => {
          view.figure = id;
        }),
      view,
    ),
  ];
  if (axes.length > 1)
    selects.push(
      select(
        "along",
        "along",
        names,
        () => String(view.along),
        (index) => view.change(() => turn(view, Number(index))),
        view,
      ),
      select(
        "split",
        "split by",
        [["-1", "nothing"], ...names],
        () => String(view.split),
        (index) =>
          view.change(() => {
            if (Number(index) === view.along) turn(view, view.split);
            view.split = Number(index);
          }),
        view,
      ),
    );
  for (const [number, axis] of axes.entries()) selects.push(fixed(axis, number, view));
  return make(
    "div",
    { class: "toolbar", role: "toolbar", "aria-label": "what is shown" },
    make("fieldset", {}, ...selects, linear(view)),
    candidatesOf(page, view),
  );
}

// The axis that ran along splits now, where the other would be lost.
function turn(view: View, along: number): void {
  if (along < 0) return;
  if (view.split === along) view.split = view.along;
  view.along = along;
}

function fixed({ name, values }: Axis, number: number, view: View): HTMLElement {
  const label = valueOf(name, values, number, view);
  const update = () => {
    // Of the others all values are shown.
    label.hidden = number === view.split || number === view.along;
  };
  view.follow(update);
  update();
  return label;
}

function linear(view: View): HTMLElement {
  const box = make("input", { type: "checkbox", name: "linear" });
  const update = () => {
    box.checked = view.linear;
  };
  box.addEventListener("change", () =>
    view.change(() => {
      view.linear = box.checked;
    }),
  );
  view.follow(update);
  update();
  return make("label", {}, box, "linear axis");
}

// The series of the charts, which can be switched off; which there are depends on the axes.
function candidatesOf(page: CampaignPage, view: View): HTMLElement {
  const fieldset = make("fieldset", { class: "series" });
  const fill = () => {
    const focused = fieldset.querySelector<HTMLInputElement>(":focus")?.name;
    const { series } = layoutOf(page, view);
    const shown = new Set(shownOf(page, view).series.map(({ name }) => name));
    const crowded = series.some(({ name }) => !shown.has(name) && !view.hidden.has(name));
    fieldset.replaceChildren(
      make("legend", {}, "Shown"),
      ...series.map((one) => {
        const { name, style } = one;
        const box = make("input", { type: "checkbox", name });
        box.checked = shown.has(name);
        box.addEventListener("change", () =>
          box.checked ? exchange(page, view, one) : view.show(name, false),
        );
        return make("label", {}, box, line(style.colour, style.dash), name);
      }),
      ...(crowded ? [make("span", { class: "hint" }, "more cannot be told apart: choose which")] : []),
    );
    for (const box of fieldset.querySelectorAll("input")) if (box.name === focused) box.focus();
  };
  view.follow(fill);
  onThemeChange(fill);
  fill();
  return fieldset;
}
