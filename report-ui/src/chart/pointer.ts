// Mouse, pen and keys on a plot: drag to zoom, point to read, click or Enter for the packet.
import { make } from "../page/dom";
import type { Plot, Point } from "./plot";

export interface Reactions {
  // Somebody looks at a time, or no more; at a point, where there is one.
  look(plot: Plot, time: number | null, point: Point | null): void;
  choose(point: Point): void;
}

const DRAG = 5;

export function react(plot: Plot, reactions: Reactions): void {
  drag(plot, reactions);
  keys(plot, reactions);
  plot.root.addEventListener("dblclick", () => plot.view.reset());
}

function drag(plot: Plot, reactions: Reactions): void {
  const band = make("div", { class: "band", hidden: "" });
  plot.root.append(band);
  let start: number | null = null;
  const position = (event: PointerEvent): [number, number] => {
    const box = plot.root.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  plot.root.addEventListener("pointerdown", (event) => {
    const [left] = position(event);
    if (event.button !== 0 || left < plot.left) return;
    start = left;
    plot.root.setPointerCapture(event.pointerId);
  });
  plot.root.addEventListener("pointermove", (event) => {
    const [left, top] = position(event);
    if (start !== null && Math.abs(left - start) > DRAG) {
      band.hidden = false;
      band.style.left = `${Math.min(left, start)}px`;
      band.style.width = `${Math.abs(left - start)}px`;
    }
    const within = left >= plot.left ? plot.timeAt(left) : null;
    reactions.look(plot, within, within === null ? null : plot.nearest(left, top));
  });
  plot.root.addEventListener("pointerup", (event) => {
    const [left, top] = position(event);
    const from = start;
    start = null;
    band.hidden = true;
    if (from === null) return;
    if (Math.abs(left - from) > DRAG) {
      const [one, other] = [plot.timeAt(from), plot.timeAt(left)];
      plot.view.zoom({ from: Math.min(one, other), to: Math.max(one, other) });
    } else {
      const point = plot.nearest(left, top);
      if (point) reactions.choose(point);
    }
  });
  plot.root.addEventListener("pointerleave", () => reactions.look(plot, null, null));
}

function keys(plot: Plot, reactions: Reactions): void {
  let point: Point | null = null;
  plot.view.follow(() => {
    point = null;
  });
  const step = (by: number) => {
    point = plot.beside(point, by);
    reactions.look(plot, point?.at ?? null, point);
  };
  const verbs: Record<string, () => void> = {
    ArrowLeft: () => plot.view.move(-0.2),
    ArrowRight: () => plot.view.move(0.2),
    "+": () => plot.view.scale(0.5),
    "=": () => plot.view.scale(0.5),
    "-": () => plot.view.scale(2),
    "0": () => plot.view.reset(),
    "]": () => step(1),
    "[": () => step(-1),
    Enter: () => point && reactions.choose(point),
  };
  plot.root.addEventListener("keydown", (event) => {
    const verb = verbs[event.key];
    if (!verb || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    verb();
  });
  plot.root.addEventListener("blur", () => reactions.look(plot, null, null));
}
