// A chart that can be zoomed and read off, in the place of its picture.

import { type Boxes, type ChartData, type Pane, rules } from "./data.ts";
import { type Box, Canvas, type Frame, drawAxes, drawBeside, drawContent, xOf, yOf } from "./drawing.ts";
import { listen } from "./gestures.ts";
import { type Entry, nearest, placeOf, readable, stops, words } from "./readout.ts";
import { type Window, whole } from "./scale.ts";
import { View } from "./view.ts";

/** Key presses from one end of the sight to the other. */
const STOPS_MAX = 400;
/** The radius of the dot on what is read off. */
const DOT = 5;

export class Chart {
  private readonly view: View;
  private readonly part: HTMLElement;
  private readonly plot: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly tip: HTMLElement;
  /** The series that are not drawn. */
  private readonly hidden = new Set<number>();
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
    this.part = figure.querySelector(".interactive")!;
    this.plot = this.part.querySelector(".plot")!;
    this.canvas = this.plot.querySelector("canvas")!;
    this.tip = this.plot.querySelector(".tip")!;
    this.part.hidden = false;
    figure.classList.add("live");
    this.listenToButtons();
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
    const stretches = finding === null ? undefined : this.data.evidence.find((one) => one.finding === finding)?.stretches;
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

  private listenToButtons(): void {
    for (const button of this.part.querySelectorAll<HTMLButtonElement>("[data-series]")) {
      button.addEventListener("click", () => {
        const index = Number(button.dataset["series"]);
        if (!this.hidden.delete(index)) this.hidden.add(index);
        button.setAttribute("aria-pressed", String(!this.hidden.has(index)));
        this.redraw();
      });
    }
    const acts: Record<string, (button: HTMLButtonElement) => void> = {
      in: () => this.change(() => this.view.zoom(2)),
      out: () => this.change(() => this.view.zoom(0.5)),
      all: () => this.change(() => this.view.reset()),
      fit: (button) => {
        this.isFitted = !this.isFitted;
        button.setAttribute("aria-pressed", String(this.isFitted));
        this.redraw();
      },
    };
    for (const button of this.part.querySelectorAll<HTMLButtonElement>("[data-act]")) {
      button.addEventListener("click", () => acts[button.dataset["act"]!]!(button));
    }
  }

  private change(act: () => void): void {
    act();
    const { closeness } = this.view;
    this.part.querySelector(".status")!.textContent = this.view.isWhole ? "" : `${Number(closeness.toPrecision(2)).toLocaleString("en")} ×`;
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
    this.point(frame ? nearest(frame, this.data.panes, pane, this.hidden, x, y) : null);
  }

  private point(entry: Entry | null, isSpoken = false): void {
    this.entry = entry;
    if (isSpoken && entry) this.part.querySelector(".sr")!.textContent = words(this.data.panes, entry, this.frames[entry.pane]!).join(". ");
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
    const { from, to } = this.view.window;
    const at = (placeOf(this.entry) - from) / (to - from);
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
    const first = readable(this.data.panes[0]!, this.hidden)[0];
    return first ? { pane: 0, ...first, index: 0 } : null;
  }

  private otherSeries(by: number): void {
    const all = this.data.panes.flatMap((pane, index) => readable(pane, this.hidden).map((one) => ({ pane: index, ...one })));
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
    const sheet = width > rules.narrow ? this.data.wide : this.data.narrow;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(sheet.height * ratio);
    this.canvas.style.height = `${sheet.height}px`;
    const canvas = new Canvas(this.canvas.getContext("2d")!);
    canvas.ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    const { panes, beside } = this.data;
    const boxes = this.boxes(sheet, width);
    this.frames = panes.map((pane, index) => this.frame(pane, boxes[index]!));
    this.frames.forEach((frame, index) => {
      drawAxes(canvas, frame, panes[index]!, this.isFitted, index === panes.length - 1);
      drawContent(canvas, frame, panes[index]!, index === 0 ? this.hidden : new Set(), this.marked?.stretches ?? []);
    });
    if (beside && sheet.beside) {
      const [left, right] = sheet.beside.map((inset) => width - inset) as [number, number];
      drawBeside(canvas, this.data, this.frames[0]!, left, right, this.hidden);
    }
    this.drawChosen(canvas);
    this.drawCursor(canvas);
  }

  private boxes({ left, right, plots }: Boxes, width: number): Box[] {
    return plots.map(([top, bottom]) => ({ left, right: width - right, top, bottom }));
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
    for (const { layer } of readable(pane, this.hidden)) {
      const { from, to } = stops(frame, layer, 1);
      for (let index = from; index < to; index += 1) {
        low = Math.min(low, layer.value[index]!);
        high = Math.max(high, layer.value[index]!);
      }
    }
    if (!(high >= low)) return whole(pane.y);
    const room = Math.max((high - low) * 0.08, (pane.y.end - pane.y.start) * 0.002);
    return { from: low - room, to: high + room };
  }

  private drawChosen(canvas: Canvas): void {
    if (!this.chosen) return;
    const [from, to] = this.chosen;
    const path = new Path2D();
    path.rect(from, this.top, to - from, this.bottom - this.top);
    canvas.paint(path, rules.pens.evidence, "evidence");
  }

  private get top(): number {
    return this.frames[0]!.box.top;
  }

  private get bottom(): number {
    return this.frames[this.frames.length - 1]!.box.bottom;
  }

  private drawCursor(canvas: Canvas): void {
    const { entry } = this;
    const frame = entry && this.frames[entry.pane];
    this.tip.hidden = !entry;
    if (!entry || !frame) return;
    const x = xOf(frame, Math.min(Math.max(placeOf(entry), frame.x.from), frame.x.to));
    const y = yOf(frame, entry.layer.value[entry.index]!);
    canvas.line(x, this.top, x, this.bottom, { ...rules.pens.frame, opacity: 0.5 }, "text");
    const dot = new Path2D();
    dot.arc(x, y, DOT, 0, 2 * Math.PI);
    canvas.paint(dot, { ...rules.pens.frame, width: 0, fill: 1 }, "ground");
    canvas.paint(dot, rules.pens.ring, "text");
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
