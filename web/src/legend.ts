// The legend: a switch for each series, and what the marks mean.

import { colours } from "./colours.ts";
import type { ChartData, Layer, Mark, Pane } from "./data.ts";
import { INTERVAL_PIXELS_MIN, colourOfMark } from "./drawing.ts";
import { amount, share, whole } from "./scale.ts";
import { COLOURS, addSymbol, dash, isFilled } from "./symbols.ts";

const WIDTH = 30;
const HEIGHT = 16;

export class Legend {
  readonly element = document.createElement("ul");
  /** The series that are not drawn. */
  readonly hidden = new Set<number>();
  private readonly signs: (() => void)[] = [];

  constructor(chart: ChartData, changed: () => void) {
    this.element.className = "legend";
    const main = chart.panes[0]!;
    main.series.forEach((series, index) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "quiet";
      button.setAttribute("aria-pressed", "true");
      button.title = "Show or hide it";
      const hasLine = series.layers.some((layer) => layer.kind !== "measured" && layer.kind !== "bands");
      button.append(this.sign((ctx) => drawSeriesSign(ctx, index, hasLine)), series.name);
      button.addEventListener("click", () => {
        if (!this.hidden.delete(index)) this.hidden.add(index);
        button.setAttribute("aria-pressed", String(!this.hidden.has(index)));
        changed();
      });
      this.add(button);
    });
    if (main.series.some((series) => series.layers.some((layer) => layer.kind === "levels"))) {
      this.explain(drawLevelSign, `line: ${main.levelName}`);
    }
    if (hasIntervals(main)) this.explain(drawIntervalSign, "95 % interval");
    const named = new Map<string, Mark>();
    for (const mark of chart.panes.flatMap((pane) => pane.marks)) if (!named.has(mark.name)) named.set(mark.name, mark);
    for (const [name, mark] of named) {
      const values = new Set(main.marks.filter((one) => one.name === name && one.kind === "value").map((one) => one.numbers[0]!));
      const [value] = values;
      const text = values.size === 1 && value !== undefined ? `${name}, ${amount(main.y, value)}` : name;
      this.explain((ctx) => drawMarkSign(ctx, mark), text);
    }
  }

  /** Draws the signs anew, in other colours. */
  redraw(): void {
    for (const draw of this.signs) draw();
  }

  private add(content: HTMLElement): void {
    const item = document.createElement("li");
    item.append(content);
    this.element.append(item);
  }

  private explain(draw: (ctx: CanvasRenderingContext2D) => void, text: string): void {
    const entry = document.createElement("span");
    entry.append(this.sign(draw), text);
    this.add(entry);
  }

  private sign(draw: (ctx: CanvasRenderingContext2D) => void): HTMLCanvasElement {
    const canvas = document.createElement("canvas");
    canvas.setAttribute("aria-hidden", "true");
    canvas.width = 2 * WIDTH;
    canvas.height = 2 * HEIGHT;
    const ctx = canvas.getContext("2d")!;
    const all = (): void => {
      ctx.setTransform(2, 0, 0, 2, 0, 0);
      ctx.clearRect(0, 0, WIDTH, HEIGHT);
      draw(ctx);
    };
    this.signs.push(all);
    all();
    return canvas;
  }
}

/** The height of a chart on a phone, in which an interval has to be seen. */
const LEAST_HEIGHT = 250;

/** Whether the interval of any point is high enough to be seen. */
function hasIntervals(pane: Pane): boolean {
  const sight = whole(pane.y);
  const height = (layer: Layer, index: number): number =>
    LEAST_HEIGHT * (share(pane.y, sight, layer.high![index]!) - share(pane.y, sight, layer.low![index]!));
  const isSeen = (layer: Layer): boolean =>
    layer.kind === "line" && layer.low !== null && layer.low.some((_, index) => height(layer, index) >= INTERVAL_PIXELS_MIN);
  return pane.series.some((series) => series.layers.some(isSeen));
}

function drawIntervalSign(ctx: CanvasRenderingContext2D): void {
  ctx.strokeStyle = colours().faint;
  ctx.lineWidth = 1.5;
  const [middle, end] = [WIDTH / 2, 4];
  stroke(ctx, [[middle - end, 1], [middle + end, 1]]);
  stroke(ctx, [[middle, 1], [middle, HEIGHT - 1]]);
  stroke(ctx, [[middle - end, HEIGHT - 1], [middle + end, HEIGHT - 1]]);
}

function drawSeriesSign(ctx: CanvasRenderingContext2D, index: number, hasLine: boolean): void {
  const colour = colours().series[index % COLOURS]!;
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.lineWidth = 2;
  if (hasLine) {
    ctx.setLineDash(dash(index));
    stroke(ctx, [[0, 8], [WIDTH, 8]]);
  }
  const path = new Path2D();
  addSymbol(path, index, WIDTH / 2, 8, 4.4);
  ctx.lineWidth = 1.6;
  if (isFilled(index)) ctx.fill(path);
  else ctx.stroke(path);
}

function drawLevelSign(ctx: CanvasRenderingContext2D): void {
  ctx.strokeStyle = colours().faint;
  ctx.lineWidth = 2;
  stroke(ctx, [[0, 4], [WIDTH / 2, 4], [WIDTH / 2, 12], [WIDTH, 12]]);
}

function drawMarkSign(ctx: CanvasRenderingContext2D, mark: Mark): void {
  const all = colours();
  const { region, axis } = all;
  if (mark.kind === "over" || mark.kind === "pause") {
    const shade = mark.kind === "over" ? colourOfMark(mark, all, region) : axis;
    ctx.fillStyle = shade;
    ctx.globalAlpha = 0.25;
    ctx.fillRect(0, 2, WIDTH, 12);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = shade;
    ctx.lineWidth = 1;
    ctx.strokeRect(0.5, 2.5, WIDTH - 1, 11);
    return;
  }
  // A ring lies on the line that it is of, and would not be seen in its colour.
  ctx.strokeStyle = mark.kind === "point" ? all.mark : colourOfMark(mark, all, all.mark);
  ctx.lineWidth = 1.5;
  if (mark.kind === "point") {
    ctx.beginPath();
    ctx.arc(WIDTH / 2, 8, 6, 0, 2 * Math.PI);
    ctx.stroke();
    return;
  }
  ctx.setLineDash(mark.kind === "at" ? [4, 3] : [8, 4]);
  stroke(ctx, mark.kind === "at" ? [[WIDTH / 2, 0], [WIDTH / 2, 16]] : [[0, 8], [WIDTH, 8]]);
}

function stroke(ctx: CanvasRenderingContext2D, points: [number, number][]): void {
  ctx.beginPath();
  points.forEach(([x, y], index) => (index ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  ctx.stroke();
  ctx.setLineDash([]);
}
