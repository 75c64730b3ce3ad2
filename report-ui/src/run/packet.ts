// The packet behind a point: where it is, and how Wireshark and tshark show it.
import type { Point } from "../chart/plot";
import { copies, make } from "../page/dom";
import { Panel } from "../page/panel";
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
  readonly panel = new Panel();

  constructor(private readonly page: Page) {}

  choose(point: Point): void {
    const packet = packetOf(this.page, point);
    if (packet) this.show(packet);
  }

  show({ capture, record }: Packet): void {
    const filter = `frame.number == ${record}`;
    const command = `tshark -r ${quoted(capture)} -Y '${filter}' -V`;
    this.panel.show(
      `Packet ${record} of ${capture}`,
      make("p", {}, "In Wireshark: ", make("code", {}, filter), copies(filter)),
      make("p", {}, "On the terminal: ", make("code", {}, command), copies(command)),
    );
  }
}

function quoted(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
