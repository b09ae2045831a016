// Draws one pane of a chart on a canvas as crates/report/src/chart/svg/plot.rs draws it in a picture, with the same pens.

import { type AxisData, type ChartData, type Layer, type Mark, type Pane, type Pen, type Series, rules } from "./data.ts";
import { entriesWithin } from "./layer.ts";
import { type Window, ticks } from "./scale.ts";

const { pens } = rules;

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** What is needed to place a coordinate of a pane. */
export interface Frame {
  box: Box;
  xAxis: AxisData;
  x: Window;
  yAxis: AxisData;
  y: Window;
}

export const xOf = ({ box, x }: Frame, at: number): number => box.left + ((at - x.from) / (x.to - x.from)) * (box.right - box.left);
export const yOf = ({ box, y }: Frame, at: number): number => box.bottom - ((at - y.from) / (y.to - y.from)) * (box.bottom - box.top);

/** Symbols at the ends are seen whole. */
const OVERHANG = 6;
/** The height of a tick, and so many ticks up at most; pixels of a tick across, where there is room for more than the fewest. */
const TICK_HEIGHT = 34;
const TICKS_UP_MAX = 7;
const TICK_WIDTH = 80;
const TICKS_ACROSS_MIN = 4;
/** The foot of what a finding rests on. */
const FOOT = 4;

/** A canvas with the colours of the style sheet. */
export class Canvas {
  private readonly style = getComputedStyle(document.documentElement);

  constructor(readonly ctx: CanvasRenderingContext2D) {
    ctx.font = `${rules.text_size}px ${getComputedStyle(document.body).fontFamily}`;
  }

  colour(ink: string): string {
    return this.style.getPropertyValue(`--${ink}`).trim();
  }

  paint(path: Path2D, pen: Pen, ink: string, dash = pen.dash): void {
    const { ctx } = this;
    ctx.fillStyle = ctx.strokeStyle = this.colour(ink);
    ctx.lineJoin = "round";
    ctx.lineWidth = pen.width;
    ctx.setLineDash(dash);
    ctx.globalAlpha = pen.fill;
    if (pen.fill) ctx.fill(path);
    ctx.globalAlpha = pen.opacity;
    if (pen.width) ctx.stroke(path);
    ctx.globalAlpha = 1;
  }

  line(x1: number, y1: number, x2: number, y2: number, pen: Pen, ink: string): void {
    const path = new Path2D();
    path.moveTo(x1, y1);
    path.lineTo(x2, y2);
    this.paint(path, pen, ink);
  }

  text(text: string, x: number, y: number, align: CanvasTextAlign, isMiddle = false): void {
    this.ctx.fillStyle = this.colour("faint");
    this.ctx.textAlign = align;
    this.ctx.textBaseline = isMiddle ? "middle" : "alphabetic";
    this.ctx.fillText(text, x, y);
  }

  width(text: string): number {
    return this.ctx.measureText(text).width;
  }

  /** Does it within a part of the canvas. */
  within({ left, right, top, bottom }: Box, draw: () => void): void {
    this.ctx.save();
    this.ctx.beginPath();
    this.ctx.rect(left - OVERHANG, top - OVERHANG, right - left + 2 * OVERHANG, bottom - top + 2 * OVERHANG);
    this.ctx.clip();
    draw();
    this.ctx.restore();
  }
}

/** Grid, ticks and names. The numbers across stand below the last pane only. */
export function drawAxes(canvas: Canvas, frame: Frame, pane: Pane, isFitted: boolean, isLast: boolean): void {
  const { box } = frame;
  const most = Math.max(3, Math.min(TICKS_UP_MAX, Math.floor((box.bottom - box.top) / TICK_HEIGHT)));
  const up = isFitted ? ticks(frame.yAxis, frame.y, most) : pane.y.ticks.map(([at, label]) => ({ at, label }));
  for (const { at, label } of up) {
    const y = Math.round(yOf(frame, at)) + 0.5;
    canvas.line(box.left, y, box.right, y, pens.frame, "grid");
    canvas.text(label, box.left - rules.number_gap, y, "right", true);
  }
  canvas.line(box.left, box.bottom + 0.5, box.right, box.bottom + 0.5, pens.frame, "axis");
  canvas.text(pane.title, 0, box.top - rules.name_above, "left");
  for (const { label, x, at } of ticksAcross(canvas, frame)) {
    canvas.line(x, box.bottom, x, box.bottom + rules.tick, pens.frame, "axis");
    if (isLast) canvas.text(label, at, box.bottom + rules.numbers_below, "center");
  }
  if (isLast) canvas.text(frame.xAxis.name, (box.left + box.right) / 2, box.bottom + rules.name_below, "center");
}

