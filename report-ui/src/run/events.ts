// The events in the span of time that is shown, a line each.
import { button, make, wide } from "../page/dom";
import type { Event as RunEvent, Page } from "../page/shape";
import type { PacketPanel } from "./packet";
import type { View } from "./view";

// More lines than these are not readable.
const MOST = 300;

export function eventTable(page: Page, view: View, packets: PacketPanel): HTMLElement {
  const body = make("tbody");
  const rest = make("p", { class: "faint" });
  const fill = () => {
    const { from, to } = view.span;
    // The axis ends with the data; what came after it stands in the table.
    const last = to < view.whole.to ? to : Number.POSITIVE_INFINITY;
    const seen = page.events.filter(
      ({ at_s, subflow }) => at_s >= from && at_s <= last && view.shows(subflow),
    );
    body.replaceChildren(...seen.slice(0, MOST).map((event) => row(event, page, packets)));
    rest.textContent =
      seen.length > MOST
        ? `${seen.length - MOST} more: zoom in to see them`
        : seen.length
          ? ""
          : "none in this time";
  };
  view.follow(fill);
  fill();
  const heads = ["Time", "Subflow", "What happened", "Packet"].map((name) =>
    make("th", { scope: "col" }, name),
  );
  return make(
    "section",
    { id: "event-table" },
    make("h2", {}, "What happened"),
    wide("What happened", make("table", {}, make("thead", {}, make("tr", {}, ...heads)), body)),
    rest,
  );
}

function row(event: RunEvent, page: Page, packets: PacketPanel): HTMLElement {
  const name = page.subflows.find((one) => one.subflow === event.subflow)?.name ?? "";
  return make(
    "tr",
    event.grave ? { class: "grave" } : {},
    make("td", { class: "number" }, `${event.at_s.toFixed(6)} s`),
    make("td", {}, name),
    make("td", {}, event.text),
    make("td", {}, packet(event, page, packets)),
  );
}

function packet({ capture, record }: RunEvent, page: Page, packets: PacketPanel): Node | string {
  if (capture === null || record === null) return "";
  const at = { capture: page.captures[capture] as string, record };
  return button(`${at.capture} ${record}`, `show packet ${record} of ${at.capture}`, () => packets.show(at));
}
