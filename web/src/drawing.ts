// Draws one pane of a chart on a canvas: grid, marks, bands, measurements, levels and lines.

import type { Colours } from "./colours.ts";
import type { AxisData, ChartData, Layer, Mark, Pane, Series } from "./data.ts";
import { entriesWithin } from "./layer.ts";
import { type Window, axisName, fromEven, share, ticks } from "./scale.ts";
import { COLOURS, addSymbol, dash, isFilled } from "./symbols.ts";

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** What is needed to place a value of a pane. */
export interface Frame {
  box: Box;
  xAxis: AxisData;
  x: Window;
  yAxis: AxisData;
  y: Window;
}

/** More measurements than this hide each other: then each column of pixels shows from where to where they go. */
const SINGLE_MAX = 3000;
const RADIUS = 2.6;
const SPARSE_RADIUS = 3.8;
const SPARSE_MAX = 80;
const CROWDED_MIN = 150;
/** An interval that is lower than this is hidden by its sign. */
export const INTERVAL_PIXELS_MIN = 3;
/** Half the width of the end of an interval's line. */
const WHISKER = 4;

export const FONT = '12.5px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

export const xOf = (frame: Frame, value: number): number =>
  frame.box.left + share(frame.xAxis, frame.x, value) * (frame.box.right - frame.box.left);

export const yOf = (frame: Frame, value: number): number =>
  frame.box.bottom - share(frame.yAxis, frame.y, value) * (frame.box.bottom - frame.box.top);

export function valueAt(frame: Frame, x: number): number {
  const at = (x - frame.box.left) / (frame.box.right - frame.box.left);
  return fromEven(frame.xAxis, frame.x.from + at * (frame.x.to - frame.x.from));
}

/** Grid, ticks and names. The numbers across stand below the last pane only. */
export function drawAxes(ctx: CanvasRenderingContext2D, frame: Frame, pane: Pane, colours: Colours, isLast: boolean): void {
  const { box } = frame;
  ctx.font = FONT;
  ctx.lineWidth = 1;
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  const most = Math.max(3, Math.min(7, Math.floor((box.bottom - box.top) / 34)));
  for (const tick of ticks(frame.yAxis, frame.y, most)) {
    const y = Math.round(yOf(frame, tick.value)) + 0.5;
    line(ctx, box.left, y, box.right, y, colours.grid);
    ctx.fillStyle = colours.faint;
    ctx.fillText(tick.label, box.left - 8, y);
  }
  line(ctx, box.left, box.bottom + 0.5, box.right, box.bottom + 0.5, colours.axis);
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  ctx.fillStyle = colours.faint;
  const name = pane.name ? `${pane.name}${pane.y.unit ? `, ${pane.y.unit}` : ""}` : axisName(pane.y);
  ctx.fillText(name, 0, box.top - 17);
  drawTicksAcross(ctx, frame, colours, isLast);
}

/** Between two numbers across at least, in pixels. */
const LABEL_GAP = 8;
/** A tick for so many pixels across, where there is room for more than so many ticks. */
const TICK_PIXELS = 80;
const STEPS_MIN = 4;

interface PlacedTick {
  label: string;
  x: number;
  /** The middle of its number, which does not leave the picture. */
  at: number;
}

function drawTicksAcross(ctx: CanvasRenderingContext2D, frame: Frame, colours: Colours, isLast: boolean): void {
  const { box } = frame;
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  ctx.fillStyle = colours.faint;
  for (const { label, x, at } of ticksAcross(ctx, frame)) {
    line(ctx, x, box.bottom, x, box.bottom + 5, colours.axis);
    if (isLast) ctx.fillText(label, at, box.bottom + 9);
  }
  if (isLast) ctx.fillText(axisName(frame.xAxis), (box.left + box.right) / 2, box.bottom + 29);
}

