// The report in a real browser: Debian's chromium, headless.
import assert from "node:assert/strict";
import { rmSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { HOSTILE, makePages } from "./pages.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

let browser;
let pages;

before(async () => {
  pages = makePages();
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
});

after(async () => {
  await browser?.close();
  if (pages) rmSync(pages.folder, { recursive: true });
});

/** Opens a page; `quiet` fails when it said anything on the console or asked for anything. */
async function open(path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  const page = await context.newPage();
  const noise = [];
  page.on("console", (message) => noise.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => noise.push(`error: ${error}`));
  page.on("dialog", (dialog) => (noise.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => request.url().startsWith("file:") || noise.push(`request: ${request.url()}`));
  await page.goto(pathToFileURL(path).href);
  if (options.javaScriptEnabled !== false) {
    await page.waitForFunction(() => document.querySelectorAll("figure.live canvas").length > 0);
    await frames(page);
  }
  return { page, noise, close: () => context.close() };
}

const frames = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** How many pixels of the canvas of the first chart are not ground. */
const ink = (page) =>
  page.evaluate(() => {
    const canvas = document.querySelector("figure.live .plot > canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let index = 3; index < data.length; index += 4) if (data[index] > 0) count += 1;
    return count;
  });

const pixels = (page) => page.locator("figure.live .plot > canvas").first().evaluate((canvas) => canvas.toDataURL());
const zoomOf = async (page) => Number((await page.locator("figure.live").first().getAttribute("data-zoom")) ?? "1");

test("it draws, says nothing on the console and asks for nothing", async () => {
  const { page, noise, close } = await open(pages.one);
  assert.ok((await ink(page)) > 2000, "the chart is drawn");
  assert.ok((await page.locator("#answer .tile").count()) >= 3, "the answer has findings");
  assert.ok((await page.locator(".verdict strong").innerText()).length > 5);
  assert.ok(statSync(pages.one).size < 1 << 20, "one page is under 1 MiB");
  assert.deepEqual(noise, []);
  await close();
});

test("wheel, drag, buttons and double-click zoom and reset", async () => {
  const { page, close } = await open(pages.one);
  const plot = page.locator("figure.live .plot").first();
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  const before = await pixels(page);
  await page.mouse.move(box.x + box.width / 2, box.y + 120);
  await page.mouse.wheel(0, -400);
  await frames(page);
  assert.ok((await zoomOf(page)) > 1.5, "the wheel zooms");
  assert.notEqual(await pixels(page), before, "and the picture is another");
  await plot.dblclick();
  await frames(page);
  assert.equal(await zoomOf(page), 1);
  await page.mouse.move(box.x + box.width * 0.4, box.y + 120);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 140, { steps: 4 });
  await page.mouse.up();
  await frames(page);
  assert.ok(Math.abs((await zoomOf(page)) - 5) < 1, `a fifth of the width was chosen: ${await zoomOf(page)}`);
  await page.getByRole("button", { name: "Reset zoom" }).first().click();
  assert.equal(await zoomOf(page), 1);
  await page.getByRole("button", { name: "Zoom in" }).first().click();
  assert.equal(await zoomOf(page), 2);
  await close();
});

test("a place is read off with unit by pointer and by keyboard", async () => {
  const { page, close } = await open(pages.one);
  const plot = page.locator("figure.live .plot").first();
  await plot.focus();
  await page.keyboard.press("ArrowRight");
  await frames(page);
  const spoken = await page.locator("figure.live [aria-live]").first().textContent();
  assert.match(spoken, /Offset: .*[0-9] [kMGT]i?B/);
  assert.match(spoken, /Throughput: [0-9.]+ [MG]B\/s/);
  assert.ok(await page.locator(".tip").first().isVisible());
  await page.keyboard.press("+");
  await page.keyboard.press("+");
  assert.ok((await zoomOf(page)) > 2);
  await page.keyboard.press("0");
  assert.equal(await zoomOf(page), 1);
  const outline = await plot.evaluate((element) => getComputedStyle(element).outlineStyle);
  assert.equal(outline, "solid", "the focus is seen");
  await close();
});

test("a finding marks in the chart what it rests on", async () => {
  const { page, close } = await open(pages.one);
  const before = await pixels(page);
  const button = page.locator("button.show").first();
  await button.click();
  await frames(page);
  assert.equal(await button.getAttribute("aria-pressed"), "true");
  assert.ok((await page.locator("figure.live[data-marked^='finding-']").count()) >= 1);
  assert.match(await page.locator(".shown").innerText(), /Shaded: what “.+” rests on/);
  const rate = page.locator("li.finding", { hasText: "Seq. read, start" }).locator("button.show");
  await rate.click();
  await frames(page);
  assert.notEqual(await pixels(page), before, "the evidence is drawn");
  await page.locator(".shown button").click();
  await frames(page);
  assert.equal(await page.locator("figure.live[data-marked^='finding-']").count(), 0);
  assert.ok(await page.locator(".shown").isHidden());
  await close();
});

test("the rate of an edge is marked there, and not in all that a survey visited", async () => {
  const { page, close } = await open(pages.one);
  const shares = await page.evaluate(() => {
    const data = JSON.parse(document.querySelector("figure.chart .chart-data").textContent);
    const of = (label) => {
      const row = [...document.querySelectorAll("li.finding")].find((one) => one.querySelector(".label").textContent === label);
      const { stretches } = data.evidence.find((one) => one.finding === row.id);
      return stretches.map(([first, end]) => [first / data.x.end, end / data.x.end]);
    };
    return { start: of("Seq. read, start"), end: of("Seq. read, end"), both: of("Start-to-end ratio") };
  });
  assert.deepEqual([shares.start.length, shares.end.length, shares.both.length], [1, 1, 2]);
  assert.ok(shares.start[0][1] < 0.02 && shares.end[0][0] > 0.98, JSON.stringify(shares));
  await close();
});

test("the legend switches series", async () => {
  const { page, close } = await open(pages.several);
  const before = await ink(page);
  const series = page.locator("figure.live").first().locator(".legend button");
  assert.ok((await series.count()) >= 2, "several runs are in one chart");
  await series.first().click();
  await frames(page);
  assert.equal(await series.first().getAttribute("aria-pressed"), "false");
  assert.ok((await ink(page)) < before);
  await close();
});

test("several runs: a table of differences, and what stands is marked", async () => {
  const { page, noise, close } = await open(pages.several);
  assert.ok((await page.locator("table.figures tbody tr").count()) >= 2);
  assert.ok((await page.locator("table.figures .less, table.figures .more").count()) >= 1);
  assert.deepEqual(noise, []);
  await close();
});

test("what a drive calls itself is text", async () => {
  for (const path of [pages.hostile, pages.several]) {
    const { page, noise, close } = await open(path);
    assert.ok((await page.locator("body").innerText()).includes(HOSTILE.slice(0, 25)), "it is shown as it is");
    assert.equal(await page.locator("img").count(), 0);
    assert.deepEqual(noise, []);
    await close();
  }
});

test("without a script everything is there as picture and text", async () => {
  const { page, close } = await open(pages.one, { javaScriptEnabled: false });
  assert.ok(await page.locator("figure svg").first().isVisible());
  assert.ok((await page.locator("li.finding").count()) >= 4);
  assert.equal(await page.locator("button:visible").count(), 0, "no button that does nothing");
  await close();
});

/** What axe finds wrong with a page as it is. */
async function violations(page, options) {
  await page.evaluate(AXE);
  const result = await page.evaluate((options) => globalThis.axe.run({ resultTypes: ["violations"], ...options }), options);
  return result.violations.map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160))}`);
}

test("axe finds nothing wrong, with everything open and in a comparison", async () => {
  const { page, close } = await open(pages.one);
  await page.locator("details").evaluateAll((all) => all.forEach((one) => (one.open = true)));
  await page.locator("button.show").first().click();
  assert.deepEqual(await violations(page, {}), []);
  await close();
  const several = await open(pages.several);
  assert.deepEqual(await violations(several.page, {}), []);
  await several.close();
});

test("axe finds nothing wrong in the dark", async () => {
  const { page, close } = await open(pages.several, { colorScheme: "dark" });
  await page.locator("button.show").first().click();
  assert.deepEqual(await violations(page, { runOnly: ["color-contrast"] }), []);
  await close();
});

test("the switch changes the colours, of charts too", async () => {
  const { page, close } = await open(pages.one, { colorScheme: "light" });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const [light, picture] = [await ground(), await pixels(page)];
  await page.locator("#theme").click();
  await frames(page);
  assert.notEqual(await ground(), light);
  assert.notEqual(await pixels(page), picture);
  await close();
});

test("a phone scrolls down only", async () => {
  for (const path of [pages.one, pages.several]) {
    const { page, close } = await open(path, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
    const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
    assert.ok(wide <= seen, `${wide} > ${seen}`);
    assert.equal(seen, 360);
    await close();
  }
});

test("a narrow screen has three numbers across or more, and none touches another", async () => {
  for (const width of [320, 390, 800]) {
    const { page, close } = await open(pages.one, { viewport: { width, height: 740 } });
    const drawn = await page.evaluate(async () => {
      const all = [];
      const draw = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const half = this.measureText(text).width / 2;
        if (this.textAlign === "center" && /^[0-9.]+$/.test(text)) all.push({ text, y, from: x - half, to: x + half });
        draw.call(this, text, x, y);
      };
      document.querySelector("figure.live button[aria-label='All: reset zoom']").click();
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      return { all, width: document.querySelector("figure.live .plot").clientWidth };
    });
    assert.ok(drawn.all.length >= 3, `${width}: ${JSON.stringify(drawn.all)}`);
    drawn.all.forEach((tick, index) => {
      assert.ok(tick.from >= 0 && tick.to <= drawn.width, JSON.stringify(tick));
      if (index) assert.ok(tick.from > drawn.all[index - 1].to, JSON.stringify(drawn.all));
    });
    await close();
  }
});

test("on paper the charts are pictures, on white", async () => {
  const { page, close } = await open(pages.one, { colorScheme: "dark" });
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.ok(await page.locator("figure .picture svg").first().isVisible());
  assert.ok(await page.locator(".interactive").first().isHidden());
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
  const paper = await page.pdf({ format: "A4" });
  assert.ok(paper.length > 20_000);
  await close();
});
