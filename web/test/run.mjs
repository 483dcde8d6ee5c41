// Compiles the tests beside this file and runs them: node test/run.mjs FOLDER, from web/.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const [folder] = process.argv.slice(2);
const tests = readdirSync("test").filter((name) => name.endsWith(".test.ts"));
await build({
  entryPoints: tests.map((name) => join("test", name)),
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node18",
  outdir: folder,
  outExtension: { ".js": ".mjs" },
  // This package is not bundled, because it finds its own files relative to its folder.
  external: ["playwright-core"],
});
// This reporter repeats the failed tests at the end.
const run = spawnSync(process.execPath, ["--test", "--test-reporter=spec", ...tests.map((name) => join(folder, name.replace(/\.ts$/, ".mjs")))], {
  stdio: "inherit",
  env: { ...process.env, NODE_PATH: join(process.cwd(), "node_modules") },
});
process.exit(run.status ?? 1);