/** As many ticks as there is room for: no number touches another. On a narrow screen there are still three or more. */
function ticksAcross(ctx: CanvasRenderingContext2D, frame: Frame): PlacedTick[] {
  const { box } = frame;
  const place = (tick: { value: number; label: string }): PlacedTick => {
    const x = Math.round(xOf(frame, tick.value)) + 0.5;
    return { label: tick.label, x, at: Math.min(x, ctx.canvas.clientWidth - ctx.measureText(tick.label).width / 2) };
  };
  const most = Math.max(STEPS_MIN, Math.floor((box.right - box.left) / TICK_PIXELS));
  for (let steps = most; ; steps -= 1) {
    const placed = ticks(frame.xAxis, frame.x, steps).map(place);
    const apart = withoutTouching(ctx, placed);
    // What is left out in the end is on a scale that has the same ticks for any number of steps.
    if (apart.length === placed.length || steps === 1) return apart;
  }
}

function withoutTouching(ctx: CanvasRenderingContext2D, placed: PlacedTick[]): PlacedTick[] {
  let taken = -Infinity;
  return placed.filter(({ label, at }) => {
    const half = ctx.measureText(label).width / 2;
    if (at - half <= taken + LABEL_GAP) return false;
    taken = at + half;
    return true;
  });
}

function line(ctx: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number, colour: string): void {
  ctx.strokeStyle = colour;
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x2, y2);
  ctx.stroke();
}

/** What is inside the axes. */
export function drawContent(
  ctx: CanvasRenderingContext2D,
  frame: Frame,
  pane: Pane,
  colours: Colours,
  hidden: ReadonlySet<number>,
  evidence: readonly [number, number][],
): void {
  const { box } = frame;
  ctx.save();
  ctx.beginPath();
  // Signs at the ends are seen whole.
  ctx.rect(box.left - 6, box.top - 6, box.right - box.left + 12, box.bottom - box.top + 12);
  ctx.clip();
  const marks = pane.marks.filter((mark) => mark.series === null || !hidden.has(mark.series));
  for (const mark of marks) {
    if (mark.kind === "over") drawOver(ctx, frame, mark.numbers, colourOfMark(mark, colours, colours.region), 0.22);
    if (mark.kind === "pause") drawOver(ctx, frame, mark.numbers, colours.axis, 0.22);
  }
  for (const stretch of evidence) drawOver(ctx, frame, stretch, colours.evidence, 0.16, true);
  pane.series.forEach((series, index) => {
    if (hidden.has(index)) return;
    for (const layer of series.layers) drawLayer(ctx, frame, layer, index, colours);
  });
  for (const mark of marks) drawMark(ctx, frame, mark, colours, mark.series === null ? Infinity : endOf(pane.series[mark.series]));
  ctx.restore();
}

function drawOver(
  ctx: CanvasRenderingContext2D,
  frame: Frame,
  [first, end]: number[] | [number, number],
  colour: string,
  opacity: number,
  hasFoot = false,
): void {
  const left = xOf(frame, first!);
  const width = Math.max(xOf(frame, end!) - left, 3);
  ctx.fillStyle = colour;
  ctx.globalAlpha = opacity;
  ctx.fillRect(left, frame.box.top - 6, width, frame.box.bottom - frame.box.top + 6);
  ctx.globalAlpha = 1;
  if (hasFoot) ctx.fillRect(left, frame.box.bottom - 4, width, 4);
}

/** The colour of a mark: that of the series that it is of, if of one. */
export const colourOfMark = (mark: Mark, colours: Colours, otherwise: string): string =>
  mark.series === null ? otherwise : colours.series[mark.series % COLOURS]!;

/** Where a series ends: a line at a value says nothing of what lies beyond. */
const endOf = (series: Series | undefined): number =>
  Math.max(...(series?.layers ?? []).map((layer) => layer.end[layer.end.length - 1] ?? -Infinity));

