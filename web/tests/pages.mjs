// The pages under test: real runs of the program on virtual drives, reported by the program.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PROGRAM = process.env.DRIVESCOPE ?? "drivescope";
export const HOSTILE = `<script>alert(1)</script>"'--></style><img src=x>`;

export function makePages() {
  const folder = mkdtempSync(join(tmpdir(), "drivescope-pages-"));
  const store = join(folder, "store");
  const drivescope = (...words) => execFileSync(PROGRAM, [...words, "--store", store], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const runOf = (...words) => {
    drivescope(...words, "--plain", "--seed", "1");
    return JSON.parse(drivescope("show", "last", "--json", "-")).run.id;
  };
  const profile = readPreset("zoned");
  const hostile = join(folder, "hostile.toml");
  const slower = profile.replace(/bytes_per_second = ([0-9.]+)/g, (_, rate) => `bytes_per_second = ${0.7 * rate}`);
  writeFileSync(hostile, slower.replace(/^model = .*$/m, `model = ${JSON.stringify(HOSTILE)}`));
  const zoned = runOf("surface", "sim:zoned", "--time-limit", "8s");
  const evil = runOf("surface", `sim:${hostile}`, "--time-limit", "8s");
  const page = (name, ...runs) => {
    const path = join(folder, `${name}.html`);
    drivescope("report", ...runs, "-o", path);
    return path;
  };
  return { folder, one: page("one", zoned), several: page("several", zoned, evil), hostile: page("hostile", evil) };

  function readPreset(name) {
    return readFileSync(new URL(`../../crates/sim/presets/${name}.toml`, import.meta.url), "utf8");
  }
}
