// A choice that follows the view.
import { make } from "../page/dom";
import type { View } from "./view";

export type Option = [value: string, name: string];

export function select(
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
    ...options.map(([value, label]) => make("option", { value }, label)),
  );
  const update = () => {
    field.value = get();
  };
  field.addEventListener("change", () => set(field.value));
  view.follow(update);
  update();
  return make("label", {}, label, field);
}

// Which value of an axis is shown.
export function valueOf(name: string, values: string[], number: number, view: View): HTMLElement {
  const options = values.map((value, index): Option => [String(index), value]);
  const set = (index: string) =>
    view.change(() => {
      view.at[number] = Number(index);
    });
  return select(`at-${name}`, name, options, () => String(view.at[number]), set, view);
}
