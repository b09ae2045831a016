// From values to shares of an axis and back, ticks, and numbers as text. What is equally far apart on an axis is equally far
// apart in its "even" numbers, in which windows are kept.

import type { AxisData, NumberKind } from "./data.ts";

export interface Window {
  from: number;
  to: number;
}

export interface Tick {
  value: number;
  label: string;
}

/** The number of nines of a share, as a scale of nines has it: 0.999 has three. */
const nines = (share: number): number => -Math.log10(1 - Math.min(Math.max(share, 0), 1 - 1e-12));

export function toEven(axis: AxisData, value: number): number {
  switch (axis.scale) {
    case "even":
      return value;
    case "nines":
      return nines(value);
    default:
      return Math.log(Math.max(value, Number.MIN_VALUE));
  }
}

export function fromEven(axis: AxisData, even: number): number {
  switch (axis.scale) {
    case "even":
      return even;
    case "nines":
      return 1 - 10 ** -even;
    default:
      return Math.exp(even);
  }
}

export function whole(axis: AxisData): Window {
  return { from: toEven(axis, axis.start), to: toEven(axis, axis.end) };
}

export function share(axis: AxisData, window: Window, value: number): number {
  return (toEven(axis, value) - window.from) / (window.to - window.from);
}

/** Ticks within the window, at most about `most`. */
export function ticks(axis: AxisData, window: Window, most: number): Tick[] {
  const low = fromEven(axis, window.from);
  const high = fromEven(axis, window.to);
  if (axis.scale === "nines") return ninesWithin(axis, low, high);
  const isWide = axis.scale === "decades" ? high / low > 6 : high / low > 3;
  if (axis.scale !== "even" && isWide) return powers(axis, low, high, most);
  return steps(axis, low, high, most);
}

function steps(axis: AxisData, low: number, high: number, most: number): Tick[] {
  const [divisor, unit] = axis.numbers === "axis" ? [axis.divisor, ""] : fitting(axis.numbers, high);
  const step = roundStep((high - low) / divisor, most);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const all: Tick[] = [];
  for (let at = Math.ceil(low / divisor / step - 1e-9); at * step <= high / divisor + step * 1e-9; at += 1) {
    const text = axis.numbers === "percents" ? percent(at * step) : (at * step).toFixed(Math.min(decimals, 9));
    all.push({ value: at * step * divisor, label: unit ? `${text} ${unit}` : text });
  }
  return all;
}

function powers(axis: AxisData, low: number, high: number, most: number): Tick[] {
  const base = axis.scale === "doublings" ? 2 : 10;
  const exponent = (value: number): number => Math.log(value) / Math.log(base);
  const all: number[] = [];
  for (let power = Math.floor(exponent(low)); power <= Math.ceil(exponent(high)); power += 1) {
    for (const factor of base === 10 ? [1, 2, 5] : [1]) all.push(factor * base ** power);
  }
  const within = (value: number): boolean => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9);
  let chosen = all.filter(within);
  if (chosen.length > most + 1 && base === 10) chosen = chosen.filter((value) => isPowerOfTen(value));
  const every = Math.ceil(chosen.length / (most + 1));
  return chosen.filter((_, index) => index % every === 0).map((value) => ({ value, label: tickText(axis, value) }));
}

const isPowerOfTen = (value: number): boolean => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9;

function ninesWithin(axis: AxisData, low: number, high: number): Tick[] {
  const all = [0, 0.5, ...Array.from({ length: 9 }, (_, index) => 1 - 10 ** -(index + 1))];
  return all
    .filter((value) => value >= low - 1e-12 && value <= high + 1e-12)
    .map((value) => ({ value, label: tickText(axis, value) }));
}

/** The smallest of 1, 2 and 5 times a power of ten of which no more than `most` fit. */
function roundStep(width: number, most: number): number {
  const power = 10 ** Math.floor(Math.log10(width / most));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => width / step <= most) ?? width;
}

const UNITS: Record<"times" | "sizes" | "rates", [number, string][]> = {
  times: [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]],
  sizes: [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"], [1, "B"]],
  rates: [[1e9, "GB/s"], [1e6, "MB/s"], [1e3, "kB/s"], [1, "B/s"]],
};

function fitting(numbers: NumberKind, value: number): [number, string] {
  if (numbers !== "times" && numbers !== "sizes" && numbers !== "rates") return [1, ""];
  const units = UNITS[numbers];
  return units.find(([divisor]) => Math.abs(value) >= divisor * 0.999) ?? units[units.length - 1]!;
}

function tickText(axis: AxisData, value: number): string {
  if (axis.numbers === "percents") return `${percent(value)} %`;
  const [divisor, unit] = axis.numbers === "axis" ? [axis.divisor, ""] : fitting(axis.numbers, value);
  return `${plain(value / divisor, axis.numbers === "counts" ? 9 : 4)} ${unit}`.trim();
}

const percent = (share: number): string => plain(100 * share, 7);

function plain(value: number, digits: number): string {
  return Number(value.toPrecision(digits)).toLocaleString("en", { useGrouping: false, maximumFractionDigits: 9 });
}

/** A value with its unit, to read off. */
export function amount(axis: AxisData, value: number, digits = 4): string {
  if (!Number.isFinite(value)) return "unknown";
  if (axis.numbers === "percents") return `${percent(value)} %`;
  const [divisor, unit] = axis.numbers === "axis" ? [axis.divisor, axis.unit] : fitting(axis.numbers, value);
  return `${plain(value / divisor, digits)} ${unit}`.trim();
}

export function axisName(axis: AxisData): string {
  return axis.unit ? `${axis.label}, ${axis.unit}` : axis.label;
}
