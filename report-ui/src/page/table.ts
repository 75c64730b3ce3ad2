// A small table of figures.
import { make, wide } from "./dom";
import type { Table } from "./shape";

export function drawTable(table: Table): HTMLElement {
  const heads = table.columns.map((name, column) => {
    const meaning = table.meanings[column];
    return make("th", { scope: "col", ...kind(table, column), ...(meaning ? { title: meaning } : {}) }, name);
  });
  const rows = table.rows.map((cells) =>
    make("tr", {}, ...cells.map((cell, column) => make("td", kind(table, column), cell))),
  );
  return make(
    "section",
    { id: table.id },
    make("h2", {}, table.title),
    wide(
      table.title,
      make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows)),
    ),
  );
}

function kind(table: Table, column: number): Record<string, string> {
  return table.numeric[column] ? { class: "number" } : {};
}
