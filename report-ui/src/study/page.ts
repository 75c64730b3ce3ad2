// The page of a study: tables of what was printed and what came of it here.
import { make } from "../page/dom";
import { expose, exposeDrawn } from "../page/expose";
import { header } from "../page/header";
import { provenance } from "../page/provenance";
import type { StudyPage } from "../page/shape";
import { drawTable } from "../page/table";

export function drawStudy(page: StudyPage): void {
  expose({ page, view: {}, plots: [] });
  document.body.append(
    make(
      "main",
      {},
      header(
        page,
        page.tables.map(({ id, title }) => [id, title]),
      ),
      ...page.tables.map(drawTable),
      provenance(page),
    ),
  );
  exposeDrawn();
}
