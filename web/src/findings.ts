// A finding shows in the charts what it rests on.

import type { Chart } from "./chart.ts";

export function setUpFindings(charts: Chart[]): void {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>("button.show")];
  const shown = document.createElement("p");
  shown.className = "shown";
  shown.hidden = true;
  shown.setAttribute("aria-live", "polite");
  document.body.append(shown);

  const mark = (finding: string | null): Chart | undefined => {
    const marked = charts.filter((chart) => chart.mark(finding));
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset["finding"] === finding));
    shown.hidden = finding === null;
    return marked[0];
  };
  for (const button of buttons) {
    const finding = button.dataset["finding"]!;
    button.hidden = false;
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      if (button.getAttribute("aria-pressed") === "true") {
        mark(null);
        return;
      }
      const first = mark(finding);
      announce(shown, finding, () => mark(null));
      first?.show();
    });
  }
}

/** Says what is shaded, with the way back. */
function announce(shown: HTMLElement, finding: string, clear: () => void): void {
  const name = document.querySelector(`#${finding} .label`)?.textContent ?? "";
  const text = document.createElement("span");
  text.textContent = `Shaded: what “${name}” rests on`;
  const back = document.createElement("a");
  back.href = `#${finding}`;
  back.textContent = "Back to it";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Clear";
  button.addEventListener("click", clear);
  shown.replaceChildren(text, back, button);
}
