// The colours of the style sheet, for the canvas.

import { COLOURS } from "./symbols.ts";

export interface Colours {
  ground: string;
  text: string;
  faint: string;
  axis: string;
  grid: string;
  mark: string;
  region: string;
  evidence: string;
  series: string[];
}

export function colours(): Colours {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    ground: of("ground"),
    text: of("text"),
    faint: of("faint"),
    axis: of("axis"),
    grid: of("grid"),
    mark: of("mark"),
    region: of("region"),
    evidence: of("evidence"),
    series: Array.from({ length: COLOURS }, (_, index) => of(`series-${index}`)),
  };
}
