// Colours that people with any kind of colour vision tell apart (Okabe and Ito, 2008), and what goes with
// each: a dash and a symbol, so that nothing hangs on colour alone.

export interface Theme {
  text: string;
  faint: string;
  line: string;
  back: string;
  shade: string;
  found: string;
}

export interface Style {
  colour: string;
  dash: "solid" | number[];
  symbol: string;
  // Of plain TCP: what is drawn of it is hollow.
  hollow?: boolean;
}

const LIGHT: Theme = {
  text: "#1b1f24",
  faint: "#59636e",
  line: "#d5dae0",
  back: "#ffffff",
  shade: "rgba(120, 120, 120, 0.16)",
  found: "rgba(230, 159, 0, 0.14)",
};
const DARK: Theme = {
  text: "#e6e9ed",
  faint: "#9aa4af",
  line: "#3a424b",
  back: "#15191e",
  shade: "rgba(190, 190, 190, 0.16)",
  found: "rgba(240, 176, 48, 0.16)",
};

// Blue and vermillion first: the pair that is furthest apart. Blue is lighter on dark ground.
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a00"];
const ON_DARK = ["#4aa8e0", "#f08030", "#20c090", "#dd9abf", "#f0b030", "#8fd0f5", "#f0e442"];
const DASHES: Style["dash"][] = ["solid", [7, 3], [2, 2], [9, 3, 2, 3]];
const PLUS = "path://M4 0h2v4h4v2h-4v4h-2v-4h-4v-2h4z";
export const CROSS = "path://M1 0l4 4 4-4 1 1-4 4 4 4-1 1-4-4-4 4-1-1 4-4-4-4z";
// Triangles, diamonds and arrows are marks.
const SYMBOLS = ["circle", "rect", PLUS, CROSS];

const dark = window.matchMedia("(prefers-color-scheme: dark)");
let paper = false;

export function theme(): Theme {
  return isDark() ? DARK : LIGHT;
}

export function styleOf(look: number | null): Style {
  if (look === null) return { colour: theme().text, dash: "solid", symbol: "rect" };
  const colours = isDark() ? ON_DARK : COLOURS;
  return {
    colour: colours[look % colours.length] as string,
    dash: DASHES[look % DASHES.length] as Style["dash"],
    symbol: SYMBOLS[look % SYMBOLS.length] as string,
  };
}

// A colour of its own for each path, wherever it is drawn. Plain TCP over it has that colour, hollow and dashed; of
// several such that a campaign holds beside each other each has another dash.
const PLAIN_DASHES: Style["dash"][] = [
  [6, 3],
  [2, 2],
  [9, 3, 2, 3],
];
const PLAIN_SYMBOLS = ["emptyCircle", "emptyTriangle", "emptyDiamond"];

export function styleOfPath(path: number): Style {
  return { ...styleOf(path), dash: "solid" };
}

export function styleOfPlain(path: number, number: number): Style {
  return {
    colour: styleOf(path).colour,
    dash: PLAIN_DASHES[number % PLAIN_DASHES.length] as Style["dash"],
    symbol: PLAIN_SYMBOLS[number % PLAIN_SYMBOLS.length] as string,
    hollow: true,
  };
}

// MPTCP is solid and filled, in the colour of text and in those that paths leave.
export function styleOfMptcp(number: number, paths: number): Style {
  const colours = [theme().text, ...(isDark() ? ON_DARK : COLOURS).slice(paths)];
  const index = number % colours.length;
  return {
    colour: colours[index] as string,
    dash: "solid",
    symbol: SYMBOLS[index % SYMBOLS.length] as string,
  };
}

// Paper is white, whatever the screen is.
export function onPaper<Result>(draw: () => Result): Result {
  const before = paper;
  paper = true;
  try {
    return draw();
  } finally {
    paper = before;
  }
}

export function onThemeChange(redraw: () => void): void {
  dark.addEventListener("change", redraw);
  for (const [event, state] of [
    ["beforeprint", true],
    ["afterprint", false],
  ] as const)
    window.addEventListener(event, () => {
      paper = state;
      redraw();
    });
}

function isDark(): boolean {
  return dark.matches && !paper;
}
