// Prints how many milliseconds a page takes from asking for it to all of its charts being drawn: node opening.mjs FILE
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const times = [];
for (let round = 0; round < 5; round += 1) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
  await page.goto(pathToFileURL(process.argv[2]).href);
  times.push(
    await page.evaluate(
      () =>
        new Promise((done) => {
          const look = () =>
            [...document.querySelectorAll("figure.live .plot > canvas")].every((canvas) => canvas.style.height) ? done(performance.now()) : requestAnimationFrame(look);
          look();
        }),
    ),
  );
  await page.close();
}
await browser.close();
console.log(times.sort((a, b) => a - b)[2]);
