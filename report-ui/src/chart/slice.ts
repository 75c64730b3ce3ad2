// What of a long series a chart of some width needs to draw a span of time. Drawn points keep the numbers that they
// have in the series, so that each leads back to its packet.
import type { Series } from "../page/shape";
import type { Span } from "../run/view";

export interface Slice {
  // Interleaved x and y, as ECharts takes them.
  points: Float64Array;
  // Number in the series of each point.
  numbers: Uint32Array;
  // Whether points were left out that share a column of pixels with smaller and larger ones.
  thinned: boolean;
}

// A curve needs the neighbours of the span, too, and of each column of pixels only the first, the least, the most and
// the last. Points are drawn all.
export function slice(series: Series, span: Span, width: number): Slice {
  const { x, kind } = series;
  let first = lowerBound(x, span.from);
  let end = lowerBound(x, span.to, true);
  if (kind === "points") return gather(series, range(first, end), false);
  first = Math.max(first - 1, 0);
  end = Math.min(end + 1, x.length);
  if (end - first <= 4 * width) return gather(series, range(first, end), false);
  return gather(series, perPixel(series, first, end, span, width), true);
}

// The least and the largest y of what is seen: what comes after the span is not.
export function extent(slices: Slice[], span: Span): [number, number] {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { points } of slices)
    for (let index = 0; index < points.length; index += 2) {
      const y = points[index + 1] as number;
      if ((points[index] as number) > span.to) continue;
      if (y < least) least = y;
      if (y > most) most = y;
    }
  return [least, most];
}

function perPixel(series: Series, first: number, end: number, span: Span, width: number): number[] {
  const { x, y } = series;
  const scale = width / (span.to - span.from);
  const kept: number[] = [];
  let index = first;
  while (index < end) {
    const pixel = Math.floor(((x[index] as number) - span.from) * scale);
    const begin = index;
    let least = index;
    let most = index;
    while (index < end && Math.floor(((x[index] as number) - span.from) * scale) === pixel) {
      if ((y[index] as number) < (y[least] as number)) least = index;
      if ((y[index] as number) > (y[most] as number)) most = index;
      index += 1;
    }
    kept.push(...[...new Set([begin, least, most, index - 1])].sort((one, other) => one - other));
  }
  return kept;
}

function gather(series: Series, numbers: number[] | Uint32Array, thinned: boolean): Slice {
  const points = new Float64Array(2 * numbers.length);
  numbers.forEach((number, index) => {
    points[2 * index] = series.x[number] as number;
    points[2 * index + 1] = series.y.length ? (series.y[number] as number) : 0;
  });
  return { points, numbers: Uint32Array.from(numbers), thinned };
}

function range(first: number, end: number): Uint32Array {
  return Uint32Array.from({ length: Math.max(end - first, 0) }, (_, index) => first + index);
}

// The first place whose value is at least (with `above`: greater than) the bound.
function lowerBound(values: Series["x"], bound: number, above = false): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const value = values[middle] as number;
    if (value < bound || (above && value === bound)) low = middle + 1;
    else high = middle;
  }
  return low;
}
