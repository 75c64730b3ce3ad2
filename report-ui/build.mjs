// Bundles the page into the Python package; prints nothing when all went well.
import { build } from "esbuild";

await build({
  entryPoints: { report: "src/main.ts" },
  outdir: "../python/mptcplab/report",
  bundle: true,
  minify: true,
  // Within a <script> of the page: nothing may end it early.
  charset: "ascii",
  format: "iife",
  target: "es2022",
  legalComments: "none",
  logLevel: "warning",
});
