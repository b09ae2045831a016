// The part of the axis across that is in sight, in coordinates. It never leaves the axis.

import { type AxisData } from "./data.ts";
import { type Window, whole } from "./scale.ts";

/** Closer than this nothing more can be told apart: places have 32 bits. */
const SHARE_MIN = 1e-7;

export class View {
  private readonly all: Window;
  private seen: Window;

  constructor(axis: AxisData) {
    this.all = whole(axis);
    this.seen = { ...this.all };
  }

  get window(): Window {
    return this.seen;
  }

  get isWhole(): boolean {
    return this.seen.from <= this.all.from && this.seen.to >= this.all.to;
  }

  /** How many times closer than the whole. */
  get closeness(): number {
    return (this.all.to - this.all.from) / (this.seen.to - this.seen.from);
  }

  reset(): void {
    this.seen = { ...this.all };
  }

  show(from: number, to: number): void {
    const width = this.all.to - this.all.from;
    const shown = Math.min(width, Math.max(width * SHARE_MIN, Math.abs(to - from)));
    const begin = Math.min(Math.max(Math.min(from, to), this.all.from), this.all.to - shown);
    this.seen = { from: begin, to: begin + shown };
  }

  /** Closer by a factor; what is at that share of the sight stays where it is. */
  zoom(factor: number, at = 0.5): void {
    const width = this.seen.to - this.seen.from;
    const place = this.seen.from + at * width;
    this.show(place - (at * width) / factor, place + ((1 - at) * width) / factor);
  }

  /** Along by a share of the sight. */
  pan(part: number): void {
    const by = part * (this.seen.to - this.seen.from);
    this.show(this.seen.from + by, this.seen.to + by);
  }
}
