// Draws the page that the document describes.
import "./page/style.css";
import { drawCampaign } from "./campaign/page";
import type { CampaignPage } from "./campaign/shape";
import { read } from "./page/document";
import type { Page, StudyPage } from "./page/shape";
import { drawRun } from "./run/page";
import { drawStudy } from "./study/page";

read<Page | CampaignPage | StudyPage>()
  .then((page) => {
    if (page.kind === "run") return drawRun(page);
    return page.kind === "study" ? drawStudy(page) : drawCampaign(page);
  })
  .catch((error: unknown) => {
    document.body.append(`This page is damaged: ${error}`);
    throw error;
  });
