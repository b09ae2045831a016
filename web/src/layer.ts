// What can be asked of a layer: which of its entries are in sight, and what is at a place.

import type { Layer } from "./data.ts";

export interface Span {
  from: number;
  to: number;
}

/** The entries that may be in sight between two places: `from` up to but without `to`. */
export function entriesWithin(layer: Layer, low: number, high: number): Span {
  const from = lowerBound(layer.first, low);
  // Entries that begin before may reach in; the widest says how far back to look.
  let begin = from;
  const reach = widest(layer);
  while (begin > 0 && layer.first[begin - 1]! >= low - reach) begin -= 1;
  return { from: begin, to: lowerBound(layer.first, high, true) };
}

const WIDEST = new WeakMap<Layer, number>();

function widest(layer: Layer): number {
  let width = WIDEST.get(layer);
  if (width === undefined) {
    width = 0;
    if (layer.end !== layer.first) {
      for (let index = 0; index < layer.first.length; index += 1) {
        width = Math.max(width, layer.end[index]! - layer.first[index]!);
      }
    }
    WIDEST.set(layer, width);
  }
  return width;
}

function lowerBound(sorted: Float64Array, value: number, isAfter = false): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const at = sorted[middle]!;
    if (isAfter ? at <= value : at < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The entry that covers a place; none when there is a gap. */
export function entryAt(layer: Layer, place: number): number | null {
  const { from, to } = entriesWithin(layer, place, place);
  for (let index = from; index < to; index += 1) {
    if (layer.first[index]! <= place && place <= layer.end[index]!) return index;
  }
  return null;
}