interface PlacedTick {
  label: string;
  x: number;
  /** The middle of its number, which does not leave the picture. */
  at: number;
}

/** As many ticks as there is room for: no number touches another. On a narrow screen there are still three or more. */
function ticksAcross(canvas: Canvas, frame: Frame): PlacedTick[] {
  const { box } = frame;
  const edge = canvas.ctx.canvas.clientWidth;
  for (let most = Math.max(TICKS_ACROSS_MIN, Math.floor((box.right - box.left) / TICK_WIDTH)); ; most -= 1) {
    const placed = ticks(frame.xAxis, frame.x, most).map(({ at, label }) => {
      const x = Math.round(xOf(frame, at)) + 0.5;
      return { label, x, at: Math.min(x, edge - canvas.width(label) / 2) };
    });
    const apart = withoutTouching(canvas, placed);
    if (apart.length === placed.length || most === 1) return apart;
  }
}

function withoutTouching(canvas: Canvas, placed: PlacedTick[]): PlacedTick[] {
  let taken = -Infinity;
  return placed.filter(({ label, at }) => {
    const half = canvas.width(label) / 2;
    if (at - half <= taken + rules.label_gap) return false;
    taken = at + half;
    return true;
  });
}

/** What is inside the axes. */
export function drawContent(canvas: Canvas, frame: Frame, pane: Pane, hidden: ReadonlySet<number>, evidence: readonly [number, number][]): void {
  const marks = pane.marks.filter((mark) => mark.series === null || !hidden.has(mark.series));
  canvas.within(frame.box, () => {
    for (const mark of marks) if (mark.kind === "region") canvas.paint(regionPath(frame, mark.numbers), pens.region, mark.ink);
    for (const stretch of evidence) {
      canvas.paint(regionPath(frame, stretch), pens.evidence, "evidence");
      canvas.paint(regionPath(frame, stretch, frame.box.bottom - FOOT), { ...pens.evidence, fill: 1 }, "evidence");
    }
    const isAlone = pane.series.length === 1;
    pane.series.forEach((series, index) => {
      if (!hidden.has(index)) for (const layer of series.layers) drawLayer(canvas, frame, layer, series, isAlone);
    });
    for (const mark of marks) if (mark.kind !== "region") canvas.paint(markPath(frame, pane, mark), pens[mark.kind], mark.ink);
  });
}

function regionPath(frame: Frame, [first, end]: readonly number[], top = frame.box.top): Path2D {
  const left = xOf(frame, first!);
  const path = new Path2D();
  path.rect(left, top, Math.max(xOf(frame, end!) - left, rules.region_min), frame.box.bottom - top);
  return path;
}

/** A line at a value ends where its series does: it says nothing of what lies beyond. */
function markPath(frame: Frame, pane: Pane, { kind, series, numbers }: Mark): Path2D {
  const [first, second] = [numbers[0]!, numbers[1]!];
  const { left, right, top, bottom } = frame.box;
  const path = new Path2D();
  if (kind === "ring") path.arc(xOf(frame, first), yOf(frame, second), rules.ring, 0, 2 * Math.PI);
  else if (kind === "border") segment(path, xOf(frame, first), top, xOf(frame, first), bottom);
  else segment(path, left, yOf(frame, first), series === null ? right : xOf(frame, endOf(pane.series[series]!)), yOf(frame, first));
  return path;
}

