// Draws the page that the document describes.
import "./page/style.css";
import { read } from "./page/document";
import { drawRun } from "./run/page";

read().then(drawRun, (error: unknown) => {
  document.body.append(`This page is damaged: ${error}`);
  throw error;
});
