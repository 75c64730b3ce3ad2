// The packet behind a point: where it is, and how Wireshark and tshark show it.
import type { Point } from "../chart/plot";
import { button, copies, make } from "../page/dom";
import type { Page } from "../page/shape";

export interface Packet {
  capture: string;
  record: number;
}

export function packetOf(page: Page, { drawn, number }: Point): Packet | null {
  const { capture, record } = drawn.series;
  if (!capture || !record) return null;
  return { capture: page.captures[capture[number] as number] as string, record: record[number] as number };
}

export class PacketPanel {
  readonly element = make("aside", { class: "packet", "aria-live": "polite", hidden: "" });
  private before: Element | null = null;

  constructor(private readonly page: Page) {
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !this.element.hidden) this.close();
    });
  }

  choose(point: Point): void {
    const packet = packetOf(this.page, point);
    if (packet) this.show(packet);
  }

  show({ capture, record }: Packet): void {
    const filter = `frame.number == ${record}`;
    const command = `tshark -r ${quoted(capture)} -Y '${filter}' -V`;
    const close = button("×", "close", () => this.close());
    this.before = document.activeElement;
    this.element.replaceChildren(
      make("h2", {}, `Packet ${record} of ${capture}`),
      close,
      make("p", {}, "In Wireshark: ", make("code", {}, filter), copies(filter)),
      make("p", {}, "On the terminal: ", make("code", {}, command), copies(command)),
    );
    this.element.hidden = false;
    close.focus();
  }

  private close(): void {
    this.element.hidden = true;
    if (this.before instanceof HTMLElement) this.before.focus();
  }
}

function quoted(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
