// What is at a place of a chart, in words: the measurement that is nearest, with its interval or the level around it.

import type { Layer, Mark, Pane } from "./data.ts";
import { type Frame, xOf, yOf } from "./drawing.ts";
import { entriesWithin, entryAt } from "./layer.ts";
import { amount } from "./scale.ts";

/** One entry of one layer. */
export interface Entry {
  pane: number;
  series: number;
  layer: Layer;
  index: number;
}

const REACH_PIXELS = 40;

const canBeRead = (layer: Layer): boolean => layer.kind === "measured" || layer.kind === "line";

/** The layers that can be read off: measurements and lines, and levels where there is nothing else. */
export function readable(pane: Pane, hidden: ReadonlySet<number>): { series: number; layer: Layer }[] {
  const all = pane.series.flatMap((series, index) => series.layers.map((layer) => ({ series: index, layer })));
  const seen = all.filter((one) => !hidden.has(one.series) && one.layer.first.length > 0);
  const measured = seen.filter((one) => canBeRead(one.layer));
  return measured.length ? measured : seen.filter((one) => one.layer.kind === "levels");
}

export const placeOf = (entry: Entry): number => (entry.layer.first[entry.index]! + entry.layer.end[entry.index]!) / 2;

/** The measurement nearest to a pixel; none when all are far. */
export function nearest(frame: Frame, panes: Pane[], pane: number, hidden: ReadonlySet<number>, x: number, y: number): Entry | null {
  let best: Entry | null = null;
  let least = REACH_PIXELS ** 2;
  for (const { series, layer } of readable(panes[pane]!, hidden)) {
    const { from, to } = entriesWithin(layer, frame.x.from, frame.x.to);
    for (let index = from; index < to; index += 1) {
      const left = xOf(frame, layer.first[index]!);
      const right = xOf(frame, layer.end[index]!);
      const across = x < left ? left - x : x > right ? x - right : 0;
      const up = yOf(frame, layer.value[index]!) - y;
      // Nearness across counts more: a reader follows the pointer sideways.
      const distance = across * across + (up * up) / 6;
      if (distance < least) {
        least = distance;
        best = { pane, series, layer, index };
      }
    }
  }
  return best;
}

/** The lines of text for an entry: what it is, where, how much, and what else is known of that place. */
export function words(panes: Pane[], entry: Entry, frame: Frame): string[] {
  const pane = panes[entry.pane]!;
  const { layer, index } = entry;
  const first = layer.first[index]!;
  const end = layer.end[index]!;
  const from = amount(frame.xAxis, first);
  const to = amount(frame.xAxis, end);
  const where = from === to ? from : `${from} to ${to}`;
  const low = layer.low?.[index] ?? NaN;
  const high = layer.high?.[index] ?? NaN;
  const interval = Number.isFinite(low) && Number.isFinite(high) ? ` (${amount(pane.y, low)} to ${amount(pane.y, high)})` : "";
  const lines = [
    pane.series[entry.series]!.name,
    `${frame.xAxis.label}: ${where}`,
    `${pane.y.label}: ${amount(pane.y, layer.value[index]!)}${interval}`,
  ];
  return [...lines, ...levelAt(pane, entry, (first + end) / 2), ...marksAt(pane.marks, (first + end) / 2)];
}

function levelAt(pane: Pane, entry: Entry, place: number): string[] {
  const layers = pane.series[entry.series]!.layers;
  const levels = layers.find((layer) => layer.kind === "levels" && layer !== entry.layer);
  const level = levels ? entryAt(levels, place) : null;
  if (!levels || level === null) return [];
  const bands = layers.find((layer) => layer.kind === "bands");
  const band = bands ? entryAt(bands, place) : null;
  const interval = bands && band !== null ? ` (${amount(pane.y, bands.low![band]!)} to ${amount(pane.y, bands.high![band]!)})` : "";
  return [`${capital(pane.level_name)}: ${amount(pane.y, levels.value[level]!)}${interval}`];
}

function marksAt(marks: Mark[], place: number): string[] {
  const over = marks.filter((mark) => mark.kind === "region" && mark.numbers[0]! <= place && place <= mark.numbers[1]!);
  return [...new Set(over.map((mark) => capital(mark.name)))];
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The entries of a series in sight, no more than `most` of them, evenly chosen. */
export function stops(frame: Frame, layer: Layer, most: number): { from: number; to: number; step: number } {
  const { from, to } = entriesWithin(layer, frame.x.from, frame.x.to);
  return { from, to, step: Math.max(1, Math.ceil((to - from) / most)) };
}
