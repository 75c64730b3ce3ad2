// Bundles the page into the Python package; prints nothing when all went well.
import { readFileSync } from "node:fs";
import { build } from "esbuild";

// What the bundle holds of others, with the terms that go with it.
const BUNDLED = { echarts: ["LICENSE", "NOTICE"], zrender: ["LICENSE"], tslib: ["LICENSE.txt"] };
const terms = Object.entries(BUNDLED).flatMap(([name, files]) => [
  name,
  ...files.map((file) => readFileSync(`node_modules/${name}/${file}`, "utf8").replaceAll("*/", "* /")),
]);

const { metafile } = await build({
  entryPoints: { report: "src/main.ts" },
  outdir: "../python/mptcplab/charts",
  bundle: true,
  minify: true,
  // Within a <script> of the page, whatever its encoding.
  charset: "ascii",
  format: "iife",
  target: "es2022",
  metafile: true,
  banner: { js: `/*! The report holds parts of:\n\n${terms.join("\n\n")}\n*/` },
  logLevel: "warning",
});

const found = Object.keys(metafile.inputs).map(
  (path) => path.match(/^node_modules\/((@[^/]+\/)?[^/]+)/)?.[1],
);
const others = [...new Set(found)].filter((name) => name && !(name in BUNDLED));
if (others.length)
  throw new Error(`the bundle holds ${others}: name them in BUNDLED, after a look at their terms`);
