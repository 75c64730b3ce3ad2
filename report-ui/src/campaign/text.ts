// Figures as people read them. What is unknown is a dash, never 0.
import { grouped } from "../page/text";
import type { Estimated } from "./shape";

export const UNKNOWN = "–";

export function figure(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return UNKNOWN;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 0.995) return value.toPrecision(3);
  return grouped(value.toFixed(digitsOf(size)));
}

// A mean and its standard deviation, to the same digit.
export function spread(mean: number, sigma: number): string {
  if (Number.isNaN(mean) || Number.isNaN(sigma)) return figure(mean);
  return `${figure(mean)} ± ${grouped(sigma.toFixed(digitsOf(Math.abs(mean))))}`;
}

export function signed(value: number): string {
  return value > 0 ? `+${figure(value)}` : figure(value);
}

export function percent(value: number | null, sign = false): string {
  if (value === null) return UNKNOWN;
  const digits = Math.abs(value) < 0.0995 ? 1 : 0;
  return `${sign && value > 0 ? "+" : ""}${(100 * value).toFixed(digits)} %`;
}

export function count(value: number): string {
  return grouped(String(value));
}

export function pValue(value: number): string {
  if (Number.isNaN(value)) return UNKNOWN;
  return value < 0.0001 ? "< 0.0001" : value.toPrecision(2);
}

export function estimated({ estimate, low, high }: Estimated, sign = false): string {
  if (low === null || high === null) return percent(estimate, sign);
  return `${percent(estimate, sign)} [${percent(low, sign)}, ${percent(high, sign)}]`;
}

// A number for programs; empty where it is unknown.
export function exact(value: number | null | undefined): string {
  return value === null || value === undefined || Number.isNaN(value) ? "" : String(value);
}

// After the point, where three digits are shown.
function digitsOf(size: number): number {
  if (size >= 99.95) return 0;
  if (size >= 9.995) return 1;
  if (size >= 0.995) return 2;
  return size > 0 ? Math.min(2 - Math.floor(Math.log10(size)), 12) : 2;
}
