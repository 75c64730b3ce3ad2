// A panel beside all else, about one thing; it gives the keys back to where they were when it is closed.
import { button, make } from "./dom";

export class Panel {
  readonly element = make("aside", { class: "panel", "aria-live": "polite", hidden: "" });
  private before: Element | null = null;

  constructor() {
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !this.element.hidden) this.close();
    });
  }

  show(title: string, ...about: (Node | string)[]): void {
    const close = button("×", "close", () => this.close());
    if (!this.element.contains(document.activeElement)) this.before = document.activeElement;
    this.element.replaceChildren(make("h2", {}, title), close, ...about);
    this.element.hidden = false;
    close.focus();
  }

  private close(): void {
    this.element.hidden = true;
    if (this.before instanceof HTMLElement) this.before.focus();
  }
}
