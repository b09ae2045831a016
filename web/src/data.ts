// What the page says of charts, unpacked. The counterpart is crates/report/src/html/chart_data.rs. All numbers are coordinates: what
// is equally far apart on an axis is equally far apart in them.

export interface Pen {
  width: number;
  opacity: number;
  dash: number[];
  fill: number;
}

type PenName =
  | "band" | "region" | "rim" | "line" | "dense_line" | "interval" | "stroke" | "envelope" | "symbol" | "crowded_symbol"
  | "border" | "limit" | "ring" | "beside" | "evidence" | "frame";

export interface SymbolData {
  small: string;
  large: string;
  is_filled: boolean;
  dash: number[];
}

/** What all charts have in common, as crates/report/src/chart/drawing.rs says it. */
export interface Rules {
  pens: Record<PenName, Pen>;
  symbols: SymbolData[];
  single_max: number;
  sparse_max: number;
  crowded_min: number;
  stroke_min: number;
  spacing_min: number;
  dense_symbols: number;
  whisker: number;
  interval_min: number;
  region_min: number;
  ring: number;
  label_gap: number;
  number_gap: number;
  tick: number;
  name_above: number;
  round: number[];
  unit_tolerance: number;
  text_size: number;
  numbers_below: number;
  name_below: number;
  narrow: number;
}

export interface AxisData {
  label: string;
  name: string;
  scale: "linear" | "decades" | "doublings" | "nines";
  start: number;
  end: number;
  units: [number, string][];
  has_own_units: boolean;
  digits: number;
  ticks: [number, string][];
  round: [number, string, boolean][];
}

export interface Mark {
  name: string;
  series: number | null;
  ink: string;
  kind: "border" | "region" | "limit" | "ring";
  numbers: number[];
}

/** Columns of numbers, all as long as `first`, from left to right. */
export interface Layer {
  kind: "measured" | "levels" | "bands" | "line" | "trend";
  first: Float64Array;
  end: Float64Array;
  value: Float32Array;
  /** The ends of intervals; NaN where there is none. */
  low: Float32Array | null;
  high: Float32Array | null;
}

interface Drawn<L> {
  name: string;
  ink: string;
  symbol: number;
  layers: L[];
}

interface Part<L> {
  title: string;
  y: AxisData;
  series: Drawn<L>[];
  marks: Mark[];
  level_name: string;
}

/** Where plots are: `right` and `beside` count from the right edge. */
export interface Boxes {
  left: number;
  right: number;
  beside: [number, number] | null;
  height: number;
  plots: [number, number][];
}

interface Data<L> {
  name: string;
  title: string;
  places: [number, number];
  x: AxisData;
  panes: Part<L>[];
  wide: Boxes;
  narrow: Boxes;
  beside: { label: string; bars: [number, [number, number][]][] } | null;
  evidence: { finding: string; stretches: [number, number][] }[];
}

type PackedLayer = { [Column in keyof Layer]: Column extends "kind" ? Layer["kind"] : string | null };

export type Series = Drawn<Layer>;
export type Pane = Part<Layer>;
export type ChartData = Data<Layer>;

export const rules = JSON.parse(document.querySelector(".charts-data")?.textContent ?? "{}") as Rules;

export function unpacked(text: string): ChartData {
  const packed = JSON.parse(text) as Data<PackedLayer>;
  const panes = packed.panes.map((pane) => ({
    ...pane,
    series: pane.series.map((series) => ({ ...series, layers: series.layers.map((layer) => unpackedLayer(layer, packed.places)) })),
  }));
  return { ...packed, panes };
}

function unpackedLayer(layer: PackedLayer, places: [number, number]): Layer {
  const first = placesOf(layer.first!, places);
  const low = layer.low ? valuesOf(layer.low) : null;
  const high = layer.high ? valuesOf(layer.high) : null;
  const value = layer.value ? valuesOf(layer.value) : (high ?? new Float32Array(first.length));
  return { kind: layer.kind, first, end: layer.end ? placesOf(layer.end, places) : first, value, low, high };
}

function viewOf(base64: string): DataView {
  return new DataView(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)).buffer);
}

function placesOf(base64: string, [start, width]: [number, number]): Float64Array {
  const view = viewOf(base64);
  return Float64Array.from({ length: view.byteLength / 4 }, (_, index) => start + (view.getUint32(4 * index, true) / 0xffffffff) * width);
}

function valuesOf(base64: string): Float32Array {
  const view = viewOf(base64);
  return Float32Array.from({ length: view.byteLength / 4 }, (_, index) => view.getFloat32(4 * index, true));
}
