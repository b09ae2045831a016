// What the page says of a chart, unpacked. The counterpart is crates/report/src/html/chart_data.rs.

export type ScaleKind = "even" | "decades" | "doublings" | "nines";
export type NumberKind = "axis" | "times" | "sizes" | "rates" | "counts" | "percents";

export interface AxisData {
  label: string;
  unit: string;
  divisor: number;
  start: number;
  end: number;
  scale: ScaleKind;
  numbers: NumberKind;
}

export interface Mark {
  name: string;
  series: number | null;
  kind: "at" | "over" | "pause" | "value" | "point";
  numbers: number[];
}

/** Columns of numbers in base units, all as long as `first`, from left to right. */
export interface Layer {
  kind: "measured" | "levels" | "bands" | "line" | "trend";
  first: Float64Array;
  end: Float64Array;
  value: Float32Array;
  /** The ends of intervals; NaN where there is none. */
  low: Float32Array | null;
  high: Float32Array | null;
}

export interface Series {
  name: string;
  layers: Layer[];
}

export interface Pane {
  name: string | null;
  y: AxisData;
  series: Series[];
  marks: Mark[];
  isEqual: boolean;
  levelName: string;
}

export interface Beside {
  label: string;
  /** For each series: low, high and share of each bar. */
  bars: [number, number, number][][];
}

export interface ChartData {
  name: string;
  title: string;
  x: AxisData;
  panes: Pane[];
  beside: Beside | null;
  evidence: Map<string, [number, number][]>;
}

interface PackedLayer {
  kind: Layer["kind"];
  first: string;
  end?: string | null;
  value?: string;
  low?: string | null;
  high?: string | null;
}

interface PackedPane {
  name: string | null;
  y: AxisData;
  series: { name: string; layers: PackedLayer[] }[];
  marks: Mark[];
  is_equal?: boolean;
  level_name?: string;
}

/** From where to where places go. */
interface Reach {
  start: number;
  width: number;
}

interface PackedChart extends Reach {
  name: string;
  title: string;
  x: AxisData;
  panes: PackedPane[];
  beside?: Beside | null;
  evidence: { finding: string; stretches: [number, number][] }[];
}

export function unpacked(text: string): ChartData {
  const packed = JSON.parse(text) as PackedChart;
  return {
    name: packed.name,
    title: packed.title,
    x: packed.x,
    panes: packed.panes.map((pane) => unpackedPane(pane, packed)),
    beside: packed.beside ?? null,
    evidence: new Map(packed.evidence.map((one) => [one.finding, one.stretches])),
  };
}

function unpackedPane(pane: PackedPane, reach: Reach): Pane {
  return {
    name: pane.name,
    y: pane.y,
    series: pane.series.map((series) => ({
      name: series.name,
      layers: series.layers.map((layer) => unpackedLayer(layer, reach)),
    })),
    marks: pane.marks,
    isEqual: pane.is_equal ?? false,
    levelName: pane.level_name ?? "level",
  };
}

function unpackedLayer(layer: PackedLayer, reach: Reach): Layer {
  const first = places(layer.first, reach);
  const low = layer.low ? values(layer.low) : null;
  const high = layer.high ? values(layer.high) : null;
  return {
    kind: layer.kind,
    first,
    end: layer.end ? places(layer.end, reach) : first,
    value: layer.value ? values(layer.value) : (high ?? new Float32Array(first.length)),
    low,
    high,
  };
}

function bytes(base64: string): Uint8Array {
  const letters = atob(base64);
  const all = new Uint8Array(letters.length);
  for (let index = 0; index < letters.length; index += 1) all[index] = letters.charCodeAt(index);
  return all;
}

function places(base64: string, reach: Reach): Float64Array {
  const view = new DataView(bytes(base64).buffer);
  const all = new Float64Array(view.byteLength / 4);
  for (let index = 0; index < all.length; index += 1) {
    all[index] = reach.start + (view.getUint32(4 * index, true) / 0xffffffff) * reach.width;
  }
  return all;
}

function values(base64: string): Float32Array {
  const view = new DataView(bytes(base64).buffer);
  const all = new Float32Array(view.byteLength / 4);
  for (let index = 0; index < all.length; index += 1) all[index] = view.getFloat32(4 * index, true);
  return all;
}
