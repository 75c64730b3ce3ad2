// Draws the page that the document describes.
import "./page/style.css";
import { drawCampaign } from "./campaign/page";
import type { CampaignPage } from "./campaign/shape";
import { read } from "./page/document";
import type { Page } from "./page/shape";
import { drawRun } from "./run/page";

read<Page | CampaignPage>()
  .then((page) => (page.kind === "run" ? drawRun(page) : drawCampaign(page)))
  .catch((error: unknown) => {
    document.body.append(`This page is damaged: ${error}`);
    throw error;
  });
