// What is shown, for all charts at once: the figure, which axis is where, which contenders.
import { line } from "../chart/legend";
import { make } from "../page/dom";
import { onThemeChange } from "../page/theme";
import { layoutOf } from "./layout";
import type { CampaignPage } from "./shape";
import type { View } from "./view";

type Option = [value: string, name: string];

export function toolbar(page: CampaignPage, view: View): HTMLElement {
  const { axes, figures, contenders } = page;
  const names: Option[] = axes.map(({ name }, place) => [String(place), name]);
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
        (place) => view.change(() => turn(view, Number(place))),
        view,
      ),
      select(
        "split",
        "split by",
        [["-1", "nothing"], ...names],
        () => String(view.split),
        (place) =>
          view.change(() => {
            if (Number(place) === view.along) turn(view, view.split);
            view.split = Number(place);
          }),
        view,
      ),
    );
  for (const [number, axis] of axes.entries()) selects.push(valueOf(axis.name, axis.values, number, view));
  if (contenders.length > 1) {
    const options: Option[] = contenders.map((name, place) => [String(place), name]);
    for (const side of [0, 1] as const)
      selects.push(
        select(
          `across-${side}`,
          side ? "against" : "scatter",
          options,
          () => String(view.across[side]),
          (place) =>
            view.change(() => {
              view.across[side] = Number(place);
            }),
          view,
        ),
      );
  }
  if (axes.length > 1)
    selects.push(
      select(
        "heat",
        "heat map",
        [["gain", "Gain"], ...figures.map(({ id, name }): Option => [id, name])],
        () => view.heat,
        (id) =>
          view.change(() => {
            view.heat = id;
          }),
        view,
      ),
    );
  return make(
    "div",
    { class: "toolbar", role: "toolbar", "aria-label": "what is shown" },
    make("fieldset", {}, ...selects, linear(view)),
    contendersOf(page, view),
  );
}

// The axis that ran along splits now, where the other would be lost.
function turn(view: View, along: number): void {
  if (along < 0) return;
  if (view.split === along) view.split = view.along;
  view.along = along;
}

function valueOf(name: string, values: string[], number: number, view: View): HTMLElement {
  const options = values.map((value, place): Option => [String(place), value]);
  const set = (place: string) =>
    view.change(() => {
      view.at[number] = Number(place);
    });
  const label = select(`at-${name}`, name, options, () => String(view.at[number]), set, view);
  const update = () => {
    // Where it splits, all its values are shown; along, distributions are of one of them.
    label.hidden = number === view.split;
    label.firstChild?.replaceWith(number === view.along ? `distributions at ${name}` : name);
  };
  view.follow(update);
  update();
  return label;
}

function select(
  name: string,
  label: string,
  options: Option[],
  get: () => string,
  set: (value: string) => void,
  view: View,
): HTMLElement {
  const field = make(
    "select",
    { name },
    ...options.map(([value, words]) => make("option", { value }, words)),
  );
  const update = () => {
    field.value = get();
  };
  field.addEventListener("change", () => set(field.value));
  view.follow(update);
  update();
  return make("label", {}, label, field);
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
function contendersOf(page: CampaignPage, view: View): HTMLElement {
  const place = make("fieldset", { class: "series" });
  const fill = () => {
    const focused = place.querySelector<HTMLInputElement>(":focus")?.name;
    const { series } = layoutOf(page, view);
    place.replaceChildren(
      make("legend", {}, "Shown"),
      ...series.map(({ name, style }) => {
        const box = make("input", { type: "checkbox", name });
        box.checked = !view.hidden.has(name);
        box.addEventListener("change", () => view.show(name, box.checked));
        return make("label", {}, box, line(style.colour, style.dash), name);
      }),
    );
    for (const box of place.querySelectorAll("input")) if (box.name === focused) box.focus();
  };
  view.follow(fill);
  onThemeChange(fill);
  fill();
  return place;
}
