// Wheel, drag, pinch and double-click on a chart, in shares of its width.

export interface Gestures {
  /** The share of the plot's width at a pixel of the element; below 0 or above 1 outside. */
  shareAt(x: number): number;
  zoom(factor: number, at: number): void;
  pan(part: number): void;
  select(from: number, to: number): void;
  /** While a stretch is being chosen; null when that is over. */
  choosing(stretch: [number, number] | null): void;
  hover(x: number, y: number): void;
  leave(): void;
  reset(): void;
  isWhole(): boolean;
}

const CHOICE_PIXELS_MIN = 6;

export function listen(element: HTMLElement, gestures: Gestures): void {
  listenToWheel(element, gestures);
  element.addEventListener("dblclick", () => gestures.reset());
  element.addEventListener("pointerleave", () => gestures.leave());
  listenToPointers(element, gestures);
}

/** The wheel zooms when the pointer was moved onto the chart; when the page was scrolled under a resting pointer it goes on
 * scrolling. */
function listenToWheel(element: HTMLElement, gestures: Gestures): void {
  let isMeant = false;
  element.addEventListener("pointermove", () => (isMeant = true));
  element.addEventListener("pointerleave", () => (isMeant = false));
  element.addEventListener(
    "wheel",
    (event) => {
      const isOut = event.deltaY > 0;
      if (!(isMeant || event.ctrlKey) || (isOut && gestures.isWhole())) return;
      event.preventDefault();
      const at = gestures.shareAt(event.clientX - element.getBoundingClientRect().left);
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) gestures.pan(Math.sign(event.deltaX) * 0.06);
      else gestures.zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0022)), Math.min(1, Math.max(0, at)));
    },
    { passive: false },
  );
}

function listenToPointers(element: HTMLElement, gestures: Gestures): void {
  const pointers = new Map<number, number>();
  let begin: number | null = null;
  let isPan = false;
  let spread: { apart: number; middle: number } | null = null;
  const local = (event: PointerEvent): [number, number] => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const end = (event: PointerEvent): void => {
    const [x] = local(event);
    if (begin !== null && !isPan && pointers.size === 1 && Math.abs(x - begin) >= CHOICE_PIXELS_MIN && event.type === "pointerup") {
      gestures.select(gestures.shareAt(begin), gestures.shareAt(x));
    }
    pointers.delete(event.pointerId);
    begin = null;
    spread = null;
    gestures.choosing(null);
  };
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const [x] = local(event);
    pointers.set(event.pointerId, x);
    isPan = event.shiftKey || event.pointerType === "touch";
    begin = pointers.size === 1 ? x : null;
    spread = pointers.size === 2 ? pinch(pointers) : null;
    if (event.pointerType !== "touch") element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", (event) => {
    const [x, y] = local(event);
    const before = pointers.get(event.pointerId);
    if (before !== undefined) pointers.set(event.pointerId, x);
    const unit = gestures.shareAt(1) - gestures.shareAt(0);
    if (spread && pointers.size === 2) {
      const now = pinch(pointers);
      gestures.zoom(now.apart / Math.max(spread.apart, 1), gestures.shareAt(now.middle));
      gestures.pan((spread.middle - now.middle) * unit);
      spread = now;
    } else if (begin !== null && before !== undefined && isPan) {
      gestures.pan((before - x) * unit);
    } else if (begin !== null && Math.abs(x - begin) >= CHOICE_PIXELS_MIN) {
      gestures.choosing([begin, x]);
    }
    gestures.hover(x, y);
  });
  element.addEventListener("pointerup", end);
  element.addEventListener("pointercancel", end);
}

function pinch(pointers: Map<number, number>): { apart: number; middle: number } {
  const [first, second] = [...pointers.values()] as [number, number];
  return { apart: Math.abs(first - second), middle: (first + second) / 2 };
}
