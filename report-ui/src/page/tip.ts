// A few lines beside what is pointed at.
import { make } from "./dom";

export class Tip {
  readonly element = make("div", { class: "reader", role: "status", hidden: "" });

  // At a place of an element.
  show(within: HTMLElement, left: number, top: number, title: string, ...lines: string[]): void {
    this.element.hidden = false;
    this.element.replaceChildren(make("strong", {}, title), ...lines.map((line) => make("span", {}, line)));
    const box = within.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = this.element;
    const x = Math.min(box.left + left + 12, window.innerWidth - offsetWidth - 8);
    const y = Math.max(box.top + top - offsetHeight - 12, 4);
    this.element.style.transform = `translate(${x}px, ${y}px)`;
  }

  hide(): void {
    this.element.hidden = true;
  }
}