function drawMark(ctx: CanvasRenderingContext2D, frame: Frame, mark: Mark, colours: Colours, end: number): void {
  const { box } = frame;
  const [first, second] = mark.numbers;
  const colour = colourOfMark(mark, colours, colours.mark);
  ctx.lineWidth = 1.5;
  if (mark.kind === "at") {
    ctx.setLineDash([4, 3]);
    line(ctx, xOf(frame, first!), box.top - 6, xOf(frame, first!), box.bottom, colour);
  } else if (mark.kind === "value") {
    ctx.setLineDash([8, 4]);
    line(ctx, box.left, yOf(frame, first!), end === Infinity ? box.right : xOf(frame, end), yOf(frame, first!), colour);
  } else if (mark.kind === "point") {
    ctx.strokeStyle = colours.mark;
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.arc(xOf(frame, first!), yOf(frame, second!), 8, 0, 2 * Math.PI);
    ctx.stroke();
  }
  ctx.setLineDash([]);
  ctx.lineWidth = 1;
}

function drawLayer(ctx: CanvasRenderingContext2D, frame: Frame, layer: Layer, index: number, colours: Colours): void {
  const colour = colours.series[index % COLOURS]!;
  const { from, to } = entriesWithin(layer, fromEven(frame.xAxis, frame.x.from), fromEven(frame.xAxis, frame.x.to));
  if (layer.kind === "bands") drawBands(ctx, frame, layer, from, to, colour);
  else if (layer.kind === "levels") drawLevels(ctx, frame, layer, from, to, colour, colours.ground, index);
  else if (layer.kind === "line" || layer.kind === "trend") drawLine(ctx, frame, layer, from, to, colour, index);
  else if (to - from > SINGLE_MAX) drawEnvelope(ctx, frame, layer, from, to, colour);
  else drawMeasured(ctx, frame, layer, from, to, colour, index);
}

function drawBands(ctx: CanvasRenderingContext2D, frame: Frame, layer: Layer, from: number, to: number, colour: string): void {
  ctx.fillStyle = colour;
  ctx.globalAlpha = 0.22;
  for (let index = from; index < to; index += 1) {
    const left = xOf(frame, layer.first[index]!);
    const top = yOf(frame, layer.high![index]!);
    const width = Math.max(0, xOf(frame, layer.end[index]!) - left);
    ctx.fillRect(left, top, width, Math.max(1, yOf(frame, layer.low![index]!) - top));
  }
  ctx.globalAlpha = 1;
}

/** Each measurement as what it is: a stroke if it is that long, else a sign. */
function drawMeasured(
  ctx: CanvasRenderingContext2D, frame: Frame, layer: Layer, from: number, to: number, colour: string, series: number,
): void {
  const radius = to - from <= SPARSE_MAX ? SPARSE_RADIUS : RADIUS;
  const strokes = new Path2D();
  const signs = new Path2D();
  for (let index = from; index < to; index += 1) {
    const left = xOf(frame, layer.first[index]!);
    const right = xOf(frame, layer.end[index]!);
    const y = yOf(frame, layer.value[index]!);
    if (right - left >= 2 * RADIUS) {
      strokes.moveTo(left, y);
      strokes.lineTo(right, y);
    } else {
      addSymbol(signs, series, (left + right) / 2, y, radius);
    }
  }
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.lineWidth = 3;
  ctx.stroke(strokes);
  ctx.globalAlpha = to - from >= CROWDED_MIN ? 0.55 : 0.9;
  ctx.lineWidth = 1.6;
  if (isFilled(series)) ctx.fill(signs);
  else ctx.stroke(signs);
  ctx.globalAlpha = 1;
}

/** From the lowest to the highest of each column of pixels. */
function drawEnvelope(ctx: CanvasRenderingContext2D, frame: Frame, layer: Layer, from: number, to: number, colour: string): void {
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
    if (low[column] === Infinity) continue;
    const x = frame.box.left + column + 0.5;
    path.moveTo(x, yOf(frame, low[column]!) + 0.5);
    path.lineTo(x, yOf(frame, high[column]!) - 0.5);
  }
  ctx.strokeStyle = colour;
  ctx.globalAlpha = 0.75;
  ctx.lineWidth = 1.2;
  ctx.stroke(path);
  ctx.globalAlpha = 1;
}

