// Axes in numbers: a range that ends at ticks, linear or logarithmic. ECharts is given logarithms as they are, since its own
// logarithmic axis has ticks at powers of ten only.
import { niceStep } from "../chart/option";
import { tick } from "../page/text";
import { theme } from "../page/theme";

export interface Scale {
  // Where a value stands.
  of(value: number): number;
  min: number;
  max: number;
  ticks: number[];
  // What stands at a tick.
  label(at: number): string;
}

const FONT = 12;
const FEW = 3;
// How many times the least the most is at least, on a logarithmic axis.
const SAME = 1.02;

export function linear(low: number, high: number, unit = 1): Scale {
  const top = high > low ? high : low + 1;
  const step = niceStep(top - low, 5);
  const min = Math.floor(low / step + 1e-9) * step;
  const max = Math.ceil(top / step - 1e-9) * step;
  const ticks = Array.from(
    { length: Math.round((max - min) / step) + 1 },
    (_, number) => min + number * step,
  );
  return { of: (value) => value, min, max, ticks, label: (at) => tick(at * unit) };
}

export function logarithmic(low: number, high: number): Scale {
  // Values that are all but the same stand in the middle.
  const same = Math.max(0, Math.log10(SAME) - Math.log10(high / low)) / 2;
  const [least, most] = [Math.log10(low) - same, Math.log10(high) + same];
  const margin = Math.min(0.04, 0.1 * (most - least));
  const [min, max] = [least - margin, most + margin];
  const decades = range(Math.floor(min), Math.ceil(max));
  const within = (values: number[]) => values.filter((at) => at >= min && at <= max);
  const powers = within(decades);
  const fine = (factors: number[]) =>
    within(decades.flatMap((power) => factors.map((factor) => power + Math.log10(factor))));
  const tries = [powers, fine([1, 3]), fine([1, 2, 5]), fine([1, 1.5, 2, 3, 4, 5, 7])];
  const ticks =
    tries.find((some) => some.length >= FEW) ?? within(linear(10 ** min, 10 ** max).ticks.map(Math.log10));
  return { of: Math.log10, min, max, ticks, label: (at) => tick(10 ** at) };
}

// An axis of ECharts.
export function axisOf(scale: Scale, name: string, vertical: boolean): object {
  const { faint, line } = theme();
  const label = { color: faint, fontSize: FONT };
  return {
    type: "value",
    min: scale.min,
    max: scale.max,
    axisLine: { show: !vertical, onZero: false, lineStyle: { color: faint } },
    axisTick: { show: !vertical, customValues: scale.ticks, lineStyle: { color: faint } },
    axisLabel: { ...label, customValues: scale.ticks, formatter: scale.label, hideOverlap: true },
    splitLine: { show: true, lineStyle: { color: line } },
    name,
    nameTextStyle: vertical ? { ...label, align: "left", padding: [0, 0, 0, -70] } : label,
    nameLocation: vertical ? "end" : "middle",
    nameGap: vertical ? 14 : 28,
  };
}

// An axis with a name per column, each as wide as 1.
export function columnsOf(columns: string[], name: string): object {
  const { faint } = theme();
  const label = { color: faint, fontSize: FONT };
  const ticks = columns.map((_, column) => column);
  return {
    type: "value",
    min: -0.5,
    max: columns.length - 0.5,
    axisLine: { onZero: false, lineStyle: { color: faint } },
    axisTick: { show: false },
    axisLabel: {
      ...label,
      customValues: ticks,
      formatter: (at: number) => columns[at] ?? "",
      hideOverlap: true,
    },
    splitLine: { show: false },
    name,
    nameTextStyle: label,
    nameLocation: "middle",
    nameGap: 28,
  };
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, number) => first + number);
}