const endOf = (series: Series): number => Math.max(...series.layers.map((layer) => layer.end[layer.end.length - 1] ?? -Infinity));

function segment(path: Path2D, x1: number, y1: number, x2: number, y2: number): void {
  path.moveTo(x1, y1);
  path.lineTo(x2, y2);
}

function drawLayer(canvas: Canvas, frame: Frame, layer: Layer, series: Series, isAlone: boolean): void {
  const { from, to } = entriesWithin(layer, frame.x.from, frame.x.to);
  const { dash } = rules.symbols[series.symbol]!;
  if (layer.kind === "bands") {
    canvas.paint(bandsPath(frame, layer, from, to), pens.band, series.ink);
  } else if (layer.kind === "levels") {
    const path = levelsPath(frame, layer, from, to);
    canvas.paint(path, pens.rim, "ground");
    canvas.paint(path, pens.line, series.ink, dash);
  } else if (layer.kind === "measured") {
    if (to - from > rules.single_max) canvas.paint(envelopePath(frame, layer, from, to), pens.envelope, series.ink);
    else drawMeasured(canvas, frame, layer, from, to, series);
  } else {
    drawLine(canvas, frame, layer, Math.max(0, from - 1), Math.min(layer.first.length, to + 1), series, isAlone);
  }
}

function bandsPath(frame: Frame, layer: Layer, from: number, to: number): Path2D {
  const path = new Path2D();
  for (let index = from; index < to; index += 1) {
    const [left, top] = [xOf(frame, layer.first[index]!), yOf(frame, layer.high![index]!)];
    path.rect(left, top, xOf(frame, layer.end[index]!) - left, Math.max(1, yOf(frame, layer.low![index]!) - top));
  }
  return path;
}

/** The symbols of a series at some places. */
class Symbols {
  private readonly path = new Path2D();
  private readonly shape: Path2D;

  constructor(private readonly series: Series, isLarge: boolean) {
    const symbol = rules.symbols[series.symbol]!;
    this.shape = new Path2D(`M0 0${isLarge ? symbol.large : symbol.small}`);
  }

  add(x: number, y: number): void {
    this.path.addPath(this.shape, { e: x, f: y });
  }

  paint(canvas: Canvas, pen: Pen): void {
    const part = rules.symbols[this.series.symbol]!.is_filled ? { width: 0 } : { fill: 0 };
    canvas.paint(this.path, { ...pen, ...part }, this.series.ink);
  }
}

/** Each measurement as what it is: a stroke if it is that long, else a symbol. */
function drawMeasured(canvas: Canvas, frame: Frame, layer: Layer, from: number, to: number, series: Series): void {
  const strokes = new Path2D();
  const symbols = new Symbols(series, to - from <= rules.sparse_max);
  for (let index = from; index < to; index += 1) {
    const [left, right, y] = [xOf(frame, layer.first[index]!), xOf(frame, layer.end[index]!), yOf(frame, layer.value[index]!)];
    if (right - left >= rules.stroke_min) segment(strokes, left, y, right, y);
    else symbols.add((left + right) / 2, y);
  }
  canvas.paint(strokes, pens.stroke, series.ink);
  symbols.paint(canvas, to - from >= rules.crowded_min ? pens.crowded_symbol : pens.symbol);
}

/** From the lowest to the highest of each column of pixels. */
function envelopePath(frame: Frame, layer: Layer, from: number, to: number): Path2D {
  const count = Math.ceil(frame.box.right - frame.box.left) + 1;
  const low = new Float64Array(count).fill(Infinity);
  const high = new Float64Array(count).fill(-Infinity);
  for (let index = from; index < to; index += 1) {
    const value = layer.value[index]!;
    const begin = Math.floor(xOf(frame, layer.first[index]!) - frame.box.left);
    const end = Math.max(begin, Math.ceil(xOf(frame, layer.end[index]!) - frame.box.left) - 1);
    for (let column = Math.max(0, begin); column <= Math.min(count - 1, end); column += 1) {
      low[column] = Math.min(low[column]!, value);
      high[column] = Math.max(high[column]!, value);
    }
  }
  const path = new Path2D();
  for (let column = 0; column < count; column += 1) {
    const x = frame.box.left + column + 0.5;
    if (low[column] !== Infinity) segment(path, x, yOf(frame, low[column]!) + 0.5, x, yOf(frame, high[column]!) - 0.5);
  }
  return path;
}

