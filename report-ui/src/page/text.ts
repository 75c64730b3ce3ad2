// Numbers as all pages write them.

// Digits in threes, apart by a narrow space.
export function grouped(digits: string): string {
  return digits.replace(/^-?\d{4,}/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, "\u202f"));
}

// A number beside an axis: all its digits, but not those of rounding.
export function tick(value: number): string {
  const size = Math.abs(value);
  if (size < 1e-12) return "0";
  const exact = Number(value.toPrecision(12));
  if (size >= 1e6 || size < 1e-6) return exact.toExponential().replace("e+", "e");
  return grouped(String(exact));
}
