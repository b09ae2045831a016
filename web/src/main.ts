// Brings the page to life. Whatever fails here leaves the page as it is without a script: everything can be read.

import { Chart } from "./chart.ts";
import { setUpCopying } from "./copying.ts";
import { unpacked } from "./data.ts";
import { setUpFindings } from "./findings.ts";
import { setUpTheme } from "./theme.ts";

const figures = [...document.querySelectorAll<HTMLElement>("figure.chart")];
const charts = figures.map((figure) => new Chart(figure, unpacked(figure.querySelector(".chart-data")!.textContent ?? "")));
for (const hint of document.querySelectorAll<HTMLElement>(".hint")) hint.hidden = false;
setUpFindings(charts);
setUpCopying();
const theme = document.querySelector<HTMLButtonElement>("#theme");
if (theme) setUpTheme(theme, () => charts.forEach((chart) => chart.redraw()));
