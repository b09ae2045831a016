// A chart that can be zoomed and read off, in the place of its picture.

import { colours } from "./colours.ts";
import type { ChartData, Pane } from "./data.ts";
import { type Box, FONT, type Frame, drawAxes, drawBeside, drawContent, xOf, yOf } from "./drawing.ts";
import { listen } from "./gestures.ts";
import { Legend } from "./legend.ts";
import { type Entry, nearest, placeOf, readable, stops, words } from "./readout.ts";
import { type Window, fromEven, share, ticks, toEven, whole } from "./scale.ts";
import { View } from "./view.ts";

const MAIN_HEIGHT = 330;
const MAIN_HEIGHT_NARROW = 250;
const STRIP_HEIGHT = 76;
const ABOVE = 36;
const BELOW = 50;
const BESIDE_WIDTH = 120;
const NARROW = 560;
/** Key presses from one end of the sight to the other. */
const STOPS_MAX = 400;

export class Chart {
  private readonly view: View;
  private readonly legend: Legend;
  private readonly plot = document.createElement("div");
  private readonly canvas = document.createElement("canvas");
  private readonly tip = document.createElement("div");
  private readonly spoken = document.createElement("p");
  private readonly status = document.createElement("span");
  private frames: Frame[] = [];
  private entry: Entry | null = null;
  private chosen: [number, number] | null = null;
  private marked: { finding: string; stretches: [number, number][] } | null = null;
  private isFitted = false;
  private isWaiting = false;

  constructor(
    private readonly figure: HTMLElement,
    readonly data: ChartData,
  ) {
    this.view = new View(data.x);
    this.legend = new Legend(data, () => this.redraw());
    this.build();
    listen(this.plot, {
      shareAt: (x) => this.shareAt(x),
      zoom: (factor, at) => this.change(() => this.view.zoom(factor, at)),
      pan: (part) => this.change(() => this.view.pan(part)),
      select: (from, to) => this.change(() => this.select(from, to)),
      choosing: (stretch) => this.choosing(stretch),
      hover: (x, y) => this.hover(x, y),
      leave: () => this.point(null),
      reset: () => this.change(() => this.view.reset()),
      isWhole: () => this.view.isWhole,
    });
    this.plot.addEventListener("keydown", (event) => this.press(event));
    this.plot.addEventListener("blur", () => this.point(null));
    new ResizeObserver(() => this.redraw()).observe(this.plot);
  }

  /** Marks what a finding rests on; whether there is anything to mark. */
  mark(finding: string | null): boolean {
    const stretches = finding === null ? undefined : this.data.evidence.get(finding);
    this.marked = finding !== null && stretches ? { finding, stretches } : null;
    this.figure.dataset["marked"] = this.marked ? this.marked.finding : "";
    this.change(() => this.view.reset());
    return this.marked !== null;
  }

  show(): void {
    this.figure.scrollIntoView({ block: "start" });
    this.plot.focus({ preventScroll: true });
  }

