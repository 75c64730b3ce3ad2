// Mouse and keys on a chart: point to read, click or Enter for the runs behind it.
import type { Tip } from "../page/tip";
import type { Placed, Plot, Target } from "./plot";

export function react(plot: Plot, tip: Tip, choose: (target: Target) => void): void {
  const look = (placed: Placed | null) => {
    plot.root.classList.toggle("on-point", placed !== null);
    if (!placed) return tip.hide();
    const [title, ...lines] = placed.item.lines;
    tip.show(plot.root, placed.left, placed.top, title ?? "", ...lines);
  };
  const under = (event: MouseEvent) => {
    const box = plot.root.getBoundingClientRect();
    return plot.nearest(event.clientX - box.left, event.clientY - box.top);
  };
  plot.root.addEventListener("pointermove", (event) => look(under(event)));
  plot.root.addEventListener("pointerleave", () => look(null));
  plot.root.addEventListener("click", (event) => {
    const placed = under(event);
    if (placed) choose(placed.item.target);
  });
  let index = -1;
  plot.view.follow(() => {
    index = -1;
  });
  const step = (by: number) => {
    index = Math.min(Math.max(index + by, 0), plot.marks.length - 1);
    look(plot.marks[index] ?? null);
  };
  const verbs: Record<string, () => void> = {
    "]": () => step(1),
    "[": () => step(-1),
    Enter: () => {
      const placed = plot.marks[index];
      if (placed) choose(placed.item.target);
    },
  };
  plot.root.addEventListener("keydown", (event) => {
    const verb = verbs[event.key];
    if (!verb || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    verb();
  });
  plot.root.addEventListener("blur", () => look(null));
}
