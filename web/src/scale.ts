// Windows of an axis, ticks in them, and numbers as text.

import { type AxisData, rules } from "./data.ts";

/** A part of an axis, in coordinates. */
export interface Window {
  from: number;
  to: number;
}

export interface Tick {
  at: number;
  label: string;
}

export const whole = (axis: AxisData): Window => ({ from: axis.start, to: axis.end });

/** The value at a coordinate, and the other way round: see `Axis::coordinate` in crates/report/src/chart/axis.rs. */
const valueAt = (axis: AxisData, at: number): number =>
  axis.scale === "linear" ? at : axis.scale === "nines" ? 1 - 10 ** -at : 10 ** at;
const coordinate = (axis: AxisData, value: number): number =>
  axis.scale === "linear" ? value : axis.scale === "nines" ? -Math.log10(1 - value) : Math.log10(value);

/** Ticks within the window, at most about `most`: the round numbers of the axis, or steps where too few of them are in sight. */
export function ticks(axis: AxisData, window: Window, most: number): Tick[] {
  const slack = (window.to - window.from) * 1e-9;
  const isSeen = (at: number): boolean => at >= window.from - slack && at <= window.to + slack;
  const seen = axis.round.filter(([at]) => isSeen(at));
  if (seen.length < 3) return steps(axis, window, most).filter(({ at }) => isSeen(at));
  const kept = seen.length <= most + 1 ? seen : seen.filter(([, , isMain]) => isMain);
  const every = Math.ceil(kept.length / (most + 1));
  return kept.filter((_, index) => index % every === 0).map(([at, label]) => ({ at, label }));
}

function steps(axis: AxisData, window: Window, most: number): Tick[] {
  const [low, high] = [valueAt(axis, window.from), valueAt(axis, window.to)];
  const [divisor, unit] = unitOf(axis, high);
  const width = (high - low) / divisor;
  const power = 10 ** Math.floor(Math.log10(width / most));
  const step = rules.round.map((factor) => factor * power).find((size) => width / size <= most) ?? width;
  const decimals = Math.min(9, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  const all: Tick[] = [];
  for (let at = Math.ceil(low / divisor / step - 1e-9); at * step <= high / divisor + step * 1e-9; at += 1) {
    const number = (at * step).toFixed(decimals);
    all.push({ at: coordinate(axis, at * step * divisor), label: axis.has_own_units ? `${number} ${unit}`.trim() : number });
  }
  return all;
}

const unitOf = ({ units }: AxisData, value: number): [number, string] =>
  units.find(([divisor]) => Math.abs(value) >= divisor * rules.unit_tolerance) ?? units[units.length - 1]!;

/** The number at a coordinate with its unit, to read off. */
export function amount(axis: AxisData, at: number): string {
  const value = valueAt(axis, at);
  if (!Number.isFinite(value)) return "unknown";
  const [divisor, unit] = unitOf(axis, value);
  const number = Number((value / divisor).toPrecision(axis.digits));
  return `${number.toLocaleString("en", { useGrouping: false, maximumFractionDigits: 9 })} ${unit}`.trim();
}