  /** Draws all of it anew before the next frame. */
  redraw(): void {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      this.draw();
    });
  }

  recolour(): void {
    this.legend.redraw();
    this.redraw();
  }

  private build(): void {
    this.plot.className = "plot";
    this.plot.tabIndex = 0;
    this.plot.setAttribute("role", "application");
    this.plot.setAttribute("aria-label", `${this.data.title}. Arrow keys read off measurements, plus and minus zoom, 0 shows all.`);
    this.plot.setAttribute("aria-describedby", `chart-${this.data.name}-words`);
    this.canvas.setAttribute("aria-hidden", "true");
    this.tip.className = "tip";
    this.tip.hidden = true;
    this.spoken.className = "sr";
    this.spoken.setAttribute("aria-live", "polite");
    this.plot.append(this.canvas, this.tip);
    const interactive = document.createElement("div");
    interactive.className = "interactive";
    interactive.append(this.tools(), this.plot, this.spoken);
    this.figure.classList.add("live");
    this.figure.querySelector(".picture")!.after(interactive);
  }

  private tools(): HTMLElement {
    const tools = document.createElement("div");
    tools.className = "tools";
    const buttons = document.createElement("div");
    buttons.className = "buttons";
    const button = (text: string, name: string, act: (self: HTMLButtonElement) => void): void => {
      const one = document.createElement("button");
      one.type = "button";
      one.textContent = text;
      one.setAttribute("aria-label", name);
      one.title = name;
      one.addEventListener("click", () => act(one));
      buttons.append(one);
    };
    this.status.className = "status";
    buttons.append(this.status);
    button("+", "Zoom in", () => this.change(() => this.view.zoom(2)));
    button("−", "Zoom out", () => this.change(() => this.view.zoom(0.5)));
    button("↕", "Fit the height to what is in sight", (self) => {
      this.isFitted = !this.isFitted;
      self.setAttribute("aria-pressed", String(this.isFitted));
      this.redraw();
    });
    button("All", "Show all again", () => this.change(() => this.view.reset()));
    tools.append(this.legend.element, buttons);
    return tools;
  }

  private change(act: () => void): void {
    act();
    const { closeness } = this.view;
    this.status.textContent = this.view.isWhole ? "" : `${Number(closeness.toPrecision(2)).toLocaleString("en")} ×`;
    this.figure.dataset["zoom"] = closeness.toFixed(3);
    this.redraw();
  }

  private shareAt(x: number): number {
    const box = this.frames[0]?.box;
    return box ? (x - box.left) / (box.right - box.left) : 0;
  }

  private select(from: number, to: number): void {
    const { window } = this.view;
    const at = (part: number): number => window.from + Math.min(1, Math.max(0, part)) * (window.to - window.from);
    this.view.show(at(from), at(to));
  }

  private choosing(stretch: [number, number] | null): void {
    this.chosen = stretch;
    this.redraw();
  }

  private hover(x: number, y: number): void {
    const pane = this.frames.findIndex((frame) => y <= frame.box.bottom + 12);
    const frame = this.frames[pane];
    this.point(frame ? nearest(frame, this.data.panes, pane, this.legend.hidden, x, y) : null);
  }

  private point(entry: Entry | null, isSpoken = false): void {
    this.entry = entry;
    if (isSpoken && entry) this.spoken.textContent = words(this.data.panes, entry, this.frames[entry.pane]!).join(". ");
    this.redraw();
  }

  private press(event: KeyboardEvent): void {
    const along = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const acts: Record<string, () => void> = {
      "+": () => this.change(() => this.view.zoom(1.6, this.cursorShare())),
      "=": () => this.change(() => this.view.zoom(1.6, this.cursorShare())),
      "-": () => this.change(() => this.view.zoom(1 / 1.6, this.cursorShare())),
      "0": () => this.change(() => this.view.reset()),
      Escape: () => this.change(() => this.view.reset()),
      Home: () => this.step(-Infinity),
      End: () => this.step(Infinity),
      ArrowUp: () => this.otherSeries(-1),
      ArrowDown: () => this.otherSeries(1),
      ArrowLeft: () => (event.shiftKey ? this.change(() => this.view.pan(-0.1)) : this.step(along)),
      ArrowRight: () => (event.shiftKey ? this.change(() => this.view.pan(0.1)) : this.step(along)),
    };
    const act = acts[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }

  private cursorShare(): number {
    if (!this.entry) return 0.5;
    const at = share(this.data.x, this.view.window, placeOf(this.entry));
    return at >= 0 && at <= 1 ? at : 0.5;
  }

  /** Reads off the next measurement of the same series, or the first in sight. */
  private step(by: number): void {
    const entry = this.entry ?? this.firstEntry();
    const frame = entry && this.frames[entry.pane];
    if (!entry || !frame) return;
    const { from, to, step } = stops(frame, entry.layer, STOPS_MAX);
    const isNew = this.entry === null && Number.isFinite(by);
    const index = Math.min(to - 1, Math.max(from, isNew ? from : entry.index + by * step));
    if (to > from) this.point({ ...entry, index }, true);
  }

  private firstEntry(): Entry | null {
    const first = readable(this.data.panes[0]!, this.legend.hidden)[0];
    return first ? { pane: 0, ...first, index: 0 } : null;
  }

  private otherSeries(by: number): void {
    const all = this.data.panes.flatMap((pane, index) => readable(pane, this.legend.hidden).map((one) => ({ pane: index, ...one })));
    const now = all.findIndex((one) => one.layer === this.entry?.layer);
    const next = all[(now + by + all.length) % all.length];
    if (!next) return;
    const place = this.entry ? placeOf(this.entry) : 0;
    let index = next.layer.first.findIndex((first) => first >= place);
    if (index < 0) index = next.layer.first.length - 1;
    this.point({ ...next, index }, true);
  }

  private draw(): void {
    const width = this.plot.clientWidth;
    if (width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    const boxes = this.boxes(width);
    const height = boxes[boxes.length - 1]!.bottom + BELOW;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    const ctx = this.canvas.getContext("2d")!;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    const palette = colours();
    const { panes } = this.data;
    this.frames = panes.map((pane, index) => this.frame(pane, boxes[index]!));
    const evidence = this.marked?.stretches ?? [];
    this.frames.forEach((frame, index) => {
      drawAxes(ctx, frame, panes[index]!, palette, index === panes.length - 1);
      const hidden = index === 0 ? this.legend.hidden : new Set<number>();
      drawContent(ctx, frame, panes[index]!, palette, hidden, evidence);
    });
    if (this.hasBeside(width)) {
      const frame = this.frames[0]!;
      drawBeside(ctx, this.data, frame, frame.box.right + 18, frame.box.right + 18 + BESIDE_WIDTH, palette, this.legend.hidden);
    }
    this.drawChosen(ctx, palette.evidence);
    this.drawCursor(ctx, palette.text, palette.ground);
  }

  private hasBeside(width: number): boolean {
    return this.data.beside !== null && width > NARROW;
  }

  private boxes(width: number): Box[] {
    const main = width > NARROW ? MAIN_HEIGHT : MAIN_HEIGHT_NARROW;
    const right = width - 14 - (this.hasBeside(width) ? BESIDE_WIDTH + 18 : 0);
    const left = this.labelWidth() + 12;
    let top = ABOVE;
    return this.data.panes.map((pane, index) => {
      const height = index === 0 || pane.isEqual ? main : STRIP_HEIGHT;
      const box = { left, right, top, bottom: top + height };
      top += height + ABOVE + 12;
      return box;
    });
  }

  private labelWidth(): number {
    const ctx = this.canvas.getContext("2d")!;
    ctx.font = FONT;
    const labels = this.data.panes.flatMap((pane) => ticks(pane.y, whole(pane.y), 7).map((tick) => tick.label));
    return Math.max(...labels.map((label) => ctx.measureText(label).width), 24);
  }

  private frame(pane: Pane, box: Box): Frame {
    const x = this.view.window;
    const y = this.isFitted ? this.fitted(pane) : whole(pane.y);
    return { box, xAxis: this.data.x, x, yAxis: pane.y, y };
  }

  /** The axis up from the lowest to the highest value in sight, with some room. */
  private fitted(pane: Pane): Window {
    const frame = { box: { left: 0, right: 1, top: 0, bottom: 1 }, xAxis: this.data.x, x: this.view.window, yAxis: pane.y, y: whole(pane.y) };
    let low = Infinity;
    let high = -Infinity;
    for (const { layer } of readable(pane, this.legend.hidden)) {
      const { from, to } = stops(frame, layer, 1);
      for (let index = from; index < to; index += 1) {
        low = Math.min(low, layer.value[index]!);
        high = Math.max(high, layer.value[index]!);
      }
    }
    if (!(high >= low)) return whole(pane.y);
    const [from, to] = [toEven(pane.y, low), toEven(pane.y, high)];
    const room = Math.max((to - from) * 0.08, (whole(pane.y).to - whole(pane.y).from) * 0.002);
    return { from: from - room, to: to + room };
  }

  private drawChosen(ctx: CanvasRenderingContext2D, colour: string): void {
    if (!this.chosen) return;
    const [from, to] = this.chosen;
    const top = this.frames[0]!.box.top - 6;
    ctx.fillStyle = colour;
    ctx.globalAlpha = 0.18;
    ctx.fillRect(Math.min(from, to), top, Math.abs(to - from), this.frames[this.frames.length - 1]!.box.bottom - top);
    ctx.globalAlpha = 1;
  }

  private drawCursor(ctx: CanvasRenderingContext2D, colour: string, ground: string): void {
    const { entry } = this;
    const frame = entry && this.frames[entry.pane];
    this.tip.hidden = !entry;
    if (!entry || !frame) return;
    const seen = Math.min(Math.max(placeOf(entry), fromEven(this.data.x, frame.x.from)), fromEven(this.data.x, frame.x.to));
    const x = xOf(frame, seen);
    const y = yOf(frame, entry.layer.value[entry.index]!);
    ctx.strokeStyle = colour;
    ctx.lineWidth = 1;
    ctx.globalAlpha = 0.5;
    ctx.beginPath();
    ctx.moveTo(x, this.frames[0]!.box.top - 6);
    ctx.lineTo(x, this.frames[this.frames.length - 1]!.box.bottom);
    ctx.stroke();
    ctx.globalAlpha = 1;
    ctx.fillStyle = ground;
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.arc(x, y, 5, 0, 2 * Math.PI);
    ctx.fill();
    ctx.stroke();
    this.showTip(words(this.data.panes, entry, frame), x, y);
  }

  private showTip(lines: string[], x: number, y: number): void {
    const rows = lines.map((text, index) => {
      const row = document.createElement(index === 0 ? "strong" : "span");
      row.textContent = text;
      return row;
    });
    this.tip.replaceChildren(...rows);
    const { clientWidth } = this.plot;
    const width = Math.min(this.tip.offsetWidth, clientWidth);
    const left = x + 16 + width > clientWidth ? x - 16 - width : x + 16;
    this.tip.style.left = `${Math.max(0, Math.min(left, clientWidth - width))}px`;
    this.tip.style.top = `${Math.max(0, y - this.tip.offsetHeight - 12)}px`;
  }
}
