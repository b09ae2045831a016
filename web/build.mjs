// Makes of src/ what the program carries: one script, one style sheet, and the policy that allows just these two.
// With --check it writes nothing and fails when what is committed is not what the sources give.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";

const folder = (path) => fileURLToPath(new URL(path, import.meta.url));
const BUNDLE = folder("../crates/report/src/html/bundle/");

const TARGET = ["es2022", "chrome109", "firefox115", "safari16.4"];

async function script() {
  const result = await build({
    entryPoints: [folder("src/main.ts")],
    bundle: true,
    minify: true,
    write: false,
    charset: "ascii",
    target: TARGET,
    legalComments: "none",
    format: "iife",
  });
  return result.outputFiles[0].text.trimEnd();
}

async function sheet() {
  const colours = JSON.parse(readFileSync(folder("../crates/report/src/chart/svg/colours.json"), "utf8"));
  const theme = (name) => `color-scheme:${name};${Object.entries(colours[name]).map(([ink, colour]) => `--${ink}:${colour};`).join("")}`;
  const themes = `:root{${theme("light")}}
    @media screen and (prefers-color-scheme:dark){:root:not([data-theme="light"]){${theme("dark")}}}
    @media screen{:root[data-theme="dark"]{${theme("dark")}}}`;
  const result = await transform(themes + readFileSync(folder("src/page.css"), "utf8"), { loader: "css", minify: true, charset: "ascii", target: TARGET });
  return result.code.trimEnd();
}

// What stands between the tags is what a browser takes the checksum of.
const checksum = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const bundle = { "page.js": await script(), "page.css": await sheet() };
if (/<\/(script|style)/i.test(Object.values(bundle).join())) throw new Error("the bundle would end its own element");
const policy = [
  "default-src 'none'",
  `script-src ${checksum(bundle["page.js"])}`,
  `style-src ${checksum(bundle["page.css"])}`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const files = { ...bundle, "content-security-policy.txt": `${policy}\n` };
let isSame = true;
for (const [name, content] of Object.entries(files)) {
  if (process.argv.includes("--check")) {
    const committed = readFileSync(BUNDLE + name, "utf8");
    if (committed !== content) {
      console.error(`${name} is not what web/src gives. Make it anew: npm run build --prefix web`);
      isSame = false;
    }
  } else {
    writeFileSync(BUNDLE + name, content);
  }
}
console.log(`script ${bundle["page.js"].length} bytes, style sheet ${bundle["page.css"].length} bytes`);
process.exit(isSame ? 0 : 1);
