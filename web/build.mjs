// Makes of src/ what the program carries: one script, one style sheet, and the policy that allows just these two.
// With --check it writes nothing and fails when what is committed is not what the sources give.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const folder = (path) => fileURLToPath(new URL(path, import.meta.url));
const BUNDLE = folder("../crates/report/src/html/bundle/");

async function bundled(source, format) {
  const result = await build({
    entryPoints: [folder(source)],
    bundle: true,
    minify: true,
    write: false,
    charset: "ascii",
    target: ["es2022", "chrome109", "firefox115", "safari16.4"],
    legalComments: "none",
    format,
  });
  return result.outputFiles[0].text.trimEnd();
}

// What stands between the tags is what a browser takes the checksum of.
const checksum = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const script = await bundled("src/main.ts", "iife");
const sheet = await bundled("src/page.css");
if (/<\/(script|style)/i.test(script + sheet)) throw new Error("the bundle would end its own element");
const policy = [
  "default-src 'none'",
  `script-src ${checksum(script)}`,
  `style-src ${checksum(sheet)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const files = { "page.js": script, "page.css": sheet, "content-security-policy.txt": `${policy}\n` };
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
console.log(`script ${script.length} bytes, style sheet ${sheet.length} bytes`);
process.exit(isSame ? 0 : 1);