/** One line through all levels, broken where they do not touch. */
function levelsPath(frame: Frame, layer: Layer, from: number, to: number): Path2D {
  const path = new Path2D();
  const touch = (frame.x.to - frame.x.from) * 1e-6;
  for (let index = from; index < to; index += 1) {
    const [left, y] = [xOf(frame, layer.first[index]!), yOf(frame, layer.value[index]!)];
    const goesOn = index > from && Math.abs(layer.first[index]! - layer.end[index - 1]!) <= Math.max(touch, layer.end[index]! * 1e-9);
    if (goesOn) path.lineTo(left, y);
    else path.moveTo(left, y);
    path.lineTo(xOf(frame, layer.end[index]!), y);
  }
  return path;
}

/** Points joined by a line, each with its interval; at the corners of a trend nothing was measured. */
function drawLine(canvas: Canvas, frame: Frame, layer: Layer, from: number, to: number, series: Series, isAlone: boolean): void {
  const [line, intervals, symbols] = [new Path2D(), new Path2D(), new Symbols(series, true)];
  const width = to > from ? xOf(frame, layer.first[to - 1]!) - xOf(frame, layer.first[from]!) : 0;
  const isSparse = to - from === 1 || width / (to - from - 1) >= rules.spacing_min;
  const isTrend = layer.kind === "trend";
  const every = isSparse ? 1 : Math.max(2, Math.floor((to - from) / rules.dense_symbols));
  for (let index = from; index < to; index += 1) {
    const [x, y] = [xOf(frame, layer.first[index]!), yOf(frame, layer.value[index]!)];
    if (index === from) line.moveTo(x, y);
    else line.lineTo(x, y);
    if ((isSparse || !isAlone) && (index - from) % every === Math.floor(every / 2)) symbols.add(x, y);
    if (isSparse && layer.low && layer.high) addWhisker(intervals, x, yOf(frame, layer.high[index]!), yOf(frame, layer.low[index]!));
  }
  const isDashed = isSparse || isTrend;
  canvas.paint(line, isDashed ? pens.line : pens.dense_line, series.ink, isDashed ? rules.symbols[series.symbol]!.dash : []);
  if (isTrend) return;
  canvas.paint(intervals, pens.interval, series.ink);
  symbols.paint(canvas, pens.symbol);
}

/** The line of an interval with its two ends. */
function addWhisker(path: Path2D, x: number, top: number, bottom: number): void {
  if (!(bottom - top >= rules.interval_min)) return;
  segment(path, x, top, x, bottom);
  for (const y of [top, bottom]) segment(path, x - rules.whisker, y, x + rules.whisker, y);
}

/** How often each value occurs, over the same axis up. */
export function drawBeside(canvas: Canvas, chart: ChartData, frame: Frame, left: number, right: number, hidden: ReadonlySet<number>): void {
  const { top, bottom } = frame.box;
  canvas.within({ left, right, top, bottom }, () => {
    chart.beside!.bars.forEach(([lowest, bars], index) => {
      if (hidden.has(index)) return;
      const path = new Path2D();
      path.moveTo(left, yOf(frame, lowest));
      let y = yOf(frame, lowest);
      for (const [end, part] of bars) {
        const x = left + part * (right - left);
        path.lineTo(x, y);
        y = yOf(frame, end);
        path.lineTo(x, y);
      }
      path.lineTo(left, y);
      canvas.paint(path, pens.beside, chart.panes[0]!.series[index]!.ink);
    });
  });
  canvas.line(left + 0.5, top, left + 0.5, bottom, pens.frame, "axis");
  canvas.text(chart.beside!.label, right, top - rules.name_above, "right");
}