/** One line through all levels, broken where they do not touch, with a rim that keeps it apart from what it crosses. */
function drawLevels(
  ctx: CanvasRenderingContext2D, frame: Frame, layer: Layer, from: number, to: number, colour: string, ground: string, series: number,
): void {
  const path = new Path2D();
  const touch = (frame.x.to - frame.x.from) * 1e-6;
  for (let index = from; index < to; index += 1) {
    const y = yOf(frame, layer.value[index]!);
    const goesOn = index > from && Math.abs(layer.first[index]! - layer.end[index - 1]!) <= Math.max(touch, layer.end[index]! * 1e-9);
    if (goesOn) path.lineTo(xOf(frame, layer.first[index]!), y);
    else path.moveTo(xOf(frame, layer.first[index]!), y);
    path.lineTo(xOf(frame, layer.end[index]!), y);
  }
  ctx.strokeStyle = ground;
  ctx.globalAlpha = 0.7;
  ctx.lineWidth = 3.4;
  ctx.stroke(path);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = colour;
  ctx.lineWidth = 2;
  ctx.setLineDash(dash(series));
  ctx.stroke(path);
  ctx.setLineDash([]);
}

/** Points joined by a line, each with its interval. */
function drawLine(
  ctx: CanvasRenderingContext2D, frame: Frame, layer: Layer, from: number, to: number, colour: string, series: number,
): void {
  const path = new Path2D();
  const signs = new Path2D();
  const intervals = new Path2D();
  const begin = Math.max(0, from - 1);
  const end = Math.min(layer.first.length, to + 1);
  // At the corners of a trend nothing was measured.
  const areFew = layer.kind === "line" && to - from <= CROWDED_MIN;
  for (let index = begin; index < end; index += 1) {
    const x = xOf(frame, layer.first[index]!);
    const y = yOf(frame, layer.value[index]!);
    if (index === begin) path.moveTo(x, y);
    else path.lineTo(x, y);
    if (areFew) addSymbol(signs, series, x, y, SPARSE_RADIUS);
    const low = layer.low?.[index] ?? NaN;
    const high = layer.high?.[index] ?? NaN;
    if (areFew && yOf(frame, low) - yOf(frame, high) >= INTERVAL_PIXELS_MIN) addWhisker(intervals, x, yOf(frame, high), yOf(frame, low));
  }
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.lineWidth = 1.2;
  ctx.stroke(intervals);
  ctx.lineWidth = 2;
  ctx.lineJoin = "round";
  ctx.setLineDash(dash(series));
  ctx.stroke(path);
  ctx.setLineDash([]);
  ctx.lineWidth = 1.6;
  if (isFilled(series)) ctx.fill(signs);
  else ctx.stroke(signs);
}

/** The line of an interval with its two ends. */
function addWhisker(path: Path2D, x: number, top: number, bottom: number): void {
  path.moveTo(x, top);
  path.lineTo(x, bottom);
  for (const y of [top, bottom]) {
    path.moveTo(x - WHISKER, y);
    path.lineTo(x + WHISKER, y);
  }
}

/** How often each value occurs, over the same axis up. */
export function drawBeside(
  ctx: CanvasRenderingContext2D, chart: ChartData, frame: Frame, left: number, right: number, colours: Colours, hidden: ReadonlySet<number>,
): void {
  const beside = chart.beside;
  if (!beside) return;
  const { box } = frame;
  const most = Math.max(1e-9, ...beside.bars.flatMap((bars) => bars.map((bar) => bar[2])));
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, box.top - 6, right - left, box.bottom - box.top + 6);
  ctx.clip();
  beside.bars.forEach((bars, index) => {
    if (hidden.has(index)) return;
    ctx.fillStyle = colours.series[index % COLOURS]!;
    ctx.globalAlpha = 0.55;
    for (const [low, high, part] of bars) {
      const top = yOf(frame, high);
      ctx.fillRect(left, top, (part / most) * (right - left), Math.max(1, yOf(frame, low) - top - 0.5));
    }
  });
  ctx.restore();
  ctx.globalAlpha = 1;
  line(ctx, left + 0.5, box.top - 6, left + 0.5, box.bottom, colours.axis);
  ctx.font = FONT;
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  ctx.fillStyle = colours.faint;
  ctx.fillText(beside.label, (left + right) / 2, box.bottom + 29, right - left + 20);
}
