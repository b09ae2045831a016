// The signs and dashes of series: the same as in crates/report/src/chart/svg/symbol.rs, so that the picture on paper and the
// one on the screen have one legend.

type Shape = "disc" | "triangle" | "square" | "cross" | "diamond" | "plus" | "down" | "ring";

const SYMBOLS: { shape: Shape; dash: number[] }[] = [
  { shape: "disc", dash: [] },
  { shape: "triangle", dash: [7, 3] },
  { shape: "square", dash: [2, 3] },
  { shape: "cross", dash: [10, 3, 2, 3] },
  { shape: "diamond", dash: [5, 2, 2, 2, 2, 2] },
  { shape: "plus", dash: [12, 4] },
  { shape: "down", dash: [4, 4] },
  { shape: "ring", dash: [1, 2] },
];

export const COLOURS = SYMBOLS.length;

const symbol = (index: number) => SYMBOLS[(index + Math.floor(index / SYMBOLS.length)) % SYMBOLS.length]!;

export const dash = (index: number): number[] => symbol(index).dash;

export const isFilled = (index: number): boolean => !["cross", "plus", "ring"].includes(symbol(index).shape);

/** Adds the sign at a place to a path. */
export function addSymbol(path: Path2D, index: number, x: number, y: number, radius: number): void {
  const shape = symbol(index).shape;
  const corners = (points: [number, number][]): void => {
    points.forEach(([right, down], place) => (place ? path.lineTo(x + right, y + down) : path.moveTo(x + right, y + down)));
    path.closePath();
  };
  const stroke = (fromX: number, fromY: number, toX: number, toY: number): void => {
    path.moveTo(x + fromX, y + fromY);
    path.lineTo(x + toX, y + toY);
  };
  const wide = radius * 1.25;
  const tall = radius * 2.1;
  const half = radius * 0.9;
  const long = radius * 1.35;
  switch (shape) {
    case "disc":
    case "ring":
      path.moveTo(x + radius, y);
      path.arc(x, y, radius, 0, 2 * Math.PI);
      break;
    case "triangle":
      corners([[0, -tall * 0.6], [wide, tall * 0.4], [-wide, tall * 0.4]]);
      break;
    case "down":
      corners([[0, tall * 0.6], [wide, -tall * 0.4], [-wide, -tall * 0.4]]);
      break;
    case "square":
      corners([[-half, -half], [half, -half], [half, half], [-half, half]]);
      break;
    case "diamond":
      corners([[0, -long], [long, 0], [0, long], [-long, 0]]);
      break;
    case "cross":
      stroke(-radius, -radius, radius, radius);
      stroke(-radius, radius, radius, -radius);
      break;
    case "plus":
      stroke(-wide, 0, wide, 0);
      stroke(0, -wide, 0, wide);
      break;
  }
}
