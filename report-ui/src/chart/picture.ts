// A chart as a picture that explains itself, on white.
import { save } from "../page/dom";
import { onPaper } from "../page/theme";
import { init, type Option } from "./echarts";

// Room above a chart for what a picture says about itself.
export const HEAD = 48;

export interface Picture {
  // Of the file, without its kind.
  name: string;
  title: string;
  width: number;
  height: number;
  option: Option;
  keys: Key[];
}

// What a sign means.
export interface Key {
  sign: string;
  colour: string;
  name: string;
}

export function savePng(picture: () => Picture): void {
  const { name, width, height, option } = titled(picture);
  const chart = init(document.createElement("div"), null, {
    renderer: "canvas",
    width,
    height,
    devicePixelRatio: 2,
  });
  chart.setOption(option);
  const canvas = chart.renderToCanvas({ pixelRatio: 2, backgroundColor: "#ffffff" });
  chart.dispose();
  canvas.toBlob((blob) => blob && save(`${name}.png`, "image/png", blob));
}

export function saveSvg(picture: () => Picture): void {
  const { name, width, height, option } = titled(picture);
  const chart = init(null, null, { renderer: "svg", ssr: true, width, height });
  chart.setOption(option);
  save(`${name}.svg`, "image/svg+xml", chart.renderToSVGString());
  chart.dispose();
}

export function fileName(...parts: string[]): string {
  return parts.join("-").replaceAll(/[^\w.-]+/g, "-");
}

function titled(picture: () => Picture): Picture {
  const made = onPaper(picture);
  const rich = Object.fromEntries(
    made.keys.map(({ colour }, index) => [`s${index}`, { color: colour, fontWeight: "bold" }]),
  );
  const title = {
    text: made.title,
    subtext: made.keys.map(({ sign, name }, index) => `{s${index}|${sign}} ${name}`).join("   "),
    left: 16,
    top: 6,
    textStyle: { fontSize: 15, color: "#1b1f24" },
    subtextStyle: { fontSize: 12, color: "#59636e", rich },
  };
  return { ...made, option: { animation: false, ...made.option, title, backgroundColor: "#ffffff" } };
}
